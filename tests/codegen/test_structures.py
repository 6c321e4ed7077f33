"""Arrays of structures: which accesses are one for several elements; results are the reference's."""

from __future__ import annotations

import pytest

from tests.fuzz import structure_programs
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.memory.merged_checks import merge_checks
from warpglass.codegen.memory.structures import Structure
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.prepared import prepare
from warpglass.source.compiled import Compiled

HEAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 one)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [one];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, STRIDE;
  add.s64 %rd3, %rd1, %rd2;
"""
# Three elements that are loaded.
LOADS = [f"ld.global.u32 %r{2 + k}, [%rd3+{4 * k}];" for k in range(3)]


def _structures(stride: int, lines: list[str]) -> list[tuple[int, ...]]:
    """Where elements lie that accesses share, from the lowest one on, in the order of the steps."""
    text = "\n".join([HEAD.replace("STRIDE", str(stride)), *lines, "ret;", "}"])
    prepared = prepare(Compiled(text, "k", "k", "ptx"))
    version = with_kinds(prepared.program, BlockShape((64, 1, 1)), prepared.symbols, Promises((1, 1, 1)))
    regions = merge_checks(version.program, version.inference.kinds)
    found: list[Structure] = [
        one for region in regions.values() for check in region.checks for one in check.structures
    ]
    return sorted(tuple(one.places.values()) for one in found)


def _store(*places: int) -> list[str]:
    return [f"st.global.u32 [%rd3+{place}], %r{2 + k % 3};" for k, place in enumerate(places)]


def test_which_accesses_share_a_run() -> None:
    assert _structures(12, LOADS + _store(0, 8, 4)) == [(0, 4, 8), (0, 8, 4)]
    assert _structures(20, LOADS + _store(0, 8)) == [(0, 4, 8), (0, 8)]
    assert _structures(128, LOADS + _store(0, 8)) == []  # far from each other


def test_stores_that_others_see_are_apart() -> None:
    fence = ["ld.global.u32 %r7, [%rd3+4];"]
    assert _structures(12, [*LOADS, *_store(0), *fence, *_store(4, 8)]) == [(0, 4), (0, 4, 8)]
    assert _structures(12, LOADS + _store(0, 0, 4)) == [(0, 4), (0, 4, 8)]
    assert _structures(8, LOADS[:2] + _store(0, 8, 4)) == [(0, 4), (4, 0)]  # into the next lane's
    volatile = [line.replace("st.", "st.volatile.") for line in _store(0, 4, 8)]
    assert _structures(12, LOADS + volatile) == [(0, 4, 8)]


def test_loads_behind_a_store_are_apart() -> None:
    lines = [*LOADS, *_store(0, 4, 8), *LOADS]
    assert _structures(12, lines) == [(0, 4, 8)] * 3


@pytest.mark.parametrize("number", range(24))
def test_random_structures(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_TIER", "optimised" if number % 3 == 0 else "quick")
    assert structure_programs.attempt(number) in ("agree", "fault")
