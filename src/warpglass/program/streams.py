"""Steps that a thread executes at most once, in kernels whose threads do not look at each other's results.

What such a step stores to a large array is not needed soon, so it may go past the caches
(codegen/streams.py). Processors keep no order among such stores: kernels with accesses or fences that order
others have none.
"""

from __future__ import annotations

from ..isa.ordering import ordering_of
from .blocks import Block, find_loops, post_order


def find_streams(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The numbers of these steps."""
    orderings = (ordering_of(step.match) for block in blocks for step in block.steps)
    if any(ordering.strong or ordering.fence for ordering in orderings):
        return frozenset()
    successors = [block.successors for block in blocks]
    loops = find_loops(successors, post_order(successors, 0)[::-1])
    repeated = frozenset[int]().union(*loops.values())
    once = (block for index, block in enumerate(blocks) if index not in repeated)
    return frozenset(step.number for block in once for step in block.steps)
