"""Barriers of blocks whose lanes all run together: whoever comes to one is all there are, and goes on.

A block of one warp, or whose warps run as one, has nobody to wait for if its lanes cannot part in front of a
barrier. So its registers need not be kept meanwhile, and what is behind is no other piece of code.
"""

from __future__ import annotations

from dataclasses import replace

from ...program import Barrier, Block, Jump, Program, find_pending
from ..infer import Inference
from ..shape import BlockShape
from .barriers import names_barriers


def open_barriers(program: Program, shape: BlockShape, inference: Inference) -> tuple[Program, Inference]:
    """The program without the barriers at which nobody waits, and what follows for where lanes may stand."""
    pending = inference.pending
    if shape.warps > 1 or pending.divergent_barrier or pending.gates or names_barriers(program):
        return program, inference
    blocks = tuple(_open(block) for block in program.blocks)
    if blocks == program.blocks:
        return program, inference
    pending = find_pending(blocks, inference.divergent, program.fair)
    return program.rewritten(blocks), replace(inference, pending=pending)


def _open(block: Block) -> Block:
    return replace(block, end=Jump(block.end.resume)) if isinstance(block.end, Barrier) else block
