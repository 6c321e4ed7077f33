"""Functions of the driver API that link device code: PTX, and what contains it, to one module of PTX."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import CompileError
from .calls import Address, Handle, Int, Size, UInt, call, put, text_at
from .device import VirtualDevice
from .jit_logs import JitLogs
from .linker import Input, ptx_of
from .merging import merge
from .module_calls import architecture
from .results import Refusal, Result

# CUjitInputType: those of nvJitLink. LTO-IR has been no input since CUDA 12.
_KINDS = {0: 1, 1: 2, 2: 4, 3: 5, 4: 6}


@dataclass(eq=False)
class Link:
    """What is to be linked, and the result, whose address the program is given."""

    logs: JitLogs
    texts: list[str] = field(default_factory=list)
    result: ctypes.Array[ctypes.c_char] | None = None


@call
def cuLinkCreate(
    device: VirtualDevice, count: UInt, options: Address, values: Address, state: Address
) -> None:
    put(state, device.add(Link(JitLogs.of(count, options, values))))


@call
def cuLinkAddData(
    device: VirtualDevice,
    state: Handle,
    kind: Int,
    data: Address,
    size: Size,
    name: Address,
    count: UInt,
    options: Address,
    values: Address,
) -> None:
    _add(device, state, kind, ctypes.string_at(data, size), text_at(name) if name else "")


@call
def cuLinkAddFile(
    device: VirtualDevice,
    state: Handle,
    kind: Int,
    path: Address,
    count: UInt,
    options: Address,
    values: Address,
) -> None:
    name = text_at(path)
    try:
        content = Path(name).read_bytes()
    except OSError as problem:
        raise Refusal(Result.FILE_NOT_FOUND, f"{name}: {problem.strerror}") from None
    _add(device, state, kind, content, name)


def _add(device: VirtualDevice, state: int, kind: int, content: bytes, name: str) -> None:
    if kind not in _KINDS:
        raise Refusal(Result.INVALID_VALUE, f"there is no input of type {kind}")
    link = device.get(state, Link)
    with link.logs.filled():
        text = ptx_of(Input(_KINDS[kind], content, name.encode()), f"sm_{architecture(device)}")
    if text is not None:
        link.texts.append(text.partition(b"\0")[0].decode(errors="replace"))


@call
def cuLinkComplete(device: VirtualDevice, state: Handle, result: Address, size: Address) -> None:
    link = device.get(state, Link)
    if not link.texts:
        raise Refusal(Result.INVALID_VALUE, "nothing was given to be linked")
    with link.logs.filled():
        try:
            text = merge(link.texts)
        except CompileError as error:
            raise Refusal(Result.INVALID_PTX, str(error)) from None
    link.result = ctypes.create_string_buffer(text.encode())
    put(result, ctypes.addressof(link.result))
    put(size, len(link.result))


@call
def cuLinkDestroy(device: VirtualDevice, state: Handle) -> None:
    device.remove(state, Link)
