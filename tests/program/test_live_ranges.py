"""Registers that loops go on with: the index that they begin with keeps its own, and nothing else changes."""

from __future__ import annotations

import random

import numpy as np
import pytest

import warpglass as wg
from tests.engines import run_ptx
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, Promises, grid_class
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.prepared import Prepared, prepare
from warpglass.program import split_ranges
from warpglass.source.compiled import Compiled

BLOCK, GRID = 64, 2
THREADS = BLOCK * GRID
REGISTERS = 4

_PRELUDE = """
ld.param.u64 %rd1, [out]; mov.u32 %r20, %tid.x; mov.u32 %r21, %ctaid.x; mad.lo.u32 %r22, %r21, {block}, %r20;
mul.wide.u32 %rd2, %r22, 4; add.u64 %rd3, %rd1, %rd2;
"""
# Counts in the register of the thread's index, skips the loop where there is nothing to do, and another loop.
_COUNTING = """
mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 50; @%p1 bra DONE;
and.b32 %r2, %r1, 3; mul.lo.u32 %r5, %r1, 7; setp.eq.s32 %p2, %r2, 0; @%p2 bra NEXT;
A: add.u32 %r1, %r1, 64; add.u32 %r2, %r2, -1; setp.ne.s32 %p3, %r2, 0; @%p3 bra A;
NEXT: add.u32 %r5, %r5, %r1; setp.gt.u32 %p4, %r5, 900; @%p4 bra DONE;
B: add.u32 %r1, %r1, 100; add.u32 %r5, %r5, %r1; setp.lt.u32 %p5, %r1, 1000; @%p5 bra B;
DONE: st.global.u32 [%rd3], %r5; ret;
"""


class _Writer:
    """A kernel of few registers, so that each is used for much: loops, branches and guarded writes."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.labels = 0
        self.depth = 0

    def register(self) -> str:
        return f"%r{self.rng.randrange(REGISTERS)}"

    def source(self) -> str:
        return self.rng.choice((self.register(), self.register(), "%r20", str(self.rng.randint(-9, 99))))

    def text(self) -> str:
        starts = "".join(
            f"mov.u32 %r{k}, {self.rng.choice(('%r20', '%r21', k))};\n" for k in range(REGISTERS)
        )
        self.statements(self.rng.randint(3, 6))
        stores = "".join(f"st.global.u32 [%rd3+{4 * THREADS * k}], %r{k};\n" for k in range(REGISTERS))
        body = _PRELUDE.format(block=BLOCK) + starts + "\n".join(self.lines) + "\n" + stores + "ret;"
        return kernel(body, "u64 out")

    def statements(self, count: int) -> None:
        for _ in range(count):
            choices = [self.assign, self.assign, self.assign, self.guarded]
            choices += [self.loop, self.branch, self.loop] if self.depth < 3 else []
            self.rng.choice(choices)()

    def assign(self) -> None:
        operation = self.rng.choice(("add.u32", "sub.u32", "xor.b32", "and.b32", "mul.lo.u32"))
        self.lines.append(f"{operation} {self.register()}, {self.register()}, {self.source()};")

    def guarded(self) -> None:
        self.test("%p9")
        self.lines.append(f"@%p9 add.u32 {self.register()}, {self.register()}, {self.source()};")

    def test(self, predicate: str) -> None:
        comparison = self.rng.choice(("lt.s32", "eq.u32", "gt.u32"))
        self.lines.append(f"setp.{comparison} {predicate}, {self.register()}, {self.source()};")

    def branch(self) -> None:
        self.labels += 1
        other, done = f"E{self.labels}", f"D{self.labels}"
        self.test("%p8")
        self.lines.append(f"@%p8 bra {other};")
        self.inside()
        self.lines += [f"bra {done};", f"{other}:"]
        self.inside()
        self.lines.append(f"{done}:")

    def loop(self) -> None:
        self.labels += 1
        counter, label, done = f"%r{30 + self.labels}", f"L{self.labels}", f"Q{self.labels}"
        trips = self.rng.choice(("%r20", self.register(), "5"))
        self.lines += [f"and.b32 {counter}, {trips}, 7;", f"{label}:"]
        self.inside()
        if self.rng.random() < 0.3:
            self.test("%p7")
            self.lines.append(f"@%p7 bra {done};")
        self.lines += [
            f"add.u32 {counter}, {counter}, -1; setp.gt.s32 %p6, {counter}, 0; @%p6 bra {label};",
            f"{done}:",
        ]

    def inside(self) -> None:
        self.depth += 1
        self.statements(self.rng.randint(1, 3))
        self.depth -= 1


def _prepared(text: str) -> Prepared:
    return prepare(Compiled(text, "k", "k", "ptx"))


@pytest.mark.parametrize("seed", range(30))
def test_results_stay(seed: int) -> None:
    text = _Writer(seed).text()
    results: list[np.ndarray] = []
    for engine in ("reference", "kinds"):
        out = np.zeros((REGISTERS, THREADS), np.uint32)
        run_ptx(text, GRID, BLOCK, [out], engine=engine)
        results.append(out)
    assert np.array_equal(results[0], results[1]), text


def test_registers_are_taken_apart() -> None:
    """Programs of few registers are what the test above is about."""
    programs = [_prepared(_Writer(seed).text()).program for seed in range(30)]
    changed = [len(split_ranges(one).registers) > len(one.registers) for one in programs]
    assert sum(changed) > 10


def test_an_index_keeps_its_form() -> None:
    text = kernel(_PRELUDE.format(block=BLOCK) + _COUNTING, "u64 out")
    prepared = _prepared(text)
    version = with_kinds(
        prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, Promises(grid_class((GRID, 1, 1)))
    )
    kinds = version.inference.kinds
    assert kinds["%r1"].offsets == tuple(range(32))
    assert any(name.startswith("%r1.") and kind.offsets is None for name, kind in kinds.items())
    results: list[np.ndarray] = []
    for engine in ("reference", "kinds"):
        out = np.zeros(THREADS, np.uint32)
        run_ptx(text, GRID, BLOCK, [out], engine=engine)
        results.append(out)
    assert np.array_equal(results[0], results[1])


def test_a_program_without_such_loops_stays_itself() -> None:
    program = prepare(
        wg.compile('extern "C" __global__ void k(int* x) { x[threadIdx.x]++; }', "k").compile()
    ).program
    assert split_ranges(program) is program
