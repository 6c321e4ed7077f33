"""Products on the device, their sum on the host: half of the work, and an array more to move.

Every thread multiplies elements, a whole grid apart from one another, and stores the products; the host adds
them up. The kernel needs no word from one thread to another, which is why it is so simple, but it stores n
products that the host must fetch and read again: 4 n elements move, 2 n would do.

Look at the stores: their number is what the next rungs save.
"""

from math import ceil
from typing import Any

import numpy as np

from warpglass.ladders.problem import Array, Case, Number
from warpglass.ladders.rounding import exact_sum, unit_roundoff
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Claim, Rung, cuda


def products(x: Any, y: Any, z: Any, n: Any) -> None:
    """Multiply elements, a whole grid apart."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < n:
        z[i] = x[i] * y[i]
        i += cuda.blockDim.x * cuda.gridDim.x


def add(values: Array) -> Number:
    """Add up as a host does: in double precision, in NumPy's order."""
    return float(values.sum(dtype=np.float64)) if values.dtype.kind == "f" else exact_sum(values)


def roundings(case: Case, block: int) -> int:
    """The product's own, and n of double precision, which are some of the type's."""
    if case.dtype.kind != "f":
        return 0
    return 1 + ceil(case.size * 2.0**-53 / unit_roundoff(case.dtype))


def program(run: HostRun) -> None:
    """Multiply on the device, add on the host."""
    run.launch(run.kernel, run.shape, "x", "y", "products", "n")
    run.keep("dot", run.on_host(add, run.to_host(run["products"])))


RUNG = Rung(
    program=program,
    depth=roundings,
    claims=(
        Claim("gld_efficiency", "==", 100.0),
        Claim("gst_efficiency", "==", 100.0),
    ),
)
