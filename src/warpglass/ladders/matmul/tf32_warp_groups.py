"""Four warps multiply 64 x 8 by 8 x 256 factors that stay in shared memory: wgmma, for an H100 or H200 only.

mma.sync takes factors from registers, so that every warp loads them there. wgmma reads both from shared
memory, and is asynchronous: a group of four warps issues the products of one step and waits for those of the
step before. Each group has 64 x 256 sums in its registers, a block two groups.

Nobody spends registers or instructions on copies either. One thread of a fifth warp has whole units of the
packed matrices copied (cp.async.bulk), each by one instruction; barriers in shared memory count the bytes
that have arrived, and the warps that are done with them. And two blocks, a cluster, work on the same columns:
each brings half of B's tile, for both. So a block reads (128 + 128) k elements for 128 x 256 k products: 3.1
TB/s from the second-level cache at 400 TFLOP/s, where alone it would be 4.7.

Counted first: products at the 495 TFLOP/s of the data sheet take 2.2 ms at n = 8192, packing 0.27 ms; at full
power the clock falls from 1980 to about 1450 MHz, which makes it 3 ms.

Measured on an H200: 320 TFLOP/s at 4096 and 360 at 8192, 0.81 and 0.92 of cuBLAS; the products alone are as
fast as cuBLAS. Sizes that are no multiple of anything: 251 at 4097, where cuBLAS falls to 116. Before bulk
copies, with cp.async by all threads and no cluster, products had 210; a barrier that released for the whole
GPU, not for the cluster's shared memory, cost a third.

The engine has no wgmma and refuses it by name: `warpglass bench matmul --rung tf32_warp_groups` says so.
"""

from warpglass.ladders.matmul.plans import tensor_product
from warpglass.ladders.matmul.problem import cut_sums
from warpglass.ladders.rung import Rung

RUNG = Rung(
    table="tf32",
    follows="tf32_tensor_cores",
    plan=lambda case, block: tensor_product(case.size, case.size, case.size, "Tf32", warp_groups=True),
    depth=cut_sums,
    only_on=(9, 0),
)
