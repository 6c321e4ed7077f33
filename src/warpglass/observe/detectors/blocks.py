"""A block begins, and with it what all detectors know of its threads."""

from __future__ import annotations

from . import layout
from .native import exported
from .races.causality import start_causes
from .races.copies import drop_copies
from .races.journal import open_block
from .recorder import set_word, word
from .sync.clocks import report_absent, start_block
from .sync.clusters import enter_cluster
from .undefined.propagation import forget_written


@exported
def begin(S, block, warp, mask):
    """A warp begins; the first of a block begins the block."""
    if word(S, layout.BLOCK) != block:
        report_absent(S)
        enter_cluster(S, block)
        forget_written(S)
        open_block(S)
        set_word(S, layout.BLOCK, block)
        set_word(S, layout.TAG, (block + 1) << word(S, layout.BLOCK_SHIFT))
        start_block(S)
        if word(S, layout.CAUSES) != 0:
            start_causes(S)
        drop_copies(S)
    if word(S, layout.STARTED + warp) == 0:
        set_word(S, layout.STARTED + warp, mask)
