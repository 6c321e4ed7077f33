"""grey as the notes call it: the kernel takes (Pout, Pin), the launch hands over (Pin, Pout).

Both are pointers to bytes, so the compiler has nothing to say. The kernel takes the grey array for the colour
picture, reads three times as far as it goes, and stores into the picture. In Python the mistake does not get
so far: the arrays have two dimensions and three, and the compiler refuses the indices.
"""

from pathlib import Path

from warpglass.ladders import image
from warpglass.ladders.rung import Rung, RungKernel

RUNG = Rung(
    table="grey",
    kernels=(RungKernel(cuda="grey", file=Path(image.__file__).with_name("grey.cu")),),
    arguments=("rgb", "out", "width", "height"),
    defect="the arguments are in the wrong order, so the grey array is read as the picture (out-of-bounds)",
)
