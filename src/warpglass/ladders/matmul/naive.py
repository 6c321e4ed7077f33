"""One element a thread: a row of A times a column of B, read from global memory element by element.

Threads form squares, as the matrices do: x counts columns, y rows, and a guard idles what reaches beyond the
matrix. Every thread reads 2 n elements for its one result, so the grid reads 2 n^3, n times as many as there
are.

Look at the ratio of work to traffic: two operations (multiply, add) for two loads of 4 bytes, 0.25 operations
a byte. Caches soften it: lanes of a row read the same element of A and neighbouring ones of B. But each of
these loads is an instruction that the load units must handle, and there are two for every useful one.
"""

from typing import Any

from warpglass.ladders.rung import Claim, Rung, cuda


def naive(a: Any, b: Any, c: Any, n: Any) -> None:
    """Compute one element of c = a b."""
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < n and column < n:
        total = a.dtype.type(0)
        for k in range(n):
            total += a[row, k] * b[k, column]
        c[row, column] = total


RUNG = Rung(table="matmul", claims=(Claim("smsp__inst_executed_op_shared_ld.sum", "==", 0.0),))
