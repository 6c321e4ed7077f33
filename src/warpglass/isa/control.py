"""Control flow and fences (PTX manual, "Control Flow", "membar", "fence").

These rows have no meaning of their own: `control` tells program/ how a basic block ends.
"""

from __future__ import annotations

from .table import add_row

add_row("bra{.uni}  target", unit="control", control="branch")
add_row("ret{.uni}", unit="control", control="exit")
add_row("exit", unit="control", control="exit")
add_row("trap", unit="control", control="trap")
# The engine's time is not the hardware's: waiting ends at once.
add_row("nanosleep.type  a", type="u32", unit="control", control="hint")
# Within a block memory is seen in program order; between blocks every access goes straight to memory.
add_row("membar.level", level="cta gl sys", unit="control", control="fence")
_SCOPES = "cta cluster gpu sys"
add_row("fence{.sem}.scope", sem="sc acq_rel acquire release", scope=_SCOPES, unit="control", control="fence")
add_row("fence.mbarrier_init.release.cluster", unit="control", control="fence")
# There is one way only to memory.
add_row("fence.proxy.alias", unit="control", control="fence")
_PROXIES = "global shared::cta shared::cluster"
add_row("fence.proxy.async{.space}", space=_PROXIES, unit="control", control="fence")
