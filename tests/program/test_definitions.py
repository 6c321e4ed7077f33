"""Reaching definitions are those from which a way leads to the read on which nothing hides them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.program.graphs import random_blocks
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import Block, Step, build_program
from warpglass.program.definitions import Definitions, Place

# The loop goes on in the register of the index; what it computes does not reach the first read.
_REUSED = """
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;
L: add.u32 %r1, %r1, 7; setp.lt.u32 %p1, %r1, 90; @%p1 bra L;
st.shared.u32 [%r2], %r1; ret;
"""
_STEPS = """
mov.u32 %r0, %r1; mov.u32 %r1, %r2; add.u32 %r2, %r0, %r1; add.u32 %r0, %r0, 1; mov.u32 %r3, 5;
setp.eq.u32 %p1, %r2, %r3; @%p1 mov.u32 %r1, %r0; @!%p1 add.u32 %r2, %r2, %r3; st.shared.u32 [%r0], %r1; ret;
"""


def test_what_a_loop_goes_on_with_does_not_reach_what_precedes_it() -> None:
    blocks = build_program(ptx.parse(kernel(_REUSED), "test"), "k").blocks
    definitions = Definitions(blocks)
    assert definitions.reaching((0, 1), "%r1") == ((0, 0),)
    assert definitions.reaching((1, 0), "%r1") == ((0, 0), (1, 0))
    assert definitions.reaching((1, 1), "%r1") == ((1, 0),)
    assert definitions.reaching((1, 2), "%p1") == ((1, 1),)
    assert definitions.reaching((1, 0), "%r9") == ()


@pytest.mark.parametrize("seed", range(60))
def test_all_ways_are_found_and_no_others(seed: int) -> None:
    rng = random.Random(seed)
    known = build_program(ptx.parse(kernel(_STEPS), "test"), "k").blocks[0].steps
    blocks = tuple(
        replace(block, steps=tuple(rng.choice(known) for _ in range(rng.randrange(4))))
        for block in random_blocks(rng, "jbbse")
    )
    definitions = Definitions(blocks)
    found = {
        (definition, name, read)
        for read, names in _reads(blocks)
        for name in names
        for definition in definitions.reaching(read, name)
    }
    ways = set(_ways(blocks))
    steps = [step for block in blocks for step in block.steps]
    definitions_of = Counter(name for step in steps for name in dict.fromkeys(step.writes))
    assert ways <= found
    assert ways == {one for one in found if one in ways or definitions_of[one[1]] > 1}


def _reads(blocks: tuple[Block, ...]) -> Iterator[tuple[Place, frozenset[str]]]:
    for index, block in enumerate(blocks):
        for position, step in enumerate(block.steps):
            yield (index, position), step.reads
        yield (index, len(block.steps)), block.read_at_end


def _ways(blocks: tuple[Block, ...]) -> Iterator[tuple[Place, str, Place]]:
    """Every definition with its register and each read that it reaches, step by step."""
    reads = dict(_reads(blocks))
    for index, block in enumerate(blocks):
        for position, step in enumerate(block.steps):
            for name in step.writes:
                seen, work = set[Place](), [(index, position + 1)]
                while work:
                    here = work.pop()
                    if here in seen:
                        continue
                    seen.add(here)
                    if name in reads[here]:
                        yield (index, position), name, here
                    work += _behind(blocks, here, name)


def _behind(blocks: tuple[Block, ...], here: Place, name: str) -> list[Place]:
    """Where a way goes on, unless it ends as the register is written."""
    index, position = here
    if position == len(blocks[index].steps):
        return [(target, 0) for target in blocks[index].successors]
    return [] if _hides(blocks[index].steps[position], name) else [(index, position + 1)]


def _hides(step: Step, name: str) -> bool:
    return name in step.writes and step.instruction.guard is None
