"""What became of a program: the words for a result of run.py, and the page of all of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PASSED, ENDED, LESS = "passed its own check", "ended well, checks nothing", "did not pass"
_WAIVED = 2  # the status by which cuda-samples waive
_TIMED_OUT = (124, 152, -24)  # ours, and SIGXCPU as a status and as a signal
_NOT_BUILT = 3
_COMPILER = re.compile(r"^.*\berror\b.*$", re.MULTILINE)
_STOPPED = re.compile(r"\((?:cudaError\w+)\)|\(cuda\w+\b")


def outcome(row: Mapping[str, Any]) -> tuple[str, str]:
    """What became of a program, of a few kinds, and the reason where it did not pass."""
    status, said = row["status"], row.get("said", "")
    if status is None:
        return "not run", f"needs {', '.join(row['needs'])}"
    if status in _TIMED_OUT:
        return LESS, "takes too long"
    if status == _WAIVED and not said:
        return "not run", "waives itself"
    if status == _NOT_BUILT and "was not built" in said:
        found = _COMPILER.search(row["tail"])
        return LESS, f"not built: {found[0].strip()[:160] if found else said}"
    if status or (_STOPPED.search(said) and row["check"] != "passed"):  # some provoke errors
        return LESS, said or f"status {status}"
    if row["check"] == "failed":
        return LESS, "says so itself"
    return (PASSED if row["check"].startswith("passed") else ENDED), ""


def table(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """A line for each result, and how many there are of each kind."""
    kinds: Counter[str] = Counter()
    for name, row in sorted(rows.items()):
        kind, reason = outcome(row)
        kinds[kind] += 1
        yield f"{name:40} {kind:28} {row.get('seconds', ''):>6} {reason[:120]}"
    for kind, count in kinds.most_common():
        yield f"{count:4} {kind}"


def page(rows: Mapping[str, Mapping[str, Any]], title: str, intro: str) -> Iterator[str]:
    """The same as a page in Markdown: how many, the reasons, and all commands that worked."""
    found = {name: outcome(row) for name, row in sorted(rows.items())}
    kinds = Counter(kind for kind, _ in found.values())
    yield from (f"# {title}", "", *intro.splitlines(), "", "| | programs |", "|---|---|")
    yield from (f"| {kind} | {count} |" for kind, count in kinds.most_common())
    yield from ("", "## Programs that ran", "", "| program | | arguments |", "|---|---|---|")
    for name, (kind, _) in found.items():
        if kind in (PASSED, ENDED):
            yield f"| {name} | {kind} | `{_arguments(rows[name])}` |"
    yield from ("", "## The others", "", "| program | | why |", "|---|---|---|")
    for name, (kind, reason) in found.items():
        if kind not in (PASSED, ENDED):
            yield f"| {name} | {kind} | {_short(reason)} |"


def _arguments(row: Mapping[str, Any]) -> str:
    return row["command"].partition(" -- ")[2].strip() or " "


def _short(reason: str) -> str:
    """A reason without the folders of files, and without what a table takes for its own."""
    return re.sub(r"(?:/[\w.+-]+)+/(?=[\w.+-]+:\d)", "", reason).replace("|", "\\|")


def newest(results: Path) -> dict[str, dict[str, Any]]:
    """The newest result of each program."""
    return {row["name"]: row for row in map(json.loads, results.read_text().splitlines())}
