"""Pend against lanes that walk through random graphs: whatever they do, it has all places where some wait."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

from tests.program.graphs import random_blocks
from warpglass.program import Barrier, Block, Branch, Switch, WarpBarrier, find_pending, pending

_LANES = 4


class _Walk:
    """Lanes that go from block to block as a warp's do; chance decides what their data would."""

    def __init__(self, blocks: tuple[Block, ...], divergent: tuple[bool, ...], rng: random.Random):
        self.blocks, self.divergent, self.rng = blocks, divergent, rng
        self.at: dict[int, set[int]] = defaultdict(set, {0: set(range(_LANES))})
        self.parked: dict[int, set[int]] = defaultdict(set)  # in front of gates
        self.barrier: dict[int, set[int]] = defaultdict(set)  # at barriers, by where they will go on

    def waiting(self) -> set[int]:
        """Where lanes stand, but at barriers."""
        return {block for places in (self.at, self.parked) for block, lanes in places.items() if lanes}

    def choose(self, turn: bool) -> int | None:
        """The block to run next, after releasing who is parked if nobody else can run."""
        ready = sorted(block for block, lanes in self.at.items() if lanes)
        if not ready:
            for place in (self.parked, self.barrier):
                for block in [block for block, lanes in place.items() if lanes]:
                    (to,) = self.blocks[block].successors if place is self.parked else (block,)
                    self._send(to, place.pop(block))
                if place is self.parked and any(self.at.values()):
                    break
            ready = sorted(block for block, lanes in self.at.items() if lanes)
        return (self.rng.choice(ready) if turn else ready[0]) if ready else None

    def run(self, index: int) -> None:
        """Run a block with all lanes that stand in front of it."""
        lanes, end = self.at.pop(index), self.blocks[index].end
        targets = self.blocks[index].successors
        if isinstance(end, Barrier):
            self.barrier[end.resume] |= lanes
        elif isinstance(end, WarpBarrier) and self.waiting() and self.rng.random() < 0.5:
            self.parked[index] |= lanes
        elif isinstance(end, Branch | Switch) and self.divergent[index]:
            for lane in lanes:
                self._send(self.rng.choice(targets), {lane})
        elif targets:
            self._send(self.rng.choice(targets), lanes)

    def _send(self, target: int, lanes: set[int]) -> None:
        if not self.blocks[target].only_exits:
            self.at[target] |= lanes


@pytest.mark.parametrize(("followed", "steps"), [(300, 1000), (0, 1000), (300, 10)])
@pytest.mark.parametrize("kinds", ["bbj", "bbbjse", "bbjB", "bbjW", "bbsjBWe"])
def test_lanes_wait_only_where_pend_says(
    kinds: str, followed: int, steps: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pending, "_MOST_FOLLOWED", followed)
    monkeypatch.setattr(pending, "_MOST_STEPS", steps)
    for seed in range(60):
        rng = random.Random(seed)
        blocks = random_blocks(rng, kinds)
        divergent = tuple(block.splits is not None and rng.random() < 0.7 for block in blocks)
        headers = [t for i, block in enumerate(blocks) for t in block.successors if t <= i]
        fair = frozenset(header for header in headers if rng.random() < 0.5)
        found = find_pending(blocks, divergent, fair)
        for _ in range(5):
            walk, turn = _Walk(blocks, divergent, rng), False
            for _ in range(40):
                index = walk.choose(turn)
                if index is None:
                    break
                elsewhere = walk.waiting() - {index}
                assert elsewhere <= found.sets[index], f"seed {seed}, block {index}"
                walk.run(index)
                turn = any(target in fair and target <= index for target in blocks[index].successors)
