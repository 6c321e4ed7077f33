"""The multifunction unit for every argument there is: hardware against a model, both in CUDA C++."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from tests.isa.multifunction_unit import TABLES

_SOURCE = Path(__file__).with_name("interpolator.cu")
_BLOCK, _GRID = 256, 4096


def _text() -> str:
    def rows(found: re.Match[str]) -> str:
        name, table = found[1], TABLES[found[1]]
        listed = ", ".join(
            f"{{{(c0 << table['step']) + table['bias']}ll, {c1}ll, {c2}ll}}" for c0, c1, c2 in table["rows"]
        )
        return f"__constant__ i64 {name}_rows[{len(table['rows'])}][3] = {{{listed}}};"

    return re.sub(r"^TABLE\((\w+)\)$", rows, _SOURCE.read_text("utf-8"), flags=re.MULTILINE)


_NAMES = re.findall(r"^COMPARE\((\w+),", _SOURCE.read_text("utf-8"), re.MULTILINE)


def _wrong(name: str, device: str, first: int, grid: int, rounds: int) -> tuple[int, int]:
    wrong = np.zeros(2, np.uint32)
    kernel = wg.compile(_text(), name, language="cuda")
    wg.run(kernel, grid, _BLOCK, (first, rounds, wrong), device=device)
    return int(wrong[0]), int(wrong[1])


@pytest.mark.gpu
@pytest.mark.parametrize("name", _NAMES)
def test_hardware_is_the_model_for_every_argument(name: str):
    count, last = _wrong(name, "gpu", 0, _GRID, (1 << 32) // (_GRID * _BLOCK))
    assert count == 0, f"{count} arguments, {last:#010x} among them"


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("first", [0x3F7FF800, 0x42FBF800, 0x7F7FF800, 0xC2FFF800, 0xFF7FFF00])
@pytest.mark.sampled(quick=30, ci=12)
def test_engine_is_the_model_around_some_arguments(name: str, first: int):
    count, last = _wrong(name, "cpu", first, 4, 2)
    assert count == 0, f"{count} arguments, {last:#010x} among them"
