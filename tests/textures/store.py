"""What is kept of a device's answers: `python -m tests.textures.store answers.npz`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from . import questions, surfaces

STORED = Path(__file__).parents[1] / "cases" / "textures.npz"
_ROWS = 128


def kept_of(answer: Any) -> Any:
    """Some rows of an answer, evenly spread."""
    return np.ascontiguousarray(answer[:: -(-len(answer) // _ROWS)])


def store(path: str) -> None:
    """Keep of all answers of a file what tests compare."""
    with np.load(path) as answers:
        names = [f"texture/{one.name}" for one in questions.all_cases()]
        names += [f"{part}/{one.name}" for one in surfaces.all_surfaces() for part in ("surface", "after")]
        np.savez_compressed(
            STORED, **{name: kept_of(answers[name]) for name in names if name in answers.files}
        )


if __name__ == "__main__":
    store(sys.argv[1])
