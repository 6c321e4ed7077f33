"""Tensor cores multiply 16 x 8 by 8 x 8 factors with one instruction of a warp: mma.sync of TF32.

TF32 is float32 with 10 bits behind the first instead of 23; sums stay in float32. An instruction of ordinary
arithmetic makes 32 products, this one 1024: the multiplications no longer take the time, bringing the factors
does. A warp computes 64 x 64 elements; for each 8 k it needs eight ldmatrix, which hand out four 8 x 4
matrices each, for 32 products of tiles. Copies arrive as in pipelined.

First a launch packs A and B into the order in which they are used: units of 64 rows by 128 bytes along k, B's
columns as rows, chunks of 16 bytes turned so that eight rows of a matrix lie in different banks, zeros where
a unit goes beyond the matrix. It rounds to TF32, where tensor cores would cut. After that a tile is one run
of memory, whatever the sizes: no bounds, no alignment, no leading dimension.

Counted first: packing moves 4 n^2 numbers of 4 bytes, 0.27 ms at n = 8192 of an H200's 4 TB/s. mma.sync
reaches about 60 % of the 495 TFLOP/s that tensor cores have there: 3.7 ms. A block reads (128 + 128) k
elements for 128 x 128 k products, 4.6 TB/s from the second-level cache at that rate, which is near its limit.

Measured on an H200: 207 TFLOP/s at 4096 and 217 at 8192, 0.52 and 0.55 of cuBLAS; without packing 228 and
227. Tiles of 128 x 256 need a quarter less from the cache and are as fast: it is mma.sync that is at its
limit.
"""

from warpglass.ladders.matmul.plans import tensor_product
from warpglass.ladders.matmul.problem import cut_sums
from warpglass.ladders.rung import Rung

RUNG = Rung(
    table="tf32",
    plan=lambda case, block: tensor_product(case.size, case.size, case.size, "Tf32"),
    depth=cut_sums,
)
