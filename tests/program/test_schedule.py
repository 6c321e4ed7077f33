"""Liveness, Pend and "full" blocks against a simulation of the schedule that they are statements about.

A few abstract lanes walk a kernel's blocks, choosing at random at each branch, the lowest block first, as
warps do. Whatever happens must be allowed by the analyses.
"""

from __future__ import annotations

import random

import pytest

from tests.generators.kernels import random_kernel
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import (
    Barrier,
    Branch,
    Pending,
    Program,
    WarpBarrier,
    build_program,
    find_full,
    find_pending,
)

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
WARP_BARRIERS = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, -1; setp.lt.u32 %p1, %r1, 10;
    @!%p1 bra REST; add.u32 %r1, %r1, 1; bar.warp.sync 3; add.u32 %r1, %r1, 1; bar.warp.sync -1; bra JOIN;
REST: add.u32 %r1, %r1, 1; bar.warp.sync -1;
JOIN: shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1; add.u32 %r1, %r1, %r3; ret;
"""
WARP_BARRIERS_IN_LOOPS = """
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r1, 10; setp.lt.u32 %p2, %r1, 20;
A:  add.u32 %r1, %r1, 1; @%p1 bra B; bar.warp.sync %r2; add.u32 %r1, %r1, 2; setp.lt.u32 %p1, %r1, 9;
    @%p2 bra C;
B:  vote.sync.ballot.b32 %r2, %p1, %r2; setp.lt.u32 %p2, %r1, 20; @%p2 redux.sync.add.u32 %r3, %r1, %r2;
C:  add.u32 %r3, %r3, %r1; bar.warp.sync %r2; setp.lt.u32 %p3, %r1, 99; @%p3 bra A; @%p1 ret;
    bar.sync 0; @%p2 bra B; bar.warp.sync -1; add.u32 %r1, %r1, %r3; ret;
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
        # So do warp barriers that always have the same mask.
        gates = [i for i, b in enumerate(program.blocks) if isinstance(b.end, WarpBarrier)]
        steady = frozenset(gate for gate in gates if rng.random() < 0.5)
        pending = find_pending(program.blocks, divergent, steady=steady)
        full = find_full(program.blocks, divergent, pending)
        for _ in range(8):
            masks = {gate: _random_mask(rng) for gate in steady}
            _walk(program, divergent, pending, full, masks, rng)


def _walk(
    program: Program,
    divergent: tuple[bool, ...],
    pending: Pending,
    full: tuple[bool, ...],
    masks: dict[int, set[int]],
    rng: random.Random,
) -> None:
    at: dict[int, set[int]] = {0: set(range(_LANES))}  # block -> lanes in front of it
    parked: dict[int, set[int]] = {}
    gated: dict[int, dict[int, set[int]]] = {}  # warp barrier -> lanes that wait at it, with their masks
    gone = 0
    for _ in range(_STEPS):
        if not at:
            _release(program, at, parked, gated)
        if not at:
            if gated or not parked:  # all are gone, or wait for each other
                return
            assert len(parked) == 1 or pending.divergent_barrier
            at, parked = parked, {}
        index = min(at)
        lanes = at.pop(index)
        standing = (*at, *parked, *(gate for gate, waiting in gated.items() if waiting))
        elsewhere = {block for block in standing if not program.blocks[block].only_exits}
        assert elsewhere - {index} <= pending.sets[index], f"block {index}: lanes wait at {elsewhere}"
        assert not full[index] or len(lanes) == _LANES, f"block {index} is not full: {gone} lanes are gone"
        end = program.blocks[index].end
        if isinstance(end, Barrier):
            parked.setdefault(end.resume, set()).update(lanes)
            continue
        if isinstance(end, WarpBarrier):
            named = {lane: masks.get(index) or _random_mask(rng) for lane in lanes}
            gated.setdefault(index, {}).update(named)
            _release(program, at, parked, gated)
            continue
        targets = program.blocks[index].successors
        together = rng.choice(targets) if targets else None
        for lane in lanes:
            target = rng.choice(targets) if targets and divergent[index] else together
            if target is None or program.blocks[target].only_exits:
                gone += 1
            else:
                at.setdefault(target, set()).add(lane)


def _random_mask(rng: random.Random) -> set[int]:
    return {lane for lane in range(_LANES) if rng.random() < 0.7} or {0}


def _returns(program: Program, *gates: int) -> bool:
    """Whether one of the instructions at warp barriers has a result."""
    ends = [program.blocks[gate].end for gate in gates]
    return any(end.step.writes for end in ends if isinstance(end, WarpBarrier))


def _release(
    program: Program,
    at: dict[int, set[int]],
    parked: dict[int, set[int]],
    gated: dict[int, dict[int, set[int]]],
) -> None:
    """Let the lanes go on of whose masks nobody is elsewhere."""
    running = set[int]().union(*at.values(), *parked.values())
    free: dict[int, list[int]] = {}
    for gate, waiting in gated.items():
        met = {other for other in gated if other == gate or not _returns(program, gate, other)}
        away = running.union(*(gated[other] for other in gated.keys() - met))
        free[gate] = [lane for lane, mask in waiting.items() if not mask & away]
    for gate, lanes in free.items():
        for lane in lanes:
            del gated[gate][lane]
            at.setdefault(program.blocks[gate].successors[0], set()).add(lane)
    for gate in [gate for gate, waiting in gated.items() if not waiting]:
        del gated[gate]


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
            if isinstance(block.end, Barrier):
                assert barrier_writes <= program.dirty[index], (
                    "a register written since the last barrier is clean"
                )
                barrier_writes = set()
            if not block.successors:
                break
            index = rng.choice(block.successors)


def _read(program: Program, since: dict[str, set[int]], names: set[str] | frozenset[str]) -> None:
    for name in names:
        for block in since.get(name, ()):
            assert name in program.live[block], f"{name} is read, but not live into block {block}"
