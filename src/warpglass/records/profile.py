"""The saved profile: what `profile` counted of one launch, as plain data and versioned JSON.

Belongs here: the record, and writing and reading it. No counting, no words for people: report/ makes those
from these records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..errors import WarpglassError
from .kernel_time import ModelledTime
from .spelling import nearest

SCHEMA = 1


class Subject(StrEnum):
    """What a counter or metric is about: the headings of the views, in their order."""

    GLOBAL = "Global memory"
    SHARED = "Shared memory"
    LOCAL = "Local memory"
    ATOMICS = "Atomics"
    CACHES = "Caches and DRAM"
    FLOPS = "Floating-point operations"
    INSTRUCTIONS = "Instructions and branches"
    LAUNCH = "Launch and occupancy"
    TIME = "Time"

    @property
    def place(self) -> int:
        """Which heading it is, from 0."""
        return list(Subject).index(self)


class Numbers(dict[str, float]):
    """Numbers by name; asking for an unknown one names those that are spelt alike."""

    def __missing__(self, name: str) -> float:
        raise KeyError(_unknown(name, self))


@dataclass(frozen=True, slots=True)
class LineProfile:
    """One source line's part in a launch: its non-zero counters."""

    file: str
    line: int
    counters: Mapping[str, float]


@dataclass(frozen=True)
class Profile:
    """What one launch did, under the names of Nsight Compute (`counters`) and of nvprof (`metrics`).

    Ratios are 0 where their denominator is. `labels` says how certain each number is: "exact", "ptx-level"
    (exact for the PTX, which ptxas is known to restructure here), "modelled" or "measured". `lines` has the
    counters by source line, in the order of files and lines. `occupancy` describes what limits the blocks of
    a multiprocessor of the `model` GPU. `seconds` is the time of the counted run itself (`time_label` says
    whose): counting makes it longer. Where a GPU measured numbers, `counted` has what the engine counted in
    their place. `assembler` made the machine code ("" without one). `site` is the FILE:LINE of the launch in
    a program that was run as a whole. `modelled` is the time on the `model` GPU by the model of kernel times.
    """

    kernel: str
    language: str
    model: str
    target: str
    device: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    counters: Numbers
    metrics: Numbers
    labels: Mapping[str, str]
    lines: tuple[LineProfile, ...]
    occupancy: Mapping[str, Any]
    seconds: float
    time_label: str
    notes: tuple[str, ...] = ()
    version: str = ""
    assembler: str = ""
    counted: Mapping[str, float] = field(default_factory=dict[str, float])
    site: str = ""
    modelled: ModelledTime | None = None
    schema: int = field(default=SCHEMA)

    def label(self, name: str) -> str:
        """How certain a counter or metric is; raises KeyError naming the nearest known for any other name."""
        try:
            return self.labels[name]
        except KeyError:
            raise KeyError(_unknown(name, self.labels)) from None

    def to_json(self) -> str:
        """Return the profile as JSON text."""
        return json.dumps(asdict(self), indent=1, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the profile, making the folder if need be."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_json(), encoding="utf-8")


def several_json(profiles: Sequence[Profile]) -> str:
    """Return several profiles as JSON text; `load_all` reads it."""
    return json.dumps({"profiles": [asdict(one) for one in profiles]}, indent=1, allow_nan=False) + "\n"


def load(path: str | Path) -> Profile:
    """Read a profile back; raises WarpglassError if the file is none, or has several."""
    return _only(load_all(path), str(path))


def load_all(path: str | Path) -> tuple[Profile, ...]:
    """Read the profiles of a file, one or several; raises WarpglassError if it has none."""
    try:
        return _profiles(Path(path).read_text(encoding="utf-8"), str(path))
    except OSError as problem:
        raise WarpglassError(f"{path} cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise WarpglassError(f"{path} is no saved profile: it is not text") from None


def from_json(text: str, where: str = "profile") -> Profile:
    """Return the profile that `to_json` wrote; `where` names it in messages."""
    return _only(_profiles(text, where), where)


def _only(found: tuple[Profile, ...], where: str) -> Profile:
    if len(found) != 1:
        raise WarpglassError(f"{where} has {len(found)} profiles; load_all reads them from a file")
    return found[0]


def _profiles(text: str, where: str) -> tuple[Profile, ...]:
    try:
        data: dict[str, Any] = json.loads(text)
        return tuple(_profile(one, where) for one in data.get("profiles", (data,)))
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError) as problem:
        raise WarpglassError(f"{where} is no saved profile: {problem}") from problem


def _profile(data: dict[str, Any], where: str) -> Profile:
    if data["schema"] != SCHEMA:
        raise WarpglassError(f"{where}: schema {data['schema']}; this version reads schema {SCHEMA}")
    known = {item.name for item in fields(Profile)}
    kept = {name: value for name, value in data.items() if name in known}
    kept["counters"], kept["metrics"] = Numbers(kept["counters"]), Numbers(kept["metrics"])
    kept["lines"] = tuple(LineProfile(**line) for line in kept["lines"])
    for name in ("grid", "block", "notes"):
        kept[name] = tuple(kept[name])
    if kept.get("modelled"):
        kept["modelled"] = ModelledTime(**kept["modelled"])
    return Profile(**kept)


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    near = nearest(name, known)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"there is no counter or metric {name!r}{hint}"
