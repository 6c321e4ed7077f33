"""Ask a device everything: `python -m tests.textures.measure answers.npz` writes what it answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from . import cases, questions, refusals, surfaces
from . import driver as d


def measure(wanted: str = "") -> tuple[dict[str, Any], dict[str, str]]:
    """Answers by case, and what failed; only of cases whose name contains `wanted`."""
    answers: dict[str, Any] = {}
    failures: dict[str, str] = {}
    for case in questions.all_cases():
        if wanted in case.name:
            try:
                answers[f"texture/{case.name}"] = cases.ask(case)
            except d.DriverError as error:
                failures[f"texture/{case.name}"] = repr(error)
                d.start_again()
    for surface in surfaces.all_surfaces():
        if wanted in surface.name:
            try:
                answers[f"surface/{surface.name}"], answers[f"after/{surface.name}"] = surfaces.ask(surface)
            except d.DriverError as error:
                failures[f"surface/{surface.name}"] = repr(error)
                d.start_again()
    return answers, failures


if __name__ == "__main__":
    answers, failures = measure(*sys.argv[2:])
    np.savez_compressed(sys.argv[1], **answers)
    failed = Path(sys.argv[1]).with_suffix(".json")
    failed.write_text(json.dumps(failures, indent=1))
    failed.write_text(json.dumps(failures | refusals.statuses(), indent=1))
    sys.stdout.write(f"{len(answers)} answers, {len(failures)} failures\n")
