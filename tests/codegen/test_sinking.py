"""What is computed early and used behind a test is computed there, and the test says what it can be."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, lt, ne
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.path_bounds.analysis import bound_by_paths
from warpglass.engine.cpu import tiers
from warpglass.engine.cpu.prepared import Prepared, prepare
from warpglass.program import Program, sink
from warpglass.source.compiled import Compiled

cuda: Any = pytest.importorskip("numba_cuda_mlir.cuda")  # installed wherever CUDA C++ compiles, too

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;"
OFTEN = "mov.u32 %r9, 0;\nLOOP:\n{}\nadd.s32 %r9, %r9, 1; setp.lt.s32 %p8, %r9, 5;\n@%p8 bra LOOP;"


def prepared(body: str) -> Prepared:
    text = f"{HEAD}.visible .entry k(.param .u32 n) {{ {REGISTERS} ld.param.u32 %r0, [n]; {body} ret; }}"
    return prepare(Compiled(text, "k", "k", "ptx"))


def blocks_that_write(program: Program, register: str) -> list[int]:
    return [k for k, block in enumerate(program.blocks) for step in block.steps if register in step.writes]


def bounds(body: str, register: str) -> list[tuple[int, int] | None]:
    """The bounds of all writes of a register, once what can be is computed where it is needed."""
    made = prepared(body)
    promises = Promises((4, 1, 1), {0: 100}, exact=True)
    program = bound_by_paths(sink(made.program), BlockShape((32, 1, 1)), promises, made.symbols)
    return [s.bounds.get(register) for block in program.blocks for s in block.steps if register in s.writes]


# numba's x[c - 2] behind a test that it is none of the negative indices.
NEIGHBOUR = """
  mov.u32 %r1, %tid.x;
  cvt.s64.s32 %rd1, %r1;
  add.s64 %rd2, %rd1, -2;
  setp.lt.s32 %p1, %r1, 2;
  selp.b64 %rd3, 100, 0, %p1;
  add.s64 %rd4, %rd3, %rd2;
""" + OFTEN.format("""
  setp.lt.s64 %p2, %rd2, {limit};
  @%p2 bra NEXT;
  mul.lo.s64 %rd5, %rd4, 8;
  st.shared.u64 [%rd5], %rd5;
