"""Control flow and barriers (PTX manual, "Control Flow", "Parallel Synchronization").

These rows have no meaning of their own: `control` tells program/ how a basic block ends.
"""

from __future__ import annotations

from .table import add_row

add_row("bra{.uni}  target", unit="control", control="branch")
add_row("ret{.uni}", unit="control", control="exit")
add_row("exit", unit="control", control="exit")
add_row("trap", unit="control", control="trap")
# Barrier 0 with every thread of the block, which is what __syncthreads and cuda.syncthreads become.
add_row("bar.sync  0", unit="control", control="barrier")
add_row("bar.cta.sync  0", unit="control", control="barrier")
add_row("barrier.sync{.aligned}  0", unit="control", control="barrier")
add_row("barrier.cta.sync{.aligned}  0", unit="control", control="barrier")
# The lanes of a warp run in lockstep here, so arriving together is already true for converged lanes.
add_row("bar.warp.sync  a:b32", unit="control", control="warp-barrier")
# Within a block memory is seen in program order; between blocks every access goes straight to memory.
add_row("membar.level", level="cta gl sys", unit="control", control="fence")
add_row("fence.sem.scope", sem="sc acq_rel", scope="cta cluster gpu sys", unit="control", control="fence")
