"""The roofline's part of the wiring: what profiles, benches and files of them put on a GPU's roofline.

Belongs here: from results and saved records to a RooflineReport. The arithmetic is models/roofline.py's, what
a record has to say of work models/saved_work.py's, the words report/roofline.py's. Nothing runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from .. import devices
from ..devices import Device
from ..errors import ArgumentError, WarpglassError
from ..ladders.measure import Bench
from ..models.roofline import Work, peaks_of
from ..models.saved_work import SavedWork, works_of_bench, works_of_numbers, works_of_profile
from ..records.bench import Record
from ..records.files import AnyRecord, records_of
from ..records.profile import Profile
from ..report.roofline import RooflineReport, roofline_report

_USUAL = "h100"

Source = Profile | Bench | Record | Work | str | PathLike[str]


def roofline(*results: Source, model: str | None = None) -> RooflineReport:
    """Whether kernels are bound by memory or by computing, and how fast they can be.

    `results` are profiles, benches, files (paths) of either, and counts (`models.roofline.Work`); without any
    there are the GPU's roofs alone. `model` names the GPU; left out, it is the one that the results were
    counted for. Raises ArgumentError for results that have no work to place, and for those of several GPUs
    without a `model`.
    """
    given = [one for one in results if isinstance(one, Work)]
    saved = [work for one in results if not isinstance(one, Work) for work in _works_of(one)]
    gpu = _gpu(saved, model)
    return roofline_report([*given, *(work.on(gpu.key) for work in saved)], peaks_of(gpu))


def _gpu(saved: Sequence[SavedWork], model: str | None) -> Device:
    """The GPU of a name, or that all works were counted for; raises ArgumentError if they are of several."""
    found = list(dict.fromkeys(work.gpu for work in saved if work.gpu))
    if model is None and len(found) > 1:
        names = " and ".join(found)
        raise ArgumentError(f"the records were counted for {names}; --model says on whose roofline they go")
    try:
        return devices.get(model or (found[0] if found else _USUAL))
    except devices.UnknownDevice as problem:
        raise ArgumentError(str(problem)) from None


def _works_of(one: Profile | Bench | Record | str | PathLike[str]) -> Sequence[SavedWork]:
    """The works of a result or of a file; raises ArgumentError that names what has none."""
    if isinstance(one, Profile | Bench | Record):
        where = f"the {'profile of ' + one.kernel if isinstance(one, Profile) else 'bench'}"
        works = _of_records([one.record if isinstance(one, Bench) else one])
    elif isinstance(one, str | PathLike):
        where = str(one)
        works = _of_file(Path(one))
    else:
        raise ArgumentError(
            f"{one!r} is no profile, bench, file of them or work: it has no place on a roofline"
        )
    if not works:
        raise ArgumentError(f"{where} has no work to place: no kernel of it was counted or timed")
    return works


def _of_records(found: Iterable[AnyRecord]) -> list[SavedWork]:
    works: list[SavedWork] = []
    for one in found:
        if isinstance(one, Record):
            works += works_of_bench(one)
        elif isinstance(one, Profile):
            works += works_of_profile(one)
    return works


def _of_file(path: Path) -> Sequence[SavedWork]:
    """The works of a file: a bench, a profile, or numbers that somebody wrote under nvprof's names."""
    try:
        data: Any = json.loads(path.read_text("utf-8"))
        if not isinstance(data, dict):
            raise ValueError("it is no JSON object")
        if not _is_ours(data):
            return works_of_numbers(data)  # pyright: ignore[reportUnknownArgumentType]
        return _of_records(records_of(data, str(path)))  # pyright: ignore[reportUnknownArgumentType]
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}") from None
    except WarpglassError as problem:
        raise ArgumentError(str(problem)) from None
    except (ValueError, TypeError) as problem:
        raise ArgumentError(f"{path} is no saved profile or bench: {problem}") from None


def _is_ours(data: dict[str, Any]) -> bool:
    """Whether it is a record of warpglass, not numbers that somebody wrote."""
    profiles = data.get("profiles")
    first: Any = profiles[0] if isinstance(profiles, list) and profiles else data
    return not data.keys().isdisjoint(("ladders", "rows")) or (isinstance(first, dict) and "schema" in first)
