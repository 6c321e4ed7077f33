"""Prefetching: loads that ask for what other warps load soon.

A loop that strides by the whole grid (`i += gridDim.x * blockDim.x`) goes on in another page at each turn.
There the processor has nothing to go by: it fetches ahead along a page, not from one to the next. But the
warps that run next go the same way a few lines further on. So each load asks for the lines that the warp
after the next will load there; they wait in the second cache or the third when it comes.

So it is where each thread goes along a column of its own, of a matrix that lies by rows: lists of neighbours
and sparse rows are laid out so. There are as many pages as rounds, more than a processor keeps an eye on.

A block with barriers loads its part of an array, and works on it for a while. As it loads it asks for the
next block's part, which mostly lies beside its own and comes while it works.

Not all processors gain by it where loops stride by the grid and where there are barriers (`target.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...isa import Match
from ...program import Barrier, Program, Step, find_grid_strides
from ...program.blocks import computed_from, loops_of
from ...ptx import tree
from ..builder import Builder
from ..context import START
from ..machine.target import misses_pages
from ..shape import BlockShape
from .paces import Paces

_WARPS = 2  # how far ahead in loops: nearer lines often come along with those that are loaded
_LINE = 64
_PAGE = 4096


@dataclass(frozen=True, slots=True)
class Prefetch:
    """What a load asks for: what lanes so far ahead load; `once`: only before the block's first barrier."""

    lanes: int
    once: bool


def find_prefetches(program: Program, shape: BlockShape) -> Mapping[int, Prefetch]:
    """What loads of neighbouring elements ask for, by step number; nothing where it does not pay."""
    strides = find_grid_strides(program.blocks, program.live)
    columns = dict.fromkeys(set(_columns(program)) - strides, Prefetch(_WARPS * shape.width, once=False))
    if not misses_pages():
        return columns
    loads = {
        index: [step.number for step in block.steps if _loads(step.match)]
        for index, block in enumerate(program.blocks)
    }
    found: dict[int, Prefetch] = {}
    waiting = {index for index, block in enumerate(program.blocks) if isinstance(block.end, Barrier)}
    if waiting:
        loops = loops_of(program.blocks).values()
        for index, numbers in loads.items():
            around = [body for body in loops if index in body]
            if all(not waiting.isdisjoint(body) for body in around):
                found |= dict.fromkeys(numbers, Prefetch(shape.threads, once=bool(around)))
    return found | columns | dict.fromkeys(strides, Prefetch(_WARPS * shape.width, once=False))


def _columns(program: Program) -> Iterable[int]:
    """The loads in innermost loops that go on far away in each round, and that no other block repeats."""
    every = [step for block in program.blocks for step in block.steps]
    own = [computed_from(every, names) for names in _block_numbers(every)]
    loops = loops_of(program.blocks)
    for header, body in loops.items():
        blocks = [program.blocks[index] for index in body]
        inner = not any(other in body for other in loops if other != header)
        if not own or not inner or any(isinstance(block.end, Barrier) for block in blocks):
            continue
        steps = [step for block in blocks for step in block.steps]
        paces = Paces(steps)
        for step in steps:
            if step.match.load_or_store is None or not _loads(step.match):
                continue
            base = step.address_register
            if base is not None and all(base in registers for registers in own):
                pace = paces.of(base)
                if pace is None or abs(pace) >= _PAGE:
                    yield step.number


def _block_numbers(steps: Iterable[Step]) -> Iterable[set[str]]:
    """For each axis along which a kernel asks for its block's number: the registers that are told."""
    found: dict[str, set[str]] = {}
    for step in steps:
        for one in step.instruction.operands:
            if isinstance(one, tree.Special) and one.name.startswith("%ctaid"):
                found.setdefault(one.name, set()).update(step.writes)
    return found.values()


def _loads(found: Match) -> bool:
    return found.row.access == "load" and found.state_space in ("generic", "global")


def emit_prefetch(b: Builder, prefetch: Prefetch, host: str, size: int) -> None:
    """Lanes load `size` bytes each, side by side from `host` on: ask for what lies ahead."""
    on = b.label("asked")
    if prefetch.once:
        ask = b.label("ask")
        b.branch(b.value(f"icmp eq i32 %state, {START}"), ask, on)
        b.place(ask)
    for line in range(0, b.width * size, _LINE):
        where = ("ptr", b.offset(host, prefetch.lanes * size + line))
        b.call("void", "llvm.prefetch.p0", [where, ("i32", "0"), ("i32", "2"), ("i32", "1")])
    if prefetch.once:
        b.jump(on)
        b.place(on)
