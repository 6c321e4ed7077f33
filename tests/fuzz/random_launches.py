"""Random launches by number: kernels with bad arguments and indices must do no harm.

Every array lies in a larger buffer whose rest is a guard zone that only a stray access would change.
`attempt(number)` launches one: it is to end in a run or in an error of the package, with all guard zones and
read-only arrays as they were.
"""

from __future__ import annotations

import gzip
import json
import math
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.errors import WarpglassError
from warpglass.source import shipped, store
from warpglass.source.compiled import FixedSource
from warpglass.source.relocate import Layout, Piece

_PARAMETERS = "u64 a, u64 b, u32 n, s64 step, s64 shift, f32 x"
_PRELUDE = """
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n]; ld.param.s64 %rd3, [step];
ld.param.s64 %rd4, [shift]; ld.param.f32 %f1, [x];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2;
cvt.u64.u32 %rd5, %r5; mad.lo.s64 %rd6, %rd5, %rd3, %rd4;
"""
# What kernels do with rd6, an index that their arguments say how to compute; some loop n times.
_BODIES = {
    "words": "shl.b64 %rd7, %rd6, 2; add.u64 %rd8, %rd1, %rd7; add.u64 %rd9, %rd2, %rd7;"
    "ld.global.u32 %r6, [%rd8]; st.global.u32 [%rd9], %r6;",
    "bytes": "add.u64 %rd9, %rd2, %rd6; st.global.u8 [%rd9], %r5; ld.u8 %r6, [%rd9+-1]; st.u8 [%rd9+1], %r6;",
    "doubles": "shl.b64 %rd7, %rd6, 3; add.u64 %rd8, %rd1, %rd7; ld.global.f64 %fd1, [%rd8];"
    "add.f64 %fd1, %fd1, %fd1; st.global.f64 [%rd8], %fd1;",
    "vectors": "add.u64 %rd8, %rd1, %rd6; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd8];"
    "st.global.v4.u32 [%rd8+16], {%r9, %r8, %r7, %r6};",
    "narrow": "cvt.u32.u64 %r6, %rd6; mad.wide.s32 %rd8, %r6, 4, %rd1; ld.global.nc.u32 %r7, [%rd8];"
    "mad.wide.u32 %rd9, %r6, 4, %rd2; st.global.u32 [%rd9], %r7;",
    "products": "mul.lo.s64 %rd8, %rd1, %rd6; ld.u64 %rd9, [%rd8]; st.u64 [%rd8], %rd9;",
    "atomics": "shl.b64 %rd7, %rd6, 2; add.u64 %rd9, %rd2, %rd7; atom.global.add.u32 %r6, [%rd9], %r1;"
    "red.global.max.s32 [%rd9+4], %r6; atom.cas.b32 %r7, [%rd9], %r6, %r1;",
    "shared": "cvt.u32.u64 %r6, %rd6; mov.u32 %r7, more; add.u32 %r7, %r7, %r6; st.shared.f32 [%r7], %f1;"
    "bar.sync 0; ld.shared.u16 %rs1, [%r7+2]; st.global.u16 [%rd2], %rs1;",
    "local": "mov.u64 %rd7, own; add.u64 %rd7, %rd7, %rd6; st.local.u32 [%rd7], %r5;"
    "ld.local.u32 %r6, [%rd7+4]; st.global.u32 [%rd2], %r6;",
    "windows": "mov.u64 %rd7, own; cvta.local.u64 %rd7, %rd7; add.u64 %rd7, %rd7, %rd6; st.u8 [%rd7], %r5;"
    "mov.u64 %rd8, more; cvta.shared.u64 %rd8, %rd8; sub.u64 %rd8, %rd8, %rd6; ld.u32 %r6, [%rd8];",
    "loops": "mov.u32 %r6, 0;\nAGAIN: mad.lo.s64 %rd7, %rd6, 4, %rd1; st.global.u32 [%rd7], %r6;"
    "add.s64 %rd6, %rd6, %rd3; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r1; @%p1 bra AGAIN;",
    "divergent": "and.b32 %r6, %r2, 3; setp.eq.u32 %p1, %r6, 1; @!%p1 bra OTHER; add.u64 %rd8, %rd1, %rd6;"
    "ld.global.u32 %r7, [%rd8]; st.global.u32 [%rd2], %r7;\nOTHER: st.global.u32 [%rd2+4], %r6;",
}


