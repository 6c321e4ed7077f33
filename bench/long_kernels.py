"""How long kernels of many PTX instructions take to compile, and whether that grows in proportion.

    python bench/long_kernels.py [--instructions 5000 50000]

Three kinds of kernels: arithmetic in a row, the same with a branch every ten instructions, and with a load
and a store among ten. Wall seconds from PTX text to the first instruction of quick code that is nowhere yet;
the target is that of 5,000 instructions. Exits with 1 if it is missed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numpy as np

import warpglass as wg

os.environ["WARPGLASS_CACHE"] = ""
_TARGET = 2.0  # seconds for 5,000 instructions
_REGISTERS = 40
_HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
{{
.reg .pred %p<2>; .reg .b32 %r<{registers}>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [x]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
"""


def _arithmetic(at: int) -> list[str]:
    """Ten instructions."""
    a, b, c = (2 + (at * step) % (_REGISTERS - 2) for step in (3, 7, 11))
    return [
        f"add.u32 %r{a}, %r{b}, %r1;",
        f"mad.lo.u32 %r{b}, %r{a}, %r{c}, %r0;",
        f"xor.b32 %r{c}, %r{b}, {at};",
        f"shl.b32 %r{a}, %r{a}, 3;",
        f"max.s32 %r{b}, %r{b}, %r{a};",
        f"and.b32 %r{c}, %r{c}, %r{a};",
        f"sub.u32 %r{a}, %r{c}, %r{b};",
        f"popc.b32 %r{b}, %r{a};",
        f"or.b32 %r{c}, %r{c}, %r{b};",
        f"add.u32 %r{a}, %r{a}, %r{c};",
    ]


def _branches(at: int) -> list[str]:
    """Every tenth instruction is a branch that parts lanes."""
    body = _arithmetic(at)
    body[0] = f"setp.gt.s32 %p1, %r{2 + at % (_REGISTERS - 2)}, %r1;"
    return [body[0], f"@%p1 bra L{at};", *body[2:], f"L{at}:"]


def _accesses(at: int) -> list[str]:
    """Two of ten access memory."""
    body = _arithmetic(at)
    register = 2 + at % (_REGISTERS - 2)
    return [
        f"ld.global.u32 %r{register}, [%rd3+{at % 64 * 128}];",
        *body[1:9],
        f"st.global.u32 [%rd3+{at % 64 * 128}], %r{register};",
    ]


def text_of(ten: Callable[[int], list[str]], instructions: int) -> str:
    """A kernel of so many instructions, the ten of each place `at` one after the other."""
    lines = [line for at in range(instructions // 10) for line in ten(at)]
    sums = [f"add.u32 %r1, %r1, %r{k};" for k in range(2, _REGISTERS)]
    start = [f"mov.u32 %r{k}, {k};" for k in range(2, _REGISTERS)]
    body = [*start, *lines, *sums, "st.global.u32 [%rd3], %r1;", "ret;", "}"]
    return _HEAD.format(registers=_REGISTERS) + "\n".join(body) + "\n"


def seconds_to_first(text: str) -> float:
    """Seconds from a text to the end of a small launch."""
    x = np.ones(1 << 14, np.uint32)
    started = time.perf_counter()
    ran = wg.run(wg.compile(text, "k", language="ptx"), 1, 64, (x, 5), device="cpu", timeout=600.0)
    return time.perf_counter() - started - ran.seconds


def main() -> None:
    """Compile and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--instructions", type=int, nargs="+", default=[5000, 50000])
    counts = parser.parse_args().instructions
    seconds_to_first(text_of(_arithmetic, 100))  # what the first kernel of a process takes besides
    missed = False
    for name, ten in (("arithmetic", _arithmetic), ("branches", _branches), ("accesses", _accesses)):
        took = [seconds_to_first(text_of(ten, count)) for count in counts]
        parts = [f"{count} in {one:.2f} s" for count, one in zip(counts, took, strict=True)]
        slow = any(count <= 5000 and one > _TARGET for count, one in zip(counts, took, strict=True))
        missed |= slow
        growth = took[-1] / took[0] / (counts[-1] / counts[0])
        print(f"{name:12}" + ", ".join(parts) + f"; {growth:.2f} of proportion" + "   MISSED" * slow)
    if missed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
