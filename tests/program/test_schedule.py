"""Liveness, Pend and "full" blocks against a simulation of the schedule that they are statements about.

A few abstract lanes walk a kernel's blocks, choosing at random at each branch, the lowest block first, as
warps do. Whatever happens must be allowed by the analyses.
"""

from __future__ import annotations

import random

import pytest

from tests.codegen.random_kernels import random_kernel
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import Barrier, Branch, Pending, Program, build_program, find_full, find_pending

_LANES = 4
_STEPS = 400

EXITS = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r1, 10; setp.eq.u32 %p2, %r2, 0;
    @!%p1 bra REST; @%p2 ret; add.u32 %r1, %r1, 1;
REST: add.u32 %r1, %r1, 1; ret;
"""
JUMPS_TO_THE_EXIT = """
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 10;
    @!%p1 bra REST; add.u32 %r1, %r1, 1; bra OUT;
REST: add.u32 %r1, %r1, 1;
OUT: ret;
"""
DIVERGENT_BARRIERS = """
    mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 10;
L:  @!%p1 bra REST; add.u32 %r1, %r1, 1; bar.sync 0; add.u32 %r1, %r1, 2; setp.lt.u32 %p1, %r1, 20; bra L;
REST: bar.sync 0; add.u32 %r1, %r1, 1; @%p1 bra L; ret;
"""
BREAKS = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, 0; setp.lt.u32 %p1, %r1, 10; setp.lt.u32 %p2, %r1, 20;
A:  add.u32 %r2, %r2, 1; setp.gt.u32 %p3, %r2, %r1; @%p3 bra OUT;
B:  add.u32 %r1, %r1, 1; @%p1 bra A; @%p2 bra B; setp.lt.u32 %p1, %r1, 40; @%p1 bra MID; bra A;
MID: add.u32 %r2, %r2, 3; @%p2 bra OUT; bra B;
OUT: add.u32 %r1, %r1, %r2; ret;
"""
_SMALL = {name: kernel(body) for name, body in globals().copy().items() if name.isupper() and name[0] != "_"}


def _programs() -> list[object]:
    small = [pytest.param(text, id=name.lower()) for name, text in _SMALL.items()]
    return [
        *small,
        *(pytest.param(random_kernel(seed, size=22).text, id=f"seed{seed}") for seed in range(25)),
    ]


@pytest.mark.parametrize("text", _programs())
def test_lanes_wait_only_where_pend_says(text: str):
    program = build_program(ptx.parse(text, "test"), "k")
    for trial in range(12):
        rng = random.Random(trial)
        # Branches that never split a warp make Pend smaller, so some are taken by all lanes together.
        divergent = tuple(isinstance(b.end, Branch) and rng.random() < 0.6 for b in program.blocks)
        pending = find_pending(program.blocks, divergent)
        full = find_full(program.blocks, divergent, pending)
        for _ in range(8):
            _walk(program, divergent, pending, full, rng)


def _walk(
    program: Program,
    divergent: tuple[bool, ...],
    pending: Pending,
    full: tuple[bool, ...],
    rng: random.Random,
) -> None:
    at: dict[int, set[int]] = {0: set(range(_LANES))}  # block -> lanes in front of it
    parked: dict[int, set[int]] = {}
    gone = 0
    for _ in range(_STEPS):
        if not at:
            if not parked:
                return
            assert len(parked) == 1 or pending.divergent_barrier
            at, parked = parked, {}
        index = min(at)
        lanes = at.pop(index)
        elsewhere = {block for block in (*at, *parked) if not program.blocks[block].only_exits}
        assert elsewhere - {index} <= pending.sets[index], f"block {index}: lanes wait at {elsewhere}"
        assert not full[index] or len(lanes) == _LANES, f"block {index} is not full: {gone} lanes are gone"
        end = program.blocks[index].end
        if isinstance(end, Barrier):
            parked.setdefault(end.resume, set()).update(lanes)
            continue
        targets = program.blocks[index].successors
        together = rng.choice(targets) if targets else None
        for lane in lanes:
            target = rng.choice(targets) if targets and divergent[index] else together
            if target is None or program.blocks[target].only_exits:
                gone += 1
            else:
                at.setdefault(target, set()).add(lane)


@pytest.mark.parametrize("text", _programs())
def test_what_is_read_was_live_since_it_was_written(text: str):
    program = build_program(ptx.parse(text, "test"), "k")
    for trial in range(40):
        rng = random.Random(trial)
        since: dict[str, set[int]] = {}  # register -> blocks entered since its last write
        index, barrier_writes = 0, set[str]()
        for _ in range(_STEPS):
            for blocks in since.values():
                blocks.add(index)
            block = program.blocks[index]
            for step in block.steps:
                _read(program, since, step.reads)
                for name in step.writes:
                    barrier_writes.add(name)
                    if step.instruction.guard is None:
                        since[name] = set()
                    else:
                        since.setdefault(name, set())
            if isinstance(block.end, Branch):
                _read(program, since, {block.end.register})
            assert barrier_writes <= program.dirty[index], (
                "a register written since the last barrier is clean"
            )
            if isinstance(block.end, Barrier):
                barrier_writes = set()
            if not block.successors:
                break
            index = rng.choice(block.successors)


def _read(program: Program, since: dict[str, set[int]], names: set[str] | frozenset[str]) -> None:
    for name in names:
        for block in since.get(name, ()):
            assert name in program.live[block], f"{name} is read, but not live into block {block}"