# Shipped kernels do not know where their source stands: any place will do.
_LAYOUT = Layout(("shipped.py",) * 9, (Piece("shipped.py", 1, 1 << 20),) * 9)


@cache
def _kernels() -> tuple[wg.Kernel, ...]:
    """Kernels of PTX, and shipped Python kernels, whose arrays have types and dimensions."""
    found = []
    for name, body in _BODIES.items():
        lines = [".local .align 8 .b8 own[64];", _PRELUDE, body, "ret;"]
        text = kernel("\n".join(lines), _PARAMETERS, name=name)
        text = text.replace(".visible", ".extern .shared .align 16 .b8 more[];\n.visible", 1)
        found.append(wg.compile(text, name, language="ptx"))
    for archive in shipped.archives():
        entries = json.loads(gzip.decompress(archive.read_bytes()))
        python = [key for key in sorted(entries) if entries[key]["language"] == "python"]
        for key in python[::40]:
            payload = json.dumps(entries[key]).encode()
            found.append(wg.Kernel(FixedSource(store.unpack(payload, _LAYOUT))))
    return tuple(found)


# ---------------------------------------------------------------------------------------- arguments
class Guarded:
    """A buffer with an array in its middle."""

    def __init__(self, rng: random.Random, tame: bool):
        self.rng, self.tame = rng, tame
        before, self.size, after = rng.choice((64, 100, 4096)), rng.choice((4, 64, 1000, 4096, 4096)), 4096
        self.size = self.size if tame or rng.random() < 0.8 else 0
        self.raw = bytearray(rng.randbytes(before + self.size + after))
        self.place = slice(before, before + self.size)
        self.array = np.frombuffer(memoryview(self.raw)[self.place], np.uint8)
        self.writable = False
        self.before = bytes(self.raw)

    def view(self) -> np.ndarray:
        """A view of the array: of any type, shape and order, perhaps read-only."""
        rng = self.rng
        if self.tame:
            self.writable = True
            return self.array[: self.size - self.size % 8].view(rng.choice(("u4", "f4")))
        dtype = np.dtype(rng.choice(_DTYPES))
        usable = self.array[: self.size - self.size % dtype.itemsize]
        if rng.random() < 0.1 and self.size > dtype.itemsize:  # misaligned for its type
            usable = self.array[1 : 1 + (self.size - 1) // dtype.itemsize * dtype.itemsize]
        view = rng.choice(_SHAPES)(usable.view(dtype))
        if rng.random() < 0.2:
            view = view.view()
            view.flags.writeable = False
        self.writable |= view.flags.writeable
        return view

    def is_intact(self) -> bool:
        """Whether only what a kernel may write has changed."""
        allowed = self.place if self.writable else slice(0, 0)
        now, then = bytearray(self.raw), bytearray(self.before)
        now[allowed] = then[allowed] = b""
        return now == then


_DTYPES = ("u1", "i2", "u4", "u4", "u4", "i4", "f4", "f8", "i8", "u8", "f2", "c8", "?", "M8[s]", ">u4", "V3")
_SHAPES: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda a: a,
    lambda a: a,
    lambda a: a[::2],
    lambda a: a[::-1],
    lambda a: a[3:-3],
    lambda a: a.reshape(2, -1) if a.size % 2 == 0 and a.size else a,
    lambda a: a.reshape(-1, 4).T if a.size % 4 == 0 and a.size else a,
    lambda a: a.reshape(2, -1)[:, ::3] if a.size % 2 == 0 and a.size else a,
    lambda a: np.broadcast_to(a[:1], (3, 5)) if a.size else a,
    lambda a: a[:0],
    lambda a: a[0:1].reshape(()) if a.size else a,
)
_NUMBERS = (0, 1, -1, 2, 3, 4, 7, 31, 33, 64, 255, 4096, 1 << 20, 1 << 31, -(1 << 31), 1 << 32, -(1 << 32))
_NUMBERS += ((1 << 62), -(1 << 62), (1 << 63) - 1, -(1 << 63), (1 << 64) - 1, 1 << 64, 1 << 200, -4, -8, -64)
_ODD: tuple[object, ...] = (None, "x", b"ab", 1.5, math.nan, math.inf, 2j, True, [1, 2], {}, object(), ())
_ODD += (
    np.float16(1),
    np.int8(-1),
    np.uint64(1 << 63),
    np.datetime64(0, "s"),
    np.array(["a"]),
    np.ma.ones(3),
)
_ODD += (
    np.array([None]),
    np.bool_(True),
    np.float64(1e300),
    np.complex64(1),
    np.zeros((2, 0)),
    Ellipsis,
    int,
)

