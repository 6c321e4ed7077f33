"""Random PTX that loads and stores elements of structures: `attempt(number)` is what watched.py tries.

Every thread has a structure of its own in an array; structures lie side by side, or elements are padding or
reach into the next thread's. Loads, stores and steps between come in any order, through one parameter or
two that may be the same array, and some threads may not act or fall off the array's end. Warps run one by
one, as those that reach into the next one's structures race.
"""

from __future__ import annotations

import random
from unittest import mock

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, run_ptx
from warpglass.codegen import warp_fusion
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

_REGISTERS, _BLOCKS = 8, 3
_HEAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 one, .param .u64 other, .param .u32 n)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .b64 %x<{registers}>;
  ld.param.u64 %rd1, [one];
  ld.param.u64 %rd2, [other];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.s32 %rd3, %r5, {stride};
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  cvt.u64.u32 %x0, %r5;
"""


def text_of(number: int) -> tuple[str, int]:
    """A program, and the bytes of a structure."""
    one = random.Random(number)
    size = one.choice([1, 2, 4, 4, 4, 8])
    stride = size * one.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17])
    reach = stride + one.choice([0, 0, 0, size])
    lines = [_HEAD.format(registers=_REGISTERS, stride=stride)]
    lines += [f"mul.lo.u64 %x{k}, %x0, {2 * k + 40503};" for k in range(1, _REGISTERS)]
    for _ in range(one.randrange(4, 40)):
        target, a, b = (f"%x{one.randrange(_REGISTERS)}" for _ in range(3))
        kind = one.choice(["load", "store", "store", "step"])
        if kind == "step":
            lines.append(f"{one.choice(['add.s64', 'xor.b64', 'mul.lo.u64'])} {target}, {a}, {b};")
            continue
        own = size if one.random() < 0.8 else one.choice([1, 2, 4, 8])
        count = one.choice([1, 1, 1, 2, 4]) if own < 8 else one.choice([1, 1, 2])
        if count * own > max(reach, 1) or stride % (count * own):
            own, count = size, 1
        place = one.randrange(0, reach - own * count + 1, own * count)
        array = one.choice(["%rd4", "%rd4", "%rd4", "%rd5"])
        vector = f".v{count}" if count > 1 else ""
        names = [f"%x{k}" for k in one.sample(range(_REGISTERS), count)]
        listed = f"{{{', '.join(names)}}}" if count > 1 else names[0]
        at = f"[{array}+{place}]"
        if kind == "load":
            lines.append(f"ld.global{vector}.u{8 * own} {listed}, {at};")
        else:
            volatile = ".volatile" if one.random() < 0.03 else ""
            lines.append(f"st{volatile}.global{vector}.u{8 * own} {at}, {listed};")
    lines += [f"st.global.u64 [%rd5+{stride}], %x1;"] if stride % 8 == 0 and one.random() < 0.2 else []
    return "\n".join([*lines, "done:", "ret;", "}"]), stride


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault after the same stores."""
    text, stride = text_of(number)
    reference, fast = (_ending(number, text, stride, engine) for engine in CPU_ENGINES)
    assert reference == fast, f"{reference[0]} and {fast[0]}\n{text}"
    return "fault" if reference[0] else "agree"


def _ending(number: int, text: str, stride: int, engine: str) -> tuple[str, bytes, bytes]:
    one = np.random.default_rng(number)
    block = (64, 96, 256, 50)[number % 4]
    threads = _BLOCKS * block
    n = threads - int(one.choice([0, 0, 1, 37]))
    length = threads * stride + (16 if one.random() < 0.8 else 0)
    first, second = (one.integers(0, 256, length, np.uint8) for _ in range(2))
    if one.random() < 0.2:
        second = first
    said = ""
    with engine_mode(engine), mock.patch.object(warp_fusion, "pays", return_value=False):
        prepare.cache_clear()
        try:
            run_ptx(text, _BLOCKS, block, (first, second, np.int32(n)), engine=engine)
        except KernelFault as error:
            wg.reset("cpu")
            said = str(error)
    return said, first.tobytes(), second.tobytes()
