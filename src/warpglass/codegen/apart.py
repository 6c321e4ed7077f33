"""Compiling IR in a helper process (source/apart.py), for modules so long that LLVM might take for ever."""

from __future__ import annotations

from pathlib import Path

from ..source.apart import Apart

_LLVM = Apart(Path(__file__).with_name("jit.py"), "compile_bytes")


def compile_apart(what: str, ir: str) -> bytes:
    """Object code as `compile_ir` makes it. Raises CompileError at a limit, FailedApart for LLVM's errors."""
    (code,) = _LLVM.call(what, ir.encode())
    return code