# Grids and blocks, most of which are refused, and none that would run for long.
_EXTENTS: tuple[Any, ...] = (
    1,
    32,
    0,
    -1,
    1025,
    1 << 31,
    1 << 40,
    (1, 1, 65),
    (1, 1, 1, 1),
    (),
    "8",
    None,
    2.0,
)
_EXTENTS += ((2, -1), (4, 0), [2, 2], np.int32(3), np.array([2, 1]), True, (1024, 1, 1), (64, 64), (1, 65536))
_SHARED: tuple[Any, ...] = (
    0,
    4,
    64,
    1000,
    49152,
    49153,
    232448,
    232449,
    1 << 31,
    -1,
    1.5,
    None,
    np.int64(64),
)


def attempt(number: int) -> str:
    """Launch, and see what has become of the guard zones; how it ended.

    Most launches are tame but for their indices, so that the kernel itself is what does wrong.
    """
    rng = random.Random(number)
    tame = rng.random() < 0.7
    buffers = [Guarded(rng, tame) for _ in range(2)]
    chosen = rng.choice(_kernels())
    args = _arguments(chosen, buffers, rng, tame)
    grid, block = rng.choice(_EXTENTS), rng.choice(_EXTENTS)
    if tame or rng.random() < 0.6:
        grid, block = rng.choice((1, 2, 5, (2, 2), 40)), rng.choice((1, 31, 32, 33, (8, 4), (4, 4, 3), 128))
    shared: Any = rng.choice(_SHARED) if not tame and rng.random() < 0.5 else 64
    ended = "run"
    try:
        with engine_mode(rng.choice(CPU_ENGINES)):
            wg.run(chosen, grid, block, args, shared=shared, device="cpu", timeout=1)
    except WarpglassError as error:
        ended = type(error).__name__
        if not str(error).strip():
            raise AssertionError("an error without words") from error
    finally:
        lab.reset("cpu")
    for position, buffer in enumerate(buffers):
        if not buffer.is_intact():
            raise AssertionError(f"buffer {position} was written outside the array, or although read-only")
    return ended


def _arguments(chosen: wg.Kernel, buffers: list[Guarded], rng: random.Random, tame: bool) -> list[Any]:
    compiled = chosen.compile(())
    if compiled.arguments is None:
        wanted = ["array", "array", "number", "number", "number", "float"]
    else:
        wanted = ["number" if argument.ndim == 0 else "array" for argument in compiled.arguments]
    shared = rng.random() < 0.25  # overlapping views of one buffer
    args: list[Any] = []
    for kind in wanted:
        if not tame and rng.random() < 0.08:
            args.append(rng.choice(_ODD))
        elif kind == "array":
            args.append(buffers[0 if shared else len(args) % 2].view())
        elif kind == "float":
            args.append(1.5 if tame else rng.choice((1.5, 0, -1e40, np.float32(2))))
        elif tame and len(args) == 2:  # n, or a number of 32 bits of a Python kernel
            args.append(rng.randrange(200))
        else:
            small = rng.randrange(-8, 200) if rng.random() < 0.6 else rng.choice(_NUMBERS)
            wild = small if rng.random() < 0.9 else rng.randrange(-(1 << 64), 1 << 64)
            args.append(max(-(1 << 63), min(wild, (1 << 63) - 1)) if tame else wild)
    if not tame and rng.random() < 0.06:
        args = args[: rng.randrange(len(args))] if rng.random() < 0.5 else [*args, 1]
    return args
