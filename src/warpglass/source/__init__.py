"""Front ends: one file per language, each turning source into PTX (compiled.py has what they share).

front_ends.py chooses among them. What is named here is looked up when it is first used: who needs a compiler
or the cache only does not wait for all languages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..host.deferred import deferred

if TYPE_CHECKING:
    from .compiled import Argument, Compiled, CompilerWarning, DeclaredKernel, FixedSource, Source
    from .front_ends import compile_text, from_numba, kernels_of, load

__all__ = [
    "Argument",
    "Compiled",
    "CompilerWarning",
    "DeclaredKernel",
    "FixedSource",
    "Source",
    "compile_text",
    "from_numba",
    "kernels_of",
    "load",
]

__getattr__ = deferred(
    __name__,
    {
        **dict.fromkeys(__all__, "compiled"),
        **dict.fromkeys(("compile_text", "from_numba", "kernels_of", "load"), "front_ends"),
    },
)
