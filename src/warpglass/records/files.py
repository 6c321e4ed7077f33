"""Files of records: what kind of record a file holds is told by its fields.

Belongs here: opening a file that may hold any of them. `bench --all` writes {"ladders": [...]}, a profile of
a program {"profiles": [...]}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import WarpglassError
from . import bench, check, profile
from .bench import Record
from .check import Check, ProgramCheck
from .profile import Profile
from .reading import build, parse, read_text

AnyRecord = Record | Profile | Check | ProgramCheck
_WORDS: Mapping[type, str] = {
    Record: "a bench",
    Profile: "a profile",
    Check: "a check",
    ProgramCheck: "the check of a program",
}


def open_records(path: str | Path) -> tuple[AnyRecord, ...]:
    """The records of a file, in order; raises WarpglassError that names the file and the field."""
    return records_of(parse(read_text(path), str(path)), str(path))


def open_profiles(path: str | Path) -> tuple[Profile, ...]:
    """The profiles of a file, in order; raises WarpglassError if it holds anything else."""
    found = open_records(path)
    profiles = tuple(one for one in found if isinstance(one, Profile))
    if len(profiles) < len(found):
        raise WarpglassError(
            f"{path} holds {kinds_of(found)}, no profile; `warpglass profile --save` makes one"
        )
    return profiles


def kinds_of(records: Iterable[AnyRecord]) -> str:
    """What some records are, in words: a bench, a profile, a check."""
    return " and ".join(sorted({_WORDS[type(one)] for one in records}))


def records_of(data: Mapping[str, Any], where: str) -> tuple[AnyRecord, ...]:
    """The records that a JSON object is, or lists; raises WarpglassError."""
    if "ladders" in data:
        several = data["ladders"]
        if not isinstance(several, list):
            raise WarpglassError(f"{where}: ladders must be a list")
        return tuple(
            build(Record, one, f"{where}: ladders[{number}]", bench.SCHEMA)
            for number, one in enumerate(several)
        )
    if "profiles" in data or "counters" in data:
        return profile.profiles_of(data, where)
    if "ladder" in data or "rows" in data:
        return (build(Record, data, where, bench.SCHEMA),)
    if "checks" in data:
        return (build(ProgramCheck, data, where, check.SCHEMA),)
    if "findings" in data:
        return (build(Check, data, where, check.SCHEMA),)
    raise WarpglassError(
        f"{where} is no record of a bench, a profile or a check: it has none of ladder, counters and findings"
    )
