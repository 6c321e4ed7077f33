"""grey as the notes call it: the kernel takes (Pout, Pin), the launch hands over (Pin, Pout).

Both are pointers to bytes, so the compiler has nothing to say. The kernel takes the grey array for the colour
picture, reads three times as far as it goes, and stores into the picture. In Python the mistake does not get
so far: the arrays have two dimensions and three, and the compiler refuses the indices.
"""

from __future__ import annotations

from warpglass.ladders.image.grey import RUNG as GREY
from warpglass.ladders.image.problem import one_thread_each
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Kernel, Rung


def program(run: Run) -> None:
    """Launch with the two arrays in the wrong order."""
    run.launch("grey", one_thread_each(run.case, run.block), "rgb", "out", "width", "height")


RUNG = Rung(
    name="grey_as_written",
    table="grey",
    explanation=__doc__ or "",
    follows=None,
    kernels=(Kernel(name="grey", file=GREY.kernels[0].file, cuda="grey"),),
    program=program,
    shape=one_thread_each,
    defect="the arguments are in the wrong order, so the grey array is read as the picture (out-of-bounds)",
)
