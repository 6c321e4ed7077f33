"""Callbacks: functions of the program, as LTO-IR, by which elements are read before a transform and written
after it.

A kernel that calls the function for each element is linked with it and launched, so the function runs on the
engine, and is checked and profiled like any kernel.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from ...errors import CompileError
from ...numba_device.activation import jit_linker
from ...numba_device.calls import text_at, word
from ...numba_device.device_launches import launch_all
from ...numba_device.images import Image
from ...numba_device.keeping import compile_lto, undefined
from ...numba_device.modules import LoadedKernel, LoadedModule
from ..frame import Address, Failed, Int, Session, Size, immediate
from ..memory import Array
from .library import (
    CUFFT,
    INTERNAL_ERROR,
    INVALID_PLAN,
    INVALID_TYPE,
    INVALID_VALUE,
    Layout,
    Plan,
    plan_of,
)

LOAD, STORE = "load", "store"
_TYPES = ("float2", "double2", "float", "double")  # by cufftXtCallbackType, for both directions
_BLOCK, _MOST_BLOCKS = 128, 1024
_NAME = re.compile(r"[A-Za-z_]\w*")
_DECLARED = {
    LOAD: "{T} {name}(void *, unsigned long long, void *, void *)",
    STORE: "void {name}(void *, unsigned long long, {T}, void *, void *)",
}
_CALL = {
    LOAD: "plain[number] = {name}(memory, offset, info, room ? shared : nullptr)",
    STORE: "{name}(memory, offset, plain[number], info, room ? shared : nullptr)",
}
# An element's place in the program's memory, from its number among all elements in order.
_KERNEL = """
__device__ {declared};
extern "C" __global__ void cufft_{side}(
    {T} *plain, void *memory, void *info, unsigned long long room, unsigned long long count,
    unsigned long long rows, unsigned long long columns, unsigned long long depth,
    unsigned long long batch_step, unsigned long long row_step, unsigned long long column_step,
    unsigned long long depth_step)
{{
    extern __shared__ char shared[];
    unsigned long long number = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    for (; number < count; number += gridDim.x * (unsigned long long)blockDim.x) {{
        unsigned long long rest = number / depth;
        unsigned long long offset = number % depth * depth_step + rest % columns * column_step;
        rest /= columns;
        offset += rest % rows * row_step + rest / rows * batch_step;
        {call};
    }}
}}
"""


@dataclass(slots=True)
class Callback:
    """A function of the program's in a kernel that calls it; `info` is what it is given, too."""

    kernel: LoadedKernel
    info: int
    shared: int = 0  # bytes of shared memory that it may use


@lru_cache(maxsize=64)
def _ptx(code: bytes, name: str, side: str, element: str, target: str) -> str:
    words = {"T": element, "name": name, "side": side}
    declared, called = _DECLARED[side].format(**words), _CALL[side].format(**words)
    what = f"the callback {name}"
    caller = compile_lto(_KERNEL.format(declared=declared, call=called, **words), target, what)
    linker = jit_linker()
    if linker is None:
        raise CompileError(f"{what} needs nvidia-nvjitlink, which is not installed")
    text = linker.ptx((caller, code), target, what)
    missing = sorted(undefined((text.encode(),)))
    if missing:
        wanted = _DECLARED[side].format(**words)
        raise CompileError(f"{what} is not in its LTO-IR: `{wanted}` was looked for ({', '.join(missing)})")
    return text


def _side(kind: int) -> tuple[str, str]:
    """Which side a cufftXtCallbackType is of, and its elements' type."""
    if not 0 <= kind < 2 * len(_TYPES):
        raise Failed(INVALID_TYPE, f"there is no callback of type {kind}")
    return (LOAD, STORE)[kind // len(_TYPES)], _TYPES[kind % len(_TYPES)]


@immediate
@CUFFT.row("cufftXtSetJITCallback")
def set_jit_callback(
    s: Session, plan: Int, name: Address, code: Address, size: Size, kind: Int, info: Address
) -> None:
    found = plan_of(s, plan)
    if found.kind:
        raise Failed(INVALID_PLAN, "callbacks are set before the plan is made")
    side, element = _side(kind)
    word_of = text_at(name) if name else ""
    if not _NAME.fullmatch(word_of) or not code or not size:
        raise Failed(INVALID_VALUE, "a callback is a function's name and its LTO-IR")
    major, minor = s.device.model.limits.capability
    try:
        text = _ptx(ctypes.string_at(code, size), word_of, side, element, f"sm_{major}{minor}")
    except CompileError as error:
        raise Failed(INTERNAL_ERROR, str(error)) from None
    kernel = LoadedModule(s.device, Image(text)).kernel(f"cufft_{side}")
    found.callbacks[side] = Callback(kernel, word(info) if info else 0)


@immediate
@CUFFT.row("cufftXtClearCallback")
def clear_callback(s: Session, plan: Int, kind: Int) -> None:
    plan_of(s, plan).callbacks.pop(_side(kind)[0], None)


@immediate
@CUFFT.row("cufftXtSetCallbackSharedSize")
def set_shared(s: Session, plan: Int, kind: Int, size: Size) -> None:
    found = plan_of(s, plan).callbacks.get(_side(kind)[0])
    if found is None:
        raise Failed(INVALID_VALUE, "there is no such callback whose shared memory could be set")
    found.shared = size


# ---------------------------------------------------------------------------------------- running
def load(s: Session, plan: Plan, address: int, shape: tuple[int, ...], side: Layout, kind: str) -> Array:
    """What the plan's function reads of an array of the program's."""
    with _room(s, shape, kind) as (place, view):
        _launch(s, plan.callbacks[LOAD], place, address, shape, side)
        return view.copy()


def store(s: Session, plan: Plan, address: int, content: Array, side: Layout, kind: str) -> None:
    """Have the plan's function write what a transform has made."""
    with _room(s, content.shape, kind) as (place, view):
        view[...] = content
        _launch(s, plan.callbacks[STORE], place, address, content.shape, side)


@contextmanager
def _room(s: Session, shape: tuple[int, ...], kind: str) -> Iterator[tuple[int, Array]]:
    """Memory of the device for elements in order: its address, and the elements."""
    view = s.memory.flat  # of the memory once it is there
    count = 1
    for extent in shape:
        count *= extent
    block = s.device.memory.allocate(count * int(kind[1:]))
    try:
        yield block.base, view(block.base, count, kind, written=True).reshape(shape)
    finally:
        s.device.memory.release(block.base, ("device",))


def _launch(
    s: Session, callback: Callback, plain: int, memory: int, shape: tuple[int, ...], side: Layout
) -> None:
    batch, *inner = shape
    extents = (*(1,) * (3 - len(inner)), *inner)
    steps = (*(0,) * (3 - len(inner)), *side.steps())
    count = batch * extents[0] * extents[1] * extents[2]
    words = (plain, memory, callback.info, callback.shared, count, *extents, side.distance, *steps)
    grid = (min(-(-count // _BLOCK), _MOST_BLOCKS), 1, 1)
    parameters = struct.pack(f"<{len(words)}Q", *words)
    kernel = callback.kernel
    launch_all(s.device, kernel, kernel.launch(grid, (_BLOCK, 1, 1), callback.shared, parameters))
