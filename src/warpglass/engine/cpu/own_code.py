"""Machine code of the package itself, not of a kernel: LLVM IR written by hand, kept on disk by content."""

from __future__ import annotations

from ...codegen import compile_ir, host_key
from ...codegen.machine.jit import Linked, link
from ...source.cache import Cache, digest

_OBJECTS = Cache("object")


def own_code(text: str) -> Linked:
    """A module's code, optimised for this processor and linked into this process."""
    key = digest(host_key(), "own", text)
    code = _OBJECTS.get(key)
    if code is None:
        code = compile_ir(text)
        _OBJECTS.put(key, code)
    return link(code)
