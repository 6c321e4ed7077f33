"""tex, tld4, txq, suld, sust, sured and suq, bit by bit, as an H100 answered (tests/cases/textures.npz).

`python -m tests.textures.measure answers.npz` asks a GPU, `python -m tests.textures.store answers.npz` keeps
some rows of each answer. Cases whose answers differ are listed with how much they may: no other may differ.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from . import questions, surfaces
from .store import STORED, kept_of

_ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.turns(3),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
]

# What is not the hardware's to the bit: cases, the share of their rows that differ at most, and by how much.
_DIFFERENCES: tuple[tuple[str, float, float], ...] = (
    ("texture/s8x?/linear", 0.05, 4e-5),  # signed bytes are mixed with one more step of rounding
    ("texture/sums/?d/s8", 0.25, 4e-5),
    ("texture/u8x4/srgb/linear", 1.0, 5e-3),
    ("texture/3d/*/linear", 0.03, 1e-6),  # eight texels are added in another order
    ("texture/sums/3d/f*", 0.03, 2e-3),
    ("texture/*cube/linear/seamless", 0.35, 20.0),  # mixes texels of neighbouring faces
    ("texture/mip/*/grad", 0.65, 20.0),  # the logarithm of a gradient is not the hardware's
    ("texture/mip/?d/bias", 0.3, 0.1),
    ("texture/mip/*", 0.06, 20.0),  # nor is the rounding of a level of detail
    ("after/sust.p.2d.*/f16x?", 0.02, 1.0),  # the bytes of NaN
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the engine answers, from a process that finds the virtual GPU."""
    path = tmp_path_factory.mktemp("textures") / "answers.npz"
    program = (
        "import sys; from warpglass.numba_device import activate; activate();"
        "import runpy; sys.argv = sys.argv[1:];"
        "runpy.run_module('tests.textures.measure', run_name='__main__')"
    )
    command = [sys.executable, "-c", program, "measure", str(path)]
    done = subprocess.run(
        command, cwd=_ROOT, env=dict(os.environ), capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    with np.load(path) as found:
        return {
            **{name: found[name] for name in found.files},
            **json.loads(path.with_suffix(".json").read_text()),
        }


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    """What the GPU answered."""
    with np.load(STORED) as found:
        return {name: found[name] for name in found.files}


@pytest.mark.least("ci")
def test_every_answer_is_the_hardwares(answers: dict[str, Any], stored: dict[str, Any]) -> None:
    wrong = [text for name in stored for text in _compare(name, answers.get(name), stored[name])]
    assert not wrong, "\n".join(wrong)


def test_nothing_is_asked_that_is_not_stored(stored: dict[str, Any]) -> None:
    asked = {f"texture/{one.name}" for one in questions.all_cases()}
    asked |= {f"{part}/{one.name}" for one in surfaces.all_surfaces() for part in ("surface", "after")}
    assert asked == set(stored)


def _compare(name: str, answer: Any, theirs: Any) -> list[str]:
    """What is wrong with an answer."""
    if answer is None:
        return [f"{name}: no answer"]
    ours = kept_of(answer)
    rows = (ours != theirs).reshape(len(theirs), -1).any(1)
    if not rows.any():
        return []
    allowed = [(share, size) for pattern, share, size in _DIFFERENCES if fnmatch(name, pattern)]
    if not allowed:
        return [f"{name}: {rows.sum()} of {len(rows)} rows differ"]
    share, size = allowed[0]
    found: list[str] = []
    if rows.mean() > share:
        found.append(f"{name}: {rows.mean():.1%} of the rows differ")
    if name.startswith("texture"):
        apart = np.abs(ours.view(np.float32).astype(float) - theirs.view(np.float32).astype(float))
        if np.nanmax(apart) > size:
            found.append(f"{name}: {np.nanmax(apart):g} apart")
    return found
