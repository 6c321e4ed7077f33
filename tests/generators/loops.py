"""Random programs over one type of register: loads, steps, a loop that lanes leave at other times, stores.

A `LoopPrograms` says of which registers and steps. Both engines must leave the same bits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from warpglass.codegen import warp_fusion

THREADS = 96 - 7  # the last warp is in part


@dataclass(frozen=True, slots=True)
class LoopPrograms:
    """Programs over `count` registers `%x0`, ... of a type; each is loaded as one of `loads`.

    `step` makes a line or more of PTX. It may read %r2, the thread's number modulo 4, %rd3, 8 times `count`
    times that number, and %p1 and %p2, which hold in some lanes; %p4 and %rd4 are its own.
    """

    type: str
    count: int
    loads: tuple[str, ...]
    step: Callable[[random.Random], str]

    @property
    def head(self) -> str:
        """What a program begins with."""
        return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out)
{{
  .reg .pred %p<8>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .{self.type} %x<{self.count + 2}>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, {8 * self.count};
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  and.b32 %r2, %r1, 3;
  setp.eq.u32 %p1, %r2, 1;
  setp.gt.u32 %p2, %r1, 40;
"""

    def text(self, rng: random.Random, steps: tuple[int, int, int], leave: str = "") -> str:
        """A program with so many steps before, in and behind the loop; `leave` may clear %p3, to end it."""
        before, inside, behind = steps
        lines = [f"ld.global.{rng.choice(self.loads)} %x{k}, [%rd1+{8 * k}];" for k in range(self.count)]
        lines += [self.step(rng) for _ in range(before)]
        lines += ["add.u32 %r3, %r2, 1;", "again:"]
        lines += [self.step(rng) for _ in range(inside)]
        lines += ["sub.u32 %r3, %r3, 1;", "setp.ne.u32 %p3, %r3, 0;", leave, "@%p3 bra again;"]
        lines += [self.step(rng) for _ in range(behind)]
        lines += [f"st.global.{self.type} [%rd2+{8 * k}], %x{k};" for k in range(self.count)]
        return self.head + "\n".join(lines) + "\nret;\n}\n"


def vary(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Optimise every fourth program, have small code for another; run two warps of every third at a time."""
    monkeypatch.setenv("WARPGLASS_TIER", ("optimised", "quick", "small", "quick")[seed % 4])
    if seed % 3 == 2:
        monkeypatch.setattr(warp_fusion, "fused_shapes", lambda _, shape: (replace(shape, width=64),))
        monkeypatch.setattr(warp_fusion, "pays", lambda *_: True)


def bits_of_both(text: str, data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words of 64 bits that a program leaves on the reference engine and on the fast one."""
    reference, kinds = np.zeros_like(data), np.zeros_like(data)
    for engine, out in zip(CPU_ENGINES, (reference, kinds), strict=True):
        run_ptx(text, 1, THREADS, (data, out), engine=engine)
    return reference.view(np.uint64), kinds.view(np.uint64)
