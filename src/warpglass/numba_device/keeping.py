"""Functions of LTO-IR that only PTX calls, such as a debug kernel's, which is never optimised with the rest.

NVIDIA's linker makes one module of both. Asked for the PTX of the LTO-IR alone, it drops what nothing there
calls. So it gets a kernel, compiled to LTO-IR too, that takes the addresses of these functions, and the
kernel is taken out of the PTX again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .. import ptx
from ..errors import CompileError
from ..isa.calls import system_functions
from ..source.apart import FOLDER, Apart, FailedApart

_KEEPER = "warpglass_keeps"
_NVRTC = Apart(FOLDER / "nvrtc_call.py", "compile_lto")


def undefined(parts: Sequence[bytes]) -> frozenset[str]:
    """The functions that PTX modules declare and none of them defines, but for those of the system."""
    texts = (part.partition(b"\0")[0].decode(errors="replace") for part in parts)
    functions = [
        one for text in texts if text.strip() for one in ptx.parse(text, "PTX to be linked").functions
    ]
    defined = {one.name for one in functions if one.body is not None}
    return frozenset({one.name for one in functions} - defined - set(system_functions()) - _RUNTIME)


# Functions of the device runtime (source/link.py), which no program's LTO-IR defines.
_RUNTIME = frozenset(("cudaCGGetIntrinsicHandle", "cudaCGSynchronize"))


def keeper(names: Collection[str], target: str) -> bytes:
    """LTO-IR of a kernel that keeps functions. Raises CompileError."""
    listed = sorted(names)
    declared = "".join(f'extern "C" __device__ void {name}();\n' for name in listed)
    taken = "".join(f"p[{number}] = (void *){name};" for number, name in enumerate(listed))
    text = f'{declared}extern "C" __global__ void {_KEEPER}(void **p) {{ {taken} }}'
    return compile_lto(text, target, f"functions of LTO-IR that PTX calls ({', '.join(listed)})")


def compile_lto(text: str, target: str, what: str) -> bytes:
    """LTO-IR of CUDA C++ that calls functions of other LTO-IR; raises CompileError with `what` it is."""
    try:
        (found,) = _NVRTC.call("LTO-IR", text.encode(), f"-arch={target}".encode(), b"-dlto", b"-rdc=true")
    except FailedApart as problem:
        raise CompileError(f"{what}: {problem}") from None
    return found


def without_keeper(text: bytes, names: Collection[str]) -> bytes:
    """The PTX of a link without that kernel; what it has kept can be called from other modules."""
    if not names:
        return text
    module = ptx.parse(text.partition(b"\0")[0].decode(errors="replace"), "optimised PTX")
    functions = (
        replace(one, linkage="visible") if one.name in names and one.body is not None else one
        for one in module.functions
        if one.name != _KEEPER
    )
    return ptx.print_module(replace(module, functions=tuple(functions))).encode()
