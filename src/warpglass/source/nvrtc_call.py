"""The bare call of NVRTC: byte strings in, byte strings out. It runs in a helper process (apart.py)."""

from __future__ import annotations

import importlib
from typing import Any


def compile_program(text: bytes, file: bytes, expression: bytes, counts: bytes, *rest: bytes) -> list[bytes]:
    """Compile `text`, which NVRTC takes to be `file`; return its status, log, PTX and the lowered name.

    `rest` holds the names of headers, their contents, then options; `counts` is the number of headers.
    The status is b"" for success; a failure before the compilation raises ValueError, a library that is not
    there ImportError or RuntimeError. The lowered name is b"" if none was asked for, b"?" if there is none.
    """
    nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")
    nvrtc.nvrtcVersion()
    number = int(counts)
    names, contents, options = rest[:number], rest[number : 2 * number], rest[2 * number :]
    program = _checked(nvrtc, nvrtc.nvrtcCreateProgram(text, file, number, list(contents), list(names)))
    try:
        if expression:
            _checked(nvrtc, nvrtc.nvrtcAddNameExpression(program, expression))
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), list(options))
        log = _fetch(nvrtc, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return [status.name.encode(), log, b"", b""]
        ptx = _fetch(nvrtc, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
        lowered = b""
        if expression:
            lowered = _checked(nvrtc, nvrtc.nvrtcGetLoweredName(program, expression)) or b"?"
        return [b"", log, ptx, lowered]
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def compile_lto(text: bytes, *options: bytes) -> list[bytes]:
    """Compile `text` to LTO-IR; raises ValueError if that fails, and as `compile_program` does."""
    nvrtc: Any = importlib.import_module("cuda.bindings.nvrtc")
    program = _checked(nvrtc, nvrtc.nvrtcCreateProgram(text, b"", 0, [], []))
    try:
        _checked(nvrtc, nvrtc.nvrtcCompileProgram(program, len(options), list(options)))
        content = bytes(_checked(nvrtc, nvrtc.nvrtcGetLTOIRSize(program)))
        _checked(nvrtc, nvrtc.nvrtcGetLTOIR(program, content))
        return [content]
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _checked(nvrtc: Any, answer: tuple[Any, ...]) -> Any:
    status, *rest = answer
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise ValueError(f"NVRTC failed with {status.name}")
    return rest[0] if rest else None


def _fetch(nvrtc: Any, size: Any, content: Any, program: Any) -> bytes:
    # NVRTC writes into the bytes object; one of a single byte would be the interpreter's only such object.
    buffer = bytes(max(2, _checked(nvrtc, size(program))))
    _checked(nvrtc, content(program, buffer))
    return buffer.rstrip(b"\0")