NEXT:
""")


def test_a_test_decides_what_was_computed_before_it() -> None:
    assert bounds(NEIGHBOUR.format(limit=0), "%p1") == [(0, 0)]
    assert bounds(NEIGHBOUR.format(limit=0), "%rd4") == [(0, 29)]
    assert bounds(NEIGHBOUR.format(limit=-1), "%p1") == [None]


CHAIN = "setp.lt.s32 %p1, %r1, 2; selp.b32 %r3, %r1, 7, %p1; {}"
USE = OFTEN.format("setp.eq.s32 %p2, %r9, 3;\n@%p2 bra NEXT;\n{}st.shared.u32 [%r3], %r9;\nNEXT:\n{}")


@pytest.mark.parametrize(
    ("before", "inside", "behind", "moves"),
    [
        ("", "", "", True),
        ("", "", "add.s32 %r4, %r3, 1; st.shared.u32 [0], %r4;", False),  # another block reads it
        ("", "add.s32 %r1, %r1, 1; ", "", False),  # what it is made of has changed by then
        ("@%p1 mov.u32 %r3, 5;", "", "", False),  # two instructions write it
        ("", "", "mov.u32 %r1, 3;", False),
    ],
)
def test_what_moves(before: str, inside: str, behind: str, *, moves: bool) -> None:
    program = prepared("mov.u32 %r1, %tid.x;" + CHAIN.format(before) + USE.format(inside, behind)).program
    places = [blocks_that_write(one, "%r3")[0] for one in (program, sink(program))]
    assert places[0] == 0
    assert (places[1] > 0) == moves


@pytest.mark.parametrize(
    "chain",
    [
        "setp.lt.s32 %p1, %r1, 2; @%p1 mov.u32 %r3, 9;",  # may leave what was there
        "setp.lt.s32 %p1, %r1, 2; selp.b32 %r2, %r1, 7, %p1; div.s32 %r3, %r0, %r2;",  # takes long
        "setp.lt.s32 %p1, %r1, 2; selp.b32 %r3, %clock, 7, %p1;",  # is another number later
        "mul.lo.s32 %r3, %r1, 5;",  # no test has a bearing on it
    ],
)
def test_what_stays(chain: str) -> None:
    program = prepared(f"mov.u32 %r1, %tid.x; {chain}" + USE.format("", "")).program
    assert blocks_that_write(sink(program), "%r3") == [0]


COMPARISONS: dict[str, Callable[[int, int], bool]] = {"lt": lt, "ge": ge, "eq": eq, "ne": ne}


@pytest.mark.parametrize("extend", ["s64.s32", "u64.u32"])
@pytest.mark.parametrize("distance", [-3, 0, 1 << 40])
def test_bounds_hold_of_what_was_extended(extend: str, distance: int) -> None:
    """A test of an extended value says of its source, and the other way round, no more than is so."""
    for offset in (-7, -(1 << 31) + 3):
        for comparison, holds in COMPARISONS.items():
            for limit in (-3, 5):
                body = f"mov.u32 %r1, %tid.x; add.s32 %r1, %r1, {offset}; cvt.{extend} %rd1, %r1;"
                body += f"add.s64 %rd2, %rd1, {distance};"
                inside = "add.s32 %r3, %r1, 0; add.s64 %rd3, %rd2, 0; setp.lt.s64 %p3, %rd3, %rd1;"
                inside += "setp.lt.s32 %p4, %r3, %r1;"
                source = [tid + offset for tid in range(32)]
                wide = [x if extend[0] == "s" else x % (1 << 32) for x in source]
                far = [x + distance for x in wide]
                for name, values in (("s64 %p1, %rd2", far), ("s32 %p1, %r1", source)):
                    end = limit + (distance if "rd2" in name else 0)
                    test = f"setp.{comparison}.{name}, {end};\n@!%p1 bra NEXT;\n{inside}\nNEXT:"
                    for register, all_ in (("%r3", source), ("%rd3", far)):
                        found = bounds(body + OFTEN.format(test), register)
                        seen = [x for x, tested in zip(all_, values, strict=True) if holds(tested, end)]
                        if not found:  # no path leads there
                            assert not seen, test
                        elif found[0] is not None and seen:
                            assert found[0][0] <= min(seen), test
                            assert max(seen) <= found[0][1], test


def neighbours(out, x, rows, columns, reach):  # type: ignore[no-untyped-def]
    """Some neighbours behind a test, some that come from the other end, some of lanes that are apart."""
    column, row = cuda.grid(2)
    if row >= rows or column >= columns:
        return
    total = np.float32(0)
    for u in range(-2, 3):
        for v in range(-2, 3):
            r, c = row + u, column + v
            if r >= 0 and r < rows and c >= 0 and c < columns:
                total += x[r, c] * np.float32(u + 7 * v)
            elif c < reach:
                total -= x[row, c - reach]
    if (column + row) % 3 == 1:
        total += x[row, column - 1] - x[row - 1, column]
    out[row, column] = total


def launch(rows: int, x: np.ndarray, block: tuple[int, int]) -> np.ndarray:
    columns = x.shape[1]
    out = np.zeros((rows, columns), np.float32)
    grid = (-(-columns // block[0]), -(-rows // block[1]))
    integers = [np.int32(number) for number in (rows, columns, 1)]
    wg.run(wg.from_numba(neighbours), grid, block, (out, x, *integers), device="cpu")
    return out


def test_neighbours_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiers.VARIABLE, tiers.OPTIMISED)
    x = np.random.default_rng(3).random((5, 37), np.float32)
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        prepare.cache_clear()
        with engine_mode(engine):
            # The second launch makes the version whose paths are followed.
            results += [launch(5, x, (32, 2)) for _ in range(3)]
    assert results[0].all()
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_a_fault_behind_a_test_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The array has fewer rows than the kernel is told."""
    monkeypatch.setenv(tiers.VARIABLE, tiers.OPTIMISED)
    messages: list[str] = []
    for engine in CPU_ENGINES:
        prepare.cache_clear()
        with engine_mode(engine):
            for _ in range(3):
                with pytest.raises(wg.KernelFault) as caught:
                    launch(6, np.ones((5, 37), np.float32), (32, 2))
                messages.append(str(caught.value))
                wg.reset("cpu")
    assert len(set(messages)) == 1, set(messages)
