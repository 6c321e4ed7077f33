"""Compiling IR in helper processes (source/apart.py): long modules, and optimised code in the background."""

from __future__ import annotations

from pathlib import Path

from ...host.budget import Limits
from ...source.apart import Apart
from .target import chosen_target

_FILE = Path(__file__).with_name("jit.py")
_QUICK, _OPTIMISED = Apart(_FILE, "compile_bytes"), Apart(_FILE, "optimise_bytes")


def compile_apart(what: str, ir: str, *, quick: bool, limits: Limits | None = None) -> bytes:
    """Object code as `compile_ir` makes it, within `limits` or those of compilers.

    Raises OverBudget at a limit, CompileError if the process is ended, FailedApart for LLVM's errors.
    """
    target = chosen_target()
    parts = (ir, target.triple, target.cpu, target.features)
    (code,) = (_QUICK if quick else _OPTIMISED).call(what, *(part.encode() for part in parts), limits=limits)
    return code
