"""Pend against its definition, spelled out with sets, on random graphs; and how its cost grows."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest

from tests.program.graphs import random_blocks
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import (
    Barrier,
    Block,
    Pending,
    Program,
    WarpBarrier,
    build_program,
    find_pending,
)

Run = tuple[int, set[int]]  # a block that may run next, and where lanes wait while it does


class _Definition:
    """Every rule in turn until none of them says anything new."""

    def __init__(
        self,
        blocks: tuple[Block, ...],
        divergent: tuple[bool, ...],
        fair: frozenset[int],
        steady: frozenset[int],
    ):
        self.blocks, self.divergent, self.fair, self.steady = blocks, divergent, fair, steady
        self.resumes = {block.end.resume for block in blocks if isinstance(block.end, Barrier)}
        self.gates = {
            i: set(block.successors) for i, block in enumerate(blocks) if isinstance(block.end, WarpBarrier)
        }
        self.parked: list[set[int]] = [
            {h for h in fair if i in self.reachable({h})} for i in range(len(blocks))
        ]
        while True:
            self.run()
            self.waited = [gate for gate in self.gates if self.sets[gate]]
            more = [set(one) for one in self.parked]
            self.divergent_barrier = any(
                waiting and isinstance(block.end, Barrier)
                for block, waiting in zip(blocks, self.sets, strict=True)
            )
            for index, parked in enumerate(more):
                if self.divergent_barrier:
                    parked |= self.resumes
                for gate in self.waited:
                    through = set[int]() if gate in steady else self.gates[gate]
                    if index in self.reachable(self.sets[gate] | through):
                        parked.add(gate)
            if more == self.parked:
                break
            self.parked = more

    @property
    def pending(self) -> Pending:
        sets = tuple(frozenset(one) for one in self.sets)
        resumes = tuple(sorted(self.resumes))
        return Pending(sets, self.divergent_barrier, resumes, self.fair, tuple(self.waited))

    def reachable(self, found: set[int]) -> set[int]:
        more = found.union(*(self.blocks[index].successors for index in found))
        return found if more == found else self.reachable(more)

    def run(self) -> None:
        self.sets = [set(one) for one in self.parked]
        running = set[int]()
        changed = True
        while changed:
            changed = False
            for block, others in list(self.begun()) + [one for index in running for one in self.after(index)]:
                new = others - {block} - self.sets[block]
                if new or block not in running:
                    changed = True
                    running.add(block)
                    self.sets[block] |= new

    def begun(self) -> Iterator[Run]:
        yield from self.lowest(self.staying({0}), set())
        for points in self.parked:
            yield from ((point, points) for point in points - self.gates.keys())

    def after(self, index: int) -> Iterator[Run]:
        block, waiting = self.blocks[index], self.sets[index]
        heading = self.staying(block.successors)
        if any(target in self.fair and target <= index for target in block.successors):
            yield from ((one, heading | waiting) for one in heading | waiting)
        if block.splits is None:
            yield from self.lowest(heading, waiting)
            if index in self.gates and waiting:
                released = set[int]().union(*(self.gates[gate] for gate in waiting & self.gates.keys()))
                yield from self.lowest(set(), waiting | heading | released)
            return
        for target in block.successors:
            yield from self.lowest(self.staying({target}), waiting)
        if self.divergent[index]:
            for first in heading:
                yield from self.lowest({one for one in heading if one >= first}, waiting)

    def lowest(self, heading: set[int], waiting: set[int]) -> Iterator[Run]:
        """The lowest block with lanes runs; those of `waiting` may turn out to have none."""
        for block in heading | waiting:
            if not heading or block <= min(heading):
                yield block, {one for one in heading | waiting if one > block}

    def staying(self, targets: set[int] | tuple[int, ...]) -> set[int]:
        return {target for target in targets if not self.blocks[target].only_exits}


@pytest.mark.parametrize("kinds", ["bbj", "bbbjse", "bbjB", "bbjW", "bbsjBWe", "bWWB"])
def test_pending_is_what_the_definition_says(kinds: str):
    for seed in range(150):
        rng = random.Random(seed)
        blocks = random_blocks(rng, kinds)
        divergent = tuple(block.splits is not None and rng.random() < 0.7 for block in blocks)
        headers = [t for i, block in enumerate(blocks) for t in block.successors if t <= i]
        fair = frozenset(header for header in headers if rng.random() < rng.choice((0, 0.5)))
        gates = [i for i, block in enumerate(blocks) if isinstance(block.end, WarpBarrier)]
        steady = frozenset(gate for gate in gates if rng.random() < 0.5)
        expected = _Definition(blocks, divergent, fair, steady).pending
        assert find_pending(blocks, divergent, fair, steady) == expected, f"seed {seed}"


def _spinning(barriers: int, barrier: str) -> Program:
    """A spin on a flag, then many barriers in a row that divergent lanes come to: about three blocks each."""
    rounds = "".join(
        f"@%p1 bra L{k}; add.u32 %r1, %r1, {k}; L{k}: {barrier} st.global.u32 [%rd1], %r1;\n"
        for k in range(barriers)
    )
    text = kernel(
        f"""
        ld.param.u64 %rd1, [flag]; mov.u32 %r1, %tid.x; mov.u32 %r2, -1; setp.lt.u32 %p1, %r1, 10;
  SPIN: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;
        {rounds} ret;
        """,
        "u64 flag",
    )
    return build_program(ptx.parse(text, "test"), "k")


def _work(barriers: int, barrier: str) -> tuple[int, int]:
    """Python calls that Pend takes, and its size: pairs of a block and one where lanes wait."""
    program = _spinning(barriers, barrier)
    divergent = tuple(block.splits is not None for block in program.blocks)
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        pending = find_pending(program.blocks, divergent, program.fair)
    finally:
        sys.setprofile(before)
    return calls, sum(map(len, pending.sets))


@pytest.mark.parametrize("barrier", ["bar.sync 0;", "bar.warp.sync %r2;"])
def test_the_work_grows_as_the_answer_does(barrier: str):
    small, large = _work(12, barrier), _work(48, barrier)
    assert large[0] / small[0] < large[1] / small[1]
