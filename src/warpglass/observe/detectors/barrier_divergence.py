"""barrier-divergence: a barrier of the block that not all threads come to together.

Either some lanes of a warp come to it while others may yet do so, or warps come to different barriers. The
hardware lets the latter pass, since it only counts the warps; the programming guide does not.
"""

from __future__ import annotations

from . import layout
from .detector import Detector, Recorded, Words

_HINT = (
    "take the barrier out of the branch or loop, so that all threads of the block come to it; keep only "
    "the work under the condition"
)


def _explain(found: Recorded) -> Words:
    if found.mask == 0 and found.other is not None:
        message = (
            f"{found.one} of warp {found.one.warp} comes to the barrier {found.one.where} while warp "
            f"{found.other.warp} of its block waits at another ({found.other.source})"
        )
        return Words(message, _HINT)
    message = (
        f"{found.one} of warp {found.one.warp} comes to the barrier {found.one.where} while {found.lanes} of "
        f"its warp take another way"
    )
    if found.other is not None and found.other.source is not None:
        message += f" ({found.other.source})"
    return Words(message, _HINT)


BARRIER_DIVERGENCE = Detector("barrier-divergence", lambda found: found.code == layout.DIVERGENCE, _explain)
