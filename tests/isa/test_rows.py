"""Rows that compute something, against their oracles, with operands of every kind.

The reference implementation, to which all operands are alike, is compared in test_stored_answers.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import run_ptx
from warpglass.isa.table import ROWS

from .assemble import BLOCK, GRID, Assembly, assemble, mismatches
from .forms import Form, kernels_of

_GROUPS = [
    pytest.param(forms, id=f"{row.pattern.text.split()[0]}-{key}")
    for rows in ROWS.values()
    for row in rows
    for key, forms in kernels_of(row)
]


@pytest.mark.sampled(quick=12, ci=8)
@pytest.mark.parametrize("forms", _GROUPS)
def test_row_computes_what_its_oracle_says(forms: list[Form]):
    built = assemble(forms)
    _check(built, _run(built, "kinds"))


@pytest.mark.gpu
@pytest.mark.parametrize("forms", _GROUPS)
def test_oracle_says_what_a_gpu_does(forms: list[Form]):
    built = assemble(forms)
    _check(built, _run(built, "gpu"))


def _run(built: Assembly, engine: str) -> np.ndarray:
    arrays = built.arrays()
    run_ptx(built.text(), GRID, BLOCK, arrays, engine=engine)
    return arrays[-1]


def _check(built: Assembly, output: np.ndarray) -> None:
    wrong = mismatches(built, output)
    assert not wrong, "\n".join([f"{len(wrong)} of {len(built.slots)} slots are wrong", *wrong[:8]])
