"""The saved run: what a bench measured, as versioned JSON.

Belongs here: the rows, and writing and reading them. No timing, no words for people: report/ makes those from
these records.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .kernel_time import ModelledTime
from .reading import build, parse, read_text
from .work import CountedWork

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One rung in one language, or a library's function: what ran, how long it took, whether it is right.

    `seconds` is the median of `repeats`; None, like everything that follows from it, if the run failed, and
    `failure` says why. Grid, block and shared bytes are of the first of `launches`, None where a library or
    the host computes. Speedups are against the previous rung of the same table and language, and against its
    first. `sum` is the result where that is one number. Of many, `result`, `expected`, `error` and `bound`
    are those of the element furthest beyond its bound: `array`[`index`], one of `wrong` elements.
    `noise` is the relative standard deviation of the repeats, without outliers; `in_a_row` says how many runs
    each of them timed together, with warm caches (1: alone, with cold ones). `clock_mhz` is the GPU's clock
    right after them, `held_back_by` what kept it from being higher. `unoptimised` says that the engine ran
    quick code, because to optimise a kernel took too much. `transfer_seconds` is what copying the inputs to
    the device and the results back takes, which is in `seconds` only where the record says so; None where
    nothing is copied. `metrics` and their `labels` are of all launches together, counted by the engine
    wherever the times are from; None if nobody asked for them, as `work`.
    """

    rung: str
    language: str  # "cuda", "python", or a library: "numpy", "cupy", ...
    kernel: str
    table: str
    title: str
    as_written: bool
    size: int
    dtype: str
    grid: int | tuple[int, ...] | None  # of the first launch
    block: int | tuple[int, ...] | None
    shared: int | None
    final: str  # where partial results are added: "host" or "launch"; empty where there are none
    label: str | None  # "engine", "gpu" or "host": whose time it is
    seconds: float | None
    repeats: tuple[float, ...]
    gb_per_s: float | None
    gflop_per_s: float | None
    step_speedup: float | None
    cumulative_speedup: float | None
    sum: float | int | None
    expected: float | int | None
    error: float | None
    bound: float | None
    verified: bool
    result: float | int | None = None
    array: str | None = None
    index: tuple[int, ...] | None = None
    wrong: int = 0
    launches: int = 0
    size_text: str = ""  # the size in words, where it is not a number of elements
    share_of_peak: float | None = None  # of what the roofline allows for the ideal bytes and flops
    transfer_seconds: float | None = None
    copied: tuple[int, int] | None = None  # bytes that a program copies to the device, and back
    noise: float | None = None
    in_a_row: int = 1
    clock_mhz: int | None = None
    held_back_by: tuple[str, ...] = ()
    unoptimised: bool = False
    failure: str | None = None
    metrics: Mapping[str, float] | None = None  # by nvprof's names
    labels: Mapping[str, str] | None = None  # how certain each of them is
    modelled: tuple[ModelledTime, ...] = ()  # of all launches together, on each GPU that was asked for
    work: CountedWork | None = None  # likewise, on the first of these GPUs


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A whole bench on one device; `explanations` has what each rung shows, by its name."""

    ladder: str
    device: str
    backend: str
    version: str
    rows: tuple[Row, ...]
    peers: tuple[Row, ...] = ()  # what libraries take for the same arrays
    transfers: bool = False  # whether seconds include them
    unwatched: str = ""  # why nobody watched the GPU's clock
    counted_for: str | None = None  # the GPU that the rows' metrics are for
    explanations: Mapping[str, str] = field(default_factory=dict[str, str])
    schema: int = SCHEMA

    def to_json(self) -> str:
        """Return the record as JSON text."""
        return json.dumps(_finite(asdict(self)), indent=1, allow_nan=False) + "\n"

    def save(self, path: Path) -> None:
        """Write the record, making the folder if need be."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_json(), encoding="utf-8")


def load(path: Path) -> Record:
    """Read a record back; raises WarpglassError that names the file and the field."""
    return from_json(read_text(path), str(path))


def from_json(text: str, where: str = "record") -> Record:
    """Return the record that `to_json` wrote; `where` names it in messages. Raises WarpglassError."""
    return build(Record, parse(text, where), where, SCHEMA)


def _finite(value: Any) -> Any:
    """Replace infinities and NaN, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return None if isinstance(value, float) and not math.isfinite(value) else value
