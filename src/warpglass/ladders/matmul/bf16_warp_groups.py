"""wgmma of bfloat16: 64 x 16 by 16 x 256 factors an instruction of four warps, for an H100 or H200 only.

As in tf32_warp_groups, with half of the bytes. Counted first: 990 TFLOP/s by the data sheet, 740 at the clock
that full power leaves; packing, which is a tenth of the time of a product of 8192 x 8192, weighs twice as
much at half the size, since products grow with the third power and bytes with the second.

Measured on an H200: 568 TFLOP/s at 4096 and 650 at 8192, 0.77 and 0.90 of cuBLAS; the products alone 643 and
708. 420 at 4097, where cuBLAS has 135.
"""

from warpglass.ladders.matmul.plans import tensor_product
from warpglass.ladders.matmul.problem import cut_sums
from warpglass.ladders.rung import Rung

RUNG = Rung(
    table="bf16",
    follows="bf16_tensor_cores",
    plan=lambda case, block: tensor_product(case.size, case.size, case.size, "Bf16", warp_groups=True),
    depth=cut_sums,
    only_on=(9, 0),
)
