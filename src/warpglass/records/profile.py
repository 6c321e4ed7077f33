"""The saved profile: what `profile` counted of one launch, as plain data and versioned JSON.

Belongs here: the record, and writing and reading it. No counting, no words for people: report/ makes those
from these records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..errors import WarpglassError
from .display import Displayed
from .kernel_time import ModelledTime
from .listing import Listing
from .reading import build, parse, read_text
from .spelling import nearest
from .warp_views import WarpView
from .work import CountedWork

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


@dataclass(frozen=True, repr=False)
class Profile(Displayed):
    """What one launch did, under the names of Nsight Compute (`counters`) and of nvprof (`metrics`).

    Ratios are 0 where their denominator is. `labels` says how certain each number is: "exact", "ptx-level"
    (exact for the PTX, which ptxas is known to restructure here), "modelled" or "measured". `lines` has the
    counters by source line, in the order of files and lines. `occupancy` describes what limits the blocks of
    a multiprocessor of the `model` GPU. `seconds` is the time of the counted run itself (`time_label` says
    whose): counting makes it longer. Where a GPU measured numbers, `counted` has what the engine counted in
    their place. `assembler` made the machine code ("" without one). `site` is the FILE:LINE of the launch in
    a program that was run as a whole. `listing` has the kernel's texts, and `views` what one warp did at each
    access and branch; both are there only if they were asked for. `modelled` is the time on the `model` GPU
    by the model of kernel times, and `work` what a roofline needs.
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
    listing: Listing | None = None
    views: tuple[WarpView, ...] = ()
    modelled: ModelledTime | None = None
    work: CountedWork | None = None
    schema: int = field(default=SCHEMA)

    def __repr__(self) -> str:
        """One line; `metrics`, `counters` and `lines` have the numbers."""
        launch = f"<<<{_extents(self.grid)}, {_extents(self.block)}>>>"
        counts = f"{len(self.metrics)} metrics, {len(self.lines)} lines"
        return f"<Profile of {self.kernel}{launch} for {self.model}: {counts}>"

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


def _extents(extents: tuple[int, int, int]) -> str:
    """Extents as in CUDA, without trailing ones."""
    used = max(1, *(place + 1 for place, extent in enumerate(extents) if extent != 1), 1)
    return "x".join(map(str, extents[:used]))


def several_json(profiles: Sequence[Profile]) -> str:
    """Return several profiles as JSON text; `load_all` reads it."""
    return json.dumps({"profiles": [asdict(one) for one in profiles]}, indent=1, allow_nan=False) + "\n"


def load(path: str | Path) -> Profile:
    """Read a profile back; raises WarpglassError if the file is none, or has several."""
    return _only(load_all(path), str(path))


def load_all(path: str | Path) -> tuple[Profile, ...]:
    """Read the profiles of a file, one or several; raises WarpglassError if it has none."""
    return profiles_of(parse(read_text(path), str(path)), str(path))


def from_json(text: str, where: str = "profile") -> Profile:
    """Return the profile that `to_json` wrote; `where` names it in messages."""
    return _only(profiles_of(parse(text, where), where), where)


def profiles_of(data: Mapping[str, Any], where: str) -> tuple[Profile, ...]:
    """The profiles of a JSON object, which is one or lists several; raises WarpglassError."""
    several = data.get("profiles")
    if several is None:
        return (_profile(data, where),)
    if not isinstance(several, list):
        raise WarpglassError(f"{where}: profiles must be a list")
    return tuple(_profile(one, f"{where}: profiles[{number}]") for number, one in enumerate(several))


@dataclass(frozen=True, slots=True)
class _Fit:
    """What an occupancy that is not empty has at least."""

    share: float
    warps: int
    blocks: int
    limiting: tuple[str, ...]
    demand: Mapping[str, Any]


def _profile(data: object, where: str) -> Profile:
    found: Profile = build(Profile, data, where, SCHEMA)
    if found.occupancy:
        build(_Fit, found.occupancy, f"{where}: occupancy")
    return found


def _only(found: tuple[Profile, ...], where: str) -> Profile:
    if len(found) != 1:
        raise WarpglassError(f"{where} has {len(found)} profiles; load_all reads them from a file")
    return found[0]


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    near = nearest(name, known)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"there is no counter or metric {name!r}{hint}"
