"""Control flow and fences (PTX manual, "Control Flow", "membar", "fence").

These rows have no meaning of their own: `control` tells program/ how a basic block ends.
"""

from __future__ import annotations

from .table import add_row

add_row("bra{.uni}  target", unit="control", control="branch")
add_row("ret{.uni}", unit="control", control="exit")
add_row("exit", unit="control", control="exit")
add_row("trap", unit="control", control="trap")
# The engine's time is not the hardware's: whoever waits goes on at once, or lets others run (program/fairness.py).
add_row("nanosleep.type  a", type="u32", unit="control", control="hint")
# Within a block memory is seen in program order; between blocks every access goes straight to memory.
add_row("membar.level", level="cta gl sys", unit="control", control="fence")
add_row("fence.sem.scope", sem="sc acq_rel", scope="cta cluster gpu sys", unit="control", control="fence")
