"""Random graphs of basic blocks."""

from __future__ import annotations

import random

from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import Barrier, Block, Branch, Exit, Jump, Switch, WarpBarrier, build_program


def random_blocks(rng: random.Random, kinds: str) -> tuple[Block, ...]:
    """Mostly forward, at times in a row; `kinds` are the ends to choose from, by their first letters."""
    program = build_program(ptx.parse(kernel("mov.u32 %r1, 0; bar.sync 0; ret;"), "test"), "k")
    (step,) = (block.end.step for block in program.blocks if isinstance(block.end, Barrier))
    count = rng.randrange(2, 22)
    far = rng.choice((2, 5, count))

    def target(index: int) -> int:
        if rng.random() < 0.25:
            return rng.randrange(count)
        return min(count - 1, index + rng.randrange(1, far + 1))

    def block(index: int) -> Block:
        to = target(index)
        match rng.choice(kinds):
            case "j":
                return Block((step,), Jump(to))
            case "b":
                return Block((step,), Branch(step, "%p1", False, to, target(index)))
            case "s":
                targets = tuple(target(index) for _ in range(rng.randrange(1, 5)))
                return Block((step,), Switch(step, "%r1", targets, False))
            case "B":
                return Block((step,), Barrier(step, to))
            case "W":
                return Block((step,) * rng.randrange(2), WarpBarrier(step, to))
            case _:
                return Block((step,) * rng.randrange(2), Exit())

    return (*(block(index) for index in range(count - 1)), Block((), Exit()))
