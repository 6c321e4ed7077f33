"""Writes docs/cuda-samples.md: which of NVIDIA's cuda-samples run, and why the others do not.

    python bench/programs/run.py samples FOLDER --to results.jsonl
    python bench/programs/page.py results.jsonl [more.jsonl ...]

The newest result of a sample counts.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "cuda-samples.md"
_HEAD = """# NVIDIA's cuda-samples

Written by `bench/programs/page.py` from what `bench/programs/run.py samples` has found. Each sample is built
from what its own build file names, run once by `warpglass run` on a machine without GPU, and judged by its
own check, whose verdict is its exit status.

**{passed} of {able} samples that need nothing else end with their own check passed.** {apart} others need
what warpglass does not offer.
"""
_FAILED = re.compile(r"\b(?:FAILED|Test failed|Result = FAIL)\b")
_WAIVED, _TIMED_OUT = 2, (124, 152)  # ours, and the limit of processor time
Row = Mapping[str, Any]


def page(results: Sequence[Row]) -> str:
    """The page for the newest results of all samples."""
    rows = {row["name"]: row for row in results}
    ordered = [rows[name] for name in sorted(rows, key=str.lower)]
    apart = [row for row in ordered if row["status"] is None and row["needs"]]
    later = [row["name"] for row in ordered if row["status"] is None and not row["needs"]]
    able = [row for row in ordered if row["status"] is not None]
    passed = [row for row in able if _passed(row)]
    parts = [
        _HEAD.format(passed=len(passed), able=len(able), apart=len(apart)),
        f"## Passed\n\n{_wrapped(row['name'] for row in passed)}",
        "## Not passed\n\n" + _table((row["name"], _reason(row)) for row in able if not _passed(row)),
        *([f"## Without a result yet\n\n{_wrapped(later)}"] if later else []),
        "## What others need\n\n" + _table((row["name"], ", ".join(row["needs"])) for row in apart),
    ]
    return "\n".join(parts) + "\n"


def _passed(row: Row) -> bool:
    return row["status"] == 0 and not _FAILED.search(row["tail"])


def _reason(row: Row) -> str:
    """What the sample or warpglass says, in a line."""
    lines = [line.strip() for line in row["tail"].splitlines() if line.strip()]
    said = row["said"] or (lines[-1] if lines else "nothing is said")
    if row["status"] in _TIMED_OUT:
        said = "did not end in its time"
    elif row["status"] == _WAIVED:
        said = f"waived by the sample: {said}"
    return said.replace("|", "\\|")[:160]


def _table(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {why} |" for name, why in rows)]) + "\n"


def _wrapped(names: Iterable[str]) -> str:
    lines, line = list[str](), ""
    for name in names:
        if len(line) + len(name) > 110:
            lines.append(line.rstrip())
            line = ""
        line += f"{name}, "
    return "\n".join([*lines, line.rstrip(", ")]) + "\n"


if __name__ == "__main__":
    found = [json.loads(line) for name in sys.argv[1:] for line in Path(name).read_text().splitlines()]
    PAGE.write_text(page(found), encoding="utf-8")
