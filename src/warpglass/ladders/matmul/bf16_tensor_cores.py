"""Half the bytes, twice the products: mma.sync of bfloat16, 16 x 16 by 16 x 8 factors an instruction.

bfloat16 is the upper half of float32: its exponent, and 7 bits behind the first. Everything is as in
tf32_tensor_cores, where 128 bytes along k are 32 elements and here 64: the same kernel with another
instruction. Products are exact in float32, so the error is that of the sums alone.

Counted first: everything takes half of TF32's time, as the bytes do.

Measured on an H200: 391 TFLOP/s at 4096 and 400 at 8192, 0.53 and 0.55 of cuBLAS.
"""

from warpglass.ladders.matmul.plans import tensor_product
from warpglass.ladders.matmul.problem import cut_sums
from warpglass.ladders.rung import Rung

RUNG = Rung(
    table="bf16",
    plan=lambda case, block: tensor_product(case.size, case.size, case.size, "Bf16"),
    depth=cut_sums,
)
