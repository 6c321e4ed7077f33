"""Random launches under the checker and the profiler: on one thread and on several they report the same.

`attempt(number)` is what watched.py tries. Every third number is a kernel of this file's, whose blocks share
arrays: mostly each thread keeps to elements of its own, sometimes one strays into another block's, or looks
at what others have written first. The others are those of the other generators, one after the other: each of
their launches is checked and counted on copies of its arrays.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any
from unittest import mock

import numpy as np

import warpglass as wg
from tests.engines import worker_threads
from warpglass import lab
from warpglass.engine.cpu import experience
from warpglass.engine.launch.backend import Backend, Launch, Outcome
from warpglass.errors import WarpglassError
from warpglass.lab.check import examine
from warpglass.lab.profile import count

from . import private_programs

_OTHERS = ("divergent", "private", "ragged", "row", "local", "choosing", "block", "faulting")
_THREADS = 4
_HEAD = """
extern "C" __global__ void k(int* a, int* b, unsigned char* c, unsigned* d, const int* table, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, size = blockDim.x;
  int v = i;
"""
_OWN = ("i", "n - 1 - i", "i ^ 1", "table[i]", "i / size * size + (t + 1) % size", "i / size * size")
_ANY = ("(i + 1) % n", "i % 64", "i / 32", "i * 2 % n", "t", "blockIdx.x", "(i + size) % n", "v & 63")
_PLAIN = ("{x}[{j}] = v;", "v += {x}[{j}];", "{x}[{j}] += 3;", "if (t < 20) {x}[{j}] = t;")
_STRONG = (
    "atomicAdd(&d[{j}], 1u);",
    "v += atomicMax(&d[{j}], (unsigned)t);",
    "atomicAdd_block(&d[{j}], 1u);",
    "v += ((volatile unsigned*)d)[{j}];",
    "((volatile unsigned*)d)[{j}] = 7u;",
    "if (atomicAdd(&d[{j}], 1u) < 5u) v += 9;",
    "if (atomicAdd(&d[{j}], 1u) < 5u) a[i] = 9;",
)
_WAITS = (
    *("__syncthreads();", "__syncthreads();", "__syncthreads();", "__syncwarp();"),
    *("if (t % 32 < 9) __syncwarp(511);", 'asm volatile("bar.sync 2, 32;");', "__threadfence();"),
)
_SHARED = ("s[t] = v;", "v += s[t];", "v += s[(t + 1) % size];", "__syncthreads();")


def text_of(one: random.Random) -> str:
    """A kernel's source."""
    lines = [_HEAD]
    usual = {name: one.choice(_OWN) for name in "abc"} | {"d": one.choice((*_OWN, *_ANY))}
    stray = one.choice((0.0, 0.0, 0.1, 0.4))
    for _ in range(one.randrange(2, 10)):
        name = one.choice("abcds")
        index = one.choice((*_OWN, *_ANY)) if one.random() < stray else usual.get(name, "t")
        forms = _SHARED if name == "s" else _STRONG if name == "d" else _PLAIN
        lines.append(one.choice(forms).format(x=name, j=index))
        if one.random() < 0.3:
            lines.append(one.choice(_WAITS))
    return "\n".join([*lines, "if (v == 1 << 30) a[i] = v;", "}"])


def attempt(number: int) -> str:
    """Check and count the launches of a number."""
    tried = _Tried()
    always = mock.patch.object(experience, "_DIVIDED", -1.0)  # however soon such launches are over
    with lab.watching(tried.watch), always:
        if number % 3 == 0:
            _launch(random.Random(number))
        else:
            name = _OTHERS[number // 3 % len(_OTHERS)]
            if name == "private" and private_programs.Writer(number).races:
                return "races"  # several threads may leave something else than one
            import_module(f"tests.fuzz.{name}_programs").attempt(number)
    return "findings" if tried.found else "clean" if tried.launches else "nothing launched"


def _launch(one: random.Random) -> None:
    block, blocks = one.choice((32, 64, 96, 256)), one.choice((4, 7, 16, 40))
    n = block * blocks
    rng = np.random.default_rng(one.randrange(1 << 30))
    table = rng.permutation(n).astype(np.int32)
    if one.random() < 0.2:
        table[: n // 2] = table[n // 2 : n // 2 * 2]
    args = [
        rng.integers(0, 9, n, np.int32),
        np.zeros(n - (n // 3 if one.random() < 0.1 else 0), np.int32),
        np.zeros(n, np.uint8),
        np.zeros(n, np.uint32),
    ]
    kernel = wg.compile(text_of(one), "k", language="cuda")
    wg.run(kernel, blocks, block, (*args, table, np.int32(n)), device="cpu", timeout=60)


class _Tried:
    """A watcher that makes launches on one thread and on several."""

    def __init__(self) -> None:
        self.launches = self.found = 0

    def watch(self, _: Backend, launch: Launch) -> Outcome:
        """Compare what is reported; leave the arrays as one thread does, unless it may have stopped early."""
        one, several = (reported(launch, threads) for threads in (1, _THREADS))
        self.launches += 1
        self.found += bool(one[0].findings)
        assert one[0] == several[0], f"{one[0]}\nand\n{several[0]}\n{launch.compiled.ptx[-3000:]}"
        assert one[1] == several[1], f"{one[1]}\nand\n{several[1]}\n{launch.compiled.ptx[-3000:]}"
        if one[0].findings:  # where it does, engines and threads have come differently far
            return Outcome(0.0, "engine")
        for mine, theirs in zip(one[2], several[2], strict=True):
            np.testing.assert_array_equal(mine, theirs)
        for array, result in zip(_arrays(launch.args), one[2], strict=True):
            if array.flags.writeable:
                array[...] = result
        return Outcome(0.0, "engine")


def reported(launch: Launch, threads: int) -> tuple[wg.Check, Any, list[np.ndarray]]:
    """The check and the counters of a launch on so many threads, and what the check leaves in the arrays."""
    with worker_threads(threads):
        args = _copied(launch.args)
        checked = examine(replace(launch, args=args), "h100", ()).check
        try:
            profile = count(replace(launch, args=_copied(launch.args)), "h100")
            counted: Any = profile.counters, profile.metrics, profile.lines
        except WarpglassError as error:
            counted = type(error)
            wg.reset("cpu")
    return replace(checked, device=""), counted, _arrays(args)


def _copied(args: Sequence[object]) -> tuple[object, ...]:
    return tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)


def _arrays(args: Sequence[object]) -> list[np.ndarray]:
    return [arg for arg in args if isinstance(arg, np.ndarray)]
