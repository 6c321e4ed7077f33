"""barrier-divergence: a barrier of the block that some lanes of a warp come to while others may yet do so."""

from __future__ import annotations

from . import layout
from .detector import Detector, Recorded, Words


def _explain(found: Recorded) -> Words:
    message = (
        f"{found.one} of warp {found.one.warp} comes to the barrier {found.one.where} while {found.lanes} of "
        f"its warp take another way"
    )
    if found.other is not None and found.other.source is not None:
        message += f" ({found.other.source})"
    return Words(
        message,
        "take the barrier out of the branch or loop, so that all threads of the block come to it; keep only "
        "the work under the condition",
    )


BARRIER_DIVERGENCE = Detector("barrier-divergence", lambda found: found.code == layout.DIVERGENCE, _explain)
