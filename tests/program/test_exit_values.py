"""Counters that lanes leave loops with: scalars in the loop, and each lane keeps what it left with."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.engines import run_ptx
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, Promises, grid_class
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.prepared import Prepared, prepare
from warpglass.program import keep_counters
from warpglass.source.compiled import Compiled

BLOCK, GRID, WORDS = 64, 2, 1 << 10
THREADS = BLOCK * GRID
COUNTERS = 3

_PRELUDE = f"""
ld.param.u64 %rd1, [out]; ld.param.u64 %rd4, [data];
mov.u32 %r20, %tid.x; mov.u32 %r21, %ctaid.x; mad.lo.u32 %r22, %r21, {BLOCK}, %r20;
mul.wide.u32 %rd2, %r22, 4; add.u64 %rd3, %rd1, %rd2;
"""
# The place of the first word behind a thread's own that is large, if there is one among twelve.
_SEARCH = """
mov.u32 %r1, 0;
L: add.u32 %r2, %r22, %r1; mul.wide.u32 %rd5, %r2, 4; add.u64 %rd6, %rd4, %rd5; ld.global.u32 %r3, [%rd6];
setp.gt.u32 %p1, %r3, 200; @%p1 bra DONE;
add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 12; @%p2 bra L;
DONE: st.global.u32 [%rd3], %r1; ret;
"""


class _Writer:
    """Loops in loops whose counters are used in them, carried on, and stored at the end."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.labels = 0

    def text(self) -> str:
        starts = [f"mov.u32 %r{k}, {self.rng.choice(('%r20', '%r21', k))};" for k in range(COUNTERS)]
        self.lines += [*starts, "mov.u32 %r10, 0;"]
        for _ in range(2):
            self.loop(2)
        stores = [f"st.global.u32 [%rd3+{4 * THREADS * k}], %r{k};" for k in range(COUNTERS)]
        stores += [f"st.global.u32 [%rd3+{4 * THREADS * COUNTERS}], %r10;", "ret;"]
        return kernel(_PRELUDE + "\n".join([*self.lines, *stores]), "u64 out, u64 data")

    def loop(self, depth: int) -> None:
        self.labels += 1
        label, done, fuel = f"L{self.labels}", f"Q{self.labels}", f"%r{30 + self.labels}"
        self.lines += [f"mov.u32 {fuel}, 0;", f"{label}:"]
        for _ in range(self.rng.randint(2, 4)):
            choices = [self.count, self.count, self.use, lambda: self.leave(done)]
            choices += [lambda: self.loop(depth - 1), self.branch] if depth else []
            self.rng.choice(choices)()
        trips = self.rng.choice(("9", "7", "%r21"))
        self.lines.append(f"add.u32 {fuel}, {fuel}, 1; setp.lt.u32 %p1, {fuel}, {trips}; @%p1 bra {label};")
        self.lines.append(f"{done}:")
        if self.rng.random() < 0.5:
            self.lines.append(f"add.u32 %r10, %r10, {fuel};")

    def counter(self) -> str:
        return f"%r{self.rng.randrange(COUNTERS)}"

    def count(self) -> None:
        one = self.counter()
        self.lines.append(f"add.u32 {one}, {one}, {self.rng.choice(('1', '3', '%r21'))};")

    def use(self) -> None:
        """Load by a counter, and add that up."""
        self.lines += [
            f"add.u32 %r11, {self.counter()}, {self.rng.choice(('%r22', '0'))};",
            f"and.b32 %r11, %r11, {WORDS - 1};",
            "mul.wide.u32 %rd5, %r11, 4; add.u64 %rd6, %rd4, %rd5; ld.global.u32 %r12, [%rd6];",
            "mad.lo.u32 %r10, %r10, 5, %r12;",
        ]

    def leave(self, done: str) -> None:
        self.use()
        self.lines.append(f"setp.gt.u32 %p2, %r12, {self.rng.choice((150, 220))}; @%p2 bra {done};")

    def branch(self) -> None:
        self.labels += 1
        self.use()
        self.lines.append(f"setp.gt.u32 %p3, %r12, 99; @%p3 bra E{self.labels};")
        label = f"E{self.labels}:"
        self.count()
        self.lines.append(label)


def _prepared(text: str) -> Prepared:
    return prepare(Compiled(text, "k", "k", "ptx"))


def _results(text: str) -> list[np.ndarray]:
    data = np.random.default_rng(3).integers(0, 256, WORDS, np.uint32)
    results: list[np.ndarray] = []
    for engine in ("reference", "kinds"):
        out = np.zeros((COUNTERS + 1, THREADS), np.uint32)
        run_ptx(text, GRID, BLOCK, [out, data], engine=engine)
        results.append(out)
    return results


@pytest.mark.parametrize("seed", range(40))
def test_results_stay(seed: int) -> None:
    text = _Writer(seed).text()
    reference, fast = _results(text)
    assert np.array_equal(reference, fast), text


def test_counters_are_taken_apart() -> None:
    """Programs with such counters are what the test above is about."""
    programs = [_prepared(_Writer(seed).text()).program for seed in range(40)]
    changed = [len(keep_counters(one).registers) > len(one.registers) for one in programs]
    assert sum(changed) > 20


def test_a_search_counts_in_a_scalar() -> None:
    text = kernel(_PRELUDE + _SEARCH, "u64 out, u64 data")
    prepared = _prepared(text)
    version = with_kinds(
        prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, Promises(grid_class((GRID, 1, 1)))
    )
    kinds = version.inference.kinds
    (counter,) = (name for name in kinds if name.startswith("%r1."))
    assert kinds[counter].uniform
    assert kinds["%r1"].offsets is None
    assert kinds["%rd6"].offsets == tuple(range(0, 128, 4)), "the words lie side by side"
    reference, fast = _results(text)
    assert np.array_equal(reference, fast)


def test_a_program_without_such_loops_stays_itself() -> None:
    counted = "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L;"
    program = _prepared(kernel(_PRELUDE + counted + "st.global.u32 [%rd3], %r1; ret;", "u64 out, u64 data"))
    assert keep_counters(program.program) is program.program
