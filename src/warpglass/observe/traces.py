"""Keeps every access to memory and every arrival at a barrier, in order, with addresses and values.

A trace is a log in the words of the one worker. An access leaves a row with its lanes' addresses and one for
each element of what they load or store; what does not fit is only counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..codegen import Emission, Probe, WorkerWords
from ..codegen.memory.sites import Site
from ..codegen.values.value import Value
from ..program import Barrier, Program, Step

LANES = 32
CAPACITY = 1 << 14  # rows
_TAG, _MASK, _WARP, _PAYLOAD = range(4)
_ROW = _PAYLOAD + LANES
_SPACES = ("global", "shared", "generic")
_INTEGERS = {"float": "i32", "double": "i64", "half": "i16", "bfloat": "i16"}
BARRIER, ADDRESSES, VALUES = "barrier", "addresses", "values"


@dataclass(frozen=True, slots=True)
class Tag:
    """What a row is: of which step and access, and its part; `type` is LLVM's of values."""

    what: str
    step: Step
    site: Site | None = None
    part: int = 0
    type: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the log: lanes of the mask have the words."""

    tag: Tag
    mask: int
    warp: int
    words: tuple[int, ...]


class TraceProbe(Probe):
    """Logs loads, stores, atomic operations and barriers."""

    alone = True

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._steps = {step.number: step for block in program.blocks for step in block.all_steps}
        self._tags: list[Tag] = []
        self._first = words.take(1 + CAPACITY * _ROW)

    def access(self, at: Emission, site: Site, address: Value) -> None:
        if site.space not in _SPACES:
            return
        self._log(at, Tag(ADDRESSES, self._steps[site.step], site), at.lanes.as_vector(address).ir)
        self._log_values(at, site)

    def loaded(self, at: Emission, site: Site) -> None:
        if site.space in _SPACES:
            self._log_values(at, site)

    def barrier(self, at: Emission, end: Barrier, others: Mapping[int, str]) -> None:
        self._log(at, Tag(BARRIER, end.step), "zeroinitializer")

    def _log_values(self, at: Emission, site: Site) -> None:
        b = at.builder
        for part, value in enumerate(at.values):
            one = at.lanes.as_vector(value)
            whole, integer = one.ir, _INTEGERS.get(one.type, one.type)
            if integer != one.type:
                whole = b.value(f"bitcast <{LANES} x {one.type}> {whole} to <{LANES} x {integer}>")
            if integer != "i64":
                whole = b.value(f"zext <{LANES} x {integer}> {whole} to <{LANES} x i64>")
            self._log(at, Tag(VALUES, self._steps[site.step], site, part, one.type), whole)

    def _log(self, at: Emission, tag: Tag, words: str) -> None:
        self._tags.append(tag)
        args = [
            ("ptr", self.place(at, self._first)),
            ("i64", str(len(self._tags) - 1)),
            ("i32", at.mask),
            ("i32", "%warp"),
            (f"<{LANES} x i64>", words),
        ]
        at.builder.call("void", "wg_trace", args)

    def helpers(self, declarations: set[str]) -> str:
        return _TRACE if self._tags else ""

    def read(self, words: Sequence[int]) -> tuple[tuple[Row, ...], int]:
        """The rows that are kept, in order, and how many are not."""
        count = words[self._first]
        rows: list[Row] = []
        for number in range(min(count, CAPACITY)):
            start = self._first + 1 + number * _ROW
            tag, mask, warp = words[start : start + _PAYLOAD]
            rows.append(Row(self._tags[tag], mask, warp, tuple(words[start + _PAYLOAD : start + _ROW])))
        return tuple(rows), max(0, count - CAPACITY)


@dataclass(frozen=True, slots=True)
class Tracing:
    """The instrument that only logs."""

    def probes(self, program: Program) -> tuple[Probe, ...]:
        """The one probe."""
        return (TraceProbe(),)


def rows_of(probes: Sequence[Probe], totals: np.ndarray) -> tuple[tuple[Row, ...], int]:
    """What the probe among these has logged."""
    (probe,) = (one for one in probes if isinstance(one, TraceProbe))
    return probe.read(totals.tolist())


_TRACE = f"""
define internal void @wg_trace(ptr %log, i64 %tag, i32 %mask, i32 %warp, <32 x i64> %words) noinline #0 {{
  %count = load i64, ptr %log
  %next = add i64 %count, 1
  store i64 %next, ptr %log
  %none = icmp eq i32 %mask, 0
  %full = icmp uge i64 %count, {CAPACITY}
  %skip = or i1 %none, %full
  br i1 %skip, label %undo, label %keep
undo:
  %kept = select i1 %none, i64 %count, i64 %next
  store i64 %kept, ptr %log
  ret void
keep:
  %before = mul i64 %count, {_ROW}
  %start = add i64 %before, 1
  %row = getelementptr i64, ptr %log, i64 %start
  store i64 %tag, ptr %row
  %row.mask = getelementptr i64, ptr %row, i64 {_MASK}
  %mask.w = zext i32 %mask to i64
  store i64 %mask.w, ptr %row.mask
  %row.warp = getelementptr i64, ptr %row, i64 {_WARP}
  %warp.w = zext i32 %warp to i64
  store i64 %warp.w, ptr %row.warp
  %row.words = getelementptr i64, ptr %row, i64 {_PAYLOAD}
  store <32 x i64> %words, ptr %row.words, align 8
  ret void
}}
"""
