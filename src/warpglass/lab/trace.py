"""The trace's part of the wiring: one launch whose accesses are logged, told in the author's terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt, prod

import numpy as np

from .. import lab
from ..codegen.context import LOCAL_WINDOW, SHARED_WINDOW
from ..engine.cpu.address_space import explain_address
from ..engine.cpu.backend import Begun, CpuBackend
from ..engine.cpu.faults import Scene, plain_name
from ..engine.launch.backend import Backend, Launch, Outcome
from ..errors import ArgumentError
from ..ladders import find_ladder
from ..observe.traces import ADDRESSES, BARRIER, LANES, Row, Tracing, rows_of
from ..records.traces import Moment, Number, Touch, Trace
from .rungs import RungTarget, run_rung

_BITS = {"float": 32, "double": 64, "half": 16, "bfloat": 16}
_FLOATS = {"float": "f4", "double": "f8", "half": "f2"}
_WINDOW = 48  # bits below those that tell a generic address's state space
_LOW = (1 << _WINDOW) - 1


def trace(
    kernel: lab.Kernel,
    grid: lab.Extent,
    block: lab.Extent | None,
    args: Sequence[object],
    shared: int = 0,
    number: int = 0,
    model: str = "h100",
    timeout: float = 60.0,
) -> Trace:
    """Run a kernel once on the engine and note what one block, by number, does at memory, in order.

    Arguments are those of `run`. Raises ArgumentError for arguments that do not fit and for a block that
    there is not, LaunchError if the kernel fails.
    """
    place = lab.backend("cpu", model)
    assert isinstance(place, CpuBackend)
    return trace_launch(place, lab.make_launch(kernel, grid, block, args, shared, timeout, place), number)


def trace_launch(place: CpuBackend, launch: Launch, number: int = 0) -> Trace:
    """The same of a launch that is ready."""
    blocks = prod(launch.grid)
    if not 0 <= number < blocks:
        raise ArgumentError(f"block {number}: the grid has {blocks} blocks, from 0 to {blocks - 1}")
    begun: list[Begun] = []
    sample = None if blocks == 1 else (number,)
    _, seen = place.observe(launch, Tracing(), begin=begun.append, sample=sample)
    rows, lost = rows_of(seen.probes, seen.totals)
    names = _Names(begun[-1].scene)
    return Trace(
        kernel=launch.compiled.name,
        grid=launch.grid,
        block=launch.block,
        shared=launch.shared,
        number=number,
        moments=tuple(_moments(rows, names, prod(launch.block))),
        lost=lost,
    )


def trace_rung(
    target: RungTarget, model: str, number: int = 0, size: int | None = None, block: int | None = None
) -> tuple[Trace, ...]:
    """One block of the first launch of each kernel of a rung.

    Without a size or block they are small: the smallest block that the ladder takes, and eight of them, or a
    matrix of two by two. Raises ArgumentError for what the ladder does not take.
    """
    problem = find_ladder(target.ladder).problem
    threads = min(problem.blocks) if block is None else block
    usual = (
        2 * isqrt(threads) if "rows" in problem.size_means or "columns" in problem.size_means else 8 * threads
    )
    found: dict[str, Trace] = {}

    def watch(place: Backend, launch: Launch) -> Outcome:
        assert isinstance(place, CpuBackend)
        name = launch.compiled.name
        if name in found:
            return CpuBackend.run(place, launch)
        found[name] = trace_launch(place, launch, number)
        return Outcome(0.0, "engine")

    with lab.watching(watch):
        run_rung(target, model, usual if size is None else size, threads)
    return tuple(found.values())


def _moments(rows: Sequence[Row], names: _Names, threads: int) -> Iterator[Moment]:
    """An access for each element of it; its addresses come first."""
    addresses: dict[tuple[int, int], Row] = {}
    for row in rows:
        instruction = row.tag.step.instruction
        source = instruction.source.author if instruction.source is not None else None
        place = (source.file, source.line) if source else ("", instruction.line)
        lanes = [lane for lane in range(LANES) if row.mask >> lane & 1 and row.warp * LANES + lane < threads]
        if row.tag.what == BARRIER:
            come = tuple(Touch(row.warp * LANES + lane, 0, None) for lane in lanes)
            yield Moment(BARRIER, "", *place, instruction.line, 0, row.warp, come)
        elif row.tag.what == ADDRESSES:
            addresses[row.warp, row.tag.step.number] = row
        else:
            where = addresses[row.warp, row.tag.step.number]
            bits = _BITS.get(row.tag.type) or int(row.tag.type[1:])
            touched = [
                (lane, *names.element(row, where.words[lane] + row.tag.part * bits // 8, bits))
                for lane in lanes
            ]
            arrays = list(dict.fromkeys(array for _, array, _, _ in touched))
            for array in arrays:
                touches = tuple(
                    Touch(row.warp * LANES + lane, element, _value(row.words[lane], bits, dtype))
                    for lane, name, element, dtype in touched
                    if name == array
                )
                kind = _kind(row)
                yield Moment(kind, array, *place, instruction.line, row.tag.part, row.warp, touches)


def _kind(row: Row) -> str:
    if row.tag.step.match.row.is_atomic:
        return "atomic"
    return "store" if row.tag.site is not None and row.tag.site.write else "load"


def _value(word: int, bits: int, dtype: np.dtype | None) -> Number | None:
    """What the low bits of a word are as an element; None where nobody knows its type."""
    if dtype is None:
        return None
    raw = (word & (1 << bits) - 1).to_bytes(bits // 8, "little")
    value = np.frombuffer(raw, dtype)[0].item()
    return value if isinstance(value, (int, float)) else None


@dataclass(frozen=True)
class _Names:
    """What addresses are called in a launch."""

    scene: Scene

    def element(self, row: Row, address: int, bits: int) -> tuple[str, int, np.dtype | None]:
        """The array or variable of an address, the number of the element, and the element's type."""
        space = row.tag.site.space if row.tag.site is not None else ""
        window = address >> _WINDOW
        if space == "shared" or (space == "generic" and window == SHARED_WINDOW >> _WINDOW):
            return *self._shared(address & _LOW, bits), self._type(row, bits)
        if space == "generic" and window == LOCAL_WINDOW >> _WINDOW:
            return "local memory", (address & _LOW) * 8 // bits, self._type(row, bits)
        variable = self.scene.prepared.module.find(address)
        if variable is not None:
            return plain_name(variable[0].name), variable[1] * 8 // bits, self._type(row, bits)
        meaning = explain_address(address, self.scene.bound, self.scene.laid.placed)
        if meaning is None or not meaning.allocated:
            return "global memory", address * 8 // bits, self._type(row, bits)
        own = meaning.array.dtype
        fits = own is not None and own.kind in "fiub" and own.itemsize * 8 == bits
        return meaning.name, meaning.index, own if fits else self._type(row, bits)

    def _shared(self, offset: int, bits: int) -> tuple[str, int]:
        offsets = self.scene.prepared.program.shared.offsets
        if not offsets or self.scene.launch.compiled.language == "python":
            return "shared memory", offset * 8 // bits
        start, name = max((start, name) for name, start in offsets.items() if start <= offset)
        return plain_name(name), (offset - start) * 8 // bits

    def _type(self, row: Row, bits: int) -> np.dtype | None:
        """The type of a value: its instruction's or, of plain bits, that of arrays of that size."""
        if row.tag.type in _FLOATS:
            return np.dtype(_FLOATS[row.tag.type])
        own = {one.dtype for one in self.scene.bound.arrays if one.dtype is not None}
        alike = [one for one in own if one.itemsize * 8 == bits and one.kind in "fiu"]
        return alike[0] if len(alike) == 1 else np.dtype(f"i{bits // 8}") if bits in (8, 16, 32, 64) else None
