"""The corpus that judges the checker: pairs of kernels, one with a defect, one without (tests/cases/kernels).

Belongs here: reading the cases, running them under `check`, and the verdict on what was found. Those in the
folder `more` differ less from others; a test run takes a part of them. The command
`python -m tests.observe.corpus` prints a table of it; `--page` writes docs/reference/checker.md, with what
compute-sanitizer said of the same kernels (sanitizer.json, made by sanitize.py) beside it.

A file is one case. Its first line says what is wrong; `launch:` lines say how its kernel is launched, for
both twins or for one (`launch buggy:`). Arguments are written as on the command line, with `out:` and `all:`
for arrays that are written or read whole and `ro:` for those that must not be written. A C++ file is compiled
with BUGGY=1 and BUGGY=0 and has a kernel of the file's name; a Python file has functions `buggy` and `clean`.

Guilty lines end in `BUG: kind`, the other line of a race in `OTHER`. Where only the whole kernel is to blame
(elements that nobody writes), arrays follow the kind. `WARNING: kind` is what the clean twin may be warned
of.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import warpglass as wg
from warpglass.records.argument_text import make_arguments, parse_argument, parse_dimensions

CASES = Path(__file__).parent.parent / "cases" / "kernels"
MORE = CASES / "more"
TWINS = ("buggy", "clean")
_TOOLS = ("sanitize.py", "sanitize_launch.cu")  # what lies there and is no case
_MARK = re.compile(r"(BUG|WARNING): ([\w-]+)((?: \w+)*?)(?= WARNING:|$)")
_LAUNCH = re.compile(r"(?://|#) launch(?: (buggy|clean))?: (.*)")
_COMMA = re.compile(r",(?![^\[]*\])")  # outside brackets
_RACES = ("shared-race", "warp-race", "global-race")


@dataclass(frozen=True, slots=True)
class Shape:
    """How one twin is launched; `args` are texts with their marks."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[str, ...]
    shared: int = 0
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class Case:
    """A pair of kernels: what is wrong with one, where, and how both are launched."""

    file: Path
    sentence: str
    launches: dict[str, Shape]
    kind: str
    lines: frozenset[int]  # of the defect
    others: frozenset[int]  # second lines of races
    arrays: frozenset[str]
    warnings: frozenset[tuple[str, int]]

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.file.stem

    def load(self, twin: str) -> wg.Kernel:
        """One of the twins, compiled."""
        if self.file.suffix == ".py":
            return wg.load(self.file, twin)
        return wg.load(self.file, self.name, options=(f"-DBUGGY={int(twin == 'buggy')}",))

    def arguments(self, twin: str) -> list[Any]:
        """New arguments for a twin, marked."""
        texts = self.launches[twin].args
        parts = [text.partition(":") if text[:2] in ("ou", "al", "ro") else ("", "", text) for text in texts]
        made = make_arguments([parse_argument(text) for _, _, text in parts])
        marks = {"": lambda x: x, "out": wg.out, "all": wg.all_of, "ro": _read_only}
        return [marks[mark](value) for (mark, _, _), value in zip(parts, made, strict=True)]

    def run(self, twin: str, timeout: float = 5.0) -> None:
        """Run a twin without the checker."""
        shape = self.launches[twin]
        args = self.arguments(twin)
        wg.run(
            self.load(twin), shape.grid, shape.block, args, shared=shape.shared, device="cpu", timeout=timeout
        )

    def check(self, twin: str, schedules: int = 0) -> wg.Check:
        """Check a twin."""
        shape = self.launches[twin]
        return wg.check(
            self.load(twin),
            shape.grid,
            shape.block,
            self.arguments(twin),
            shared=shape.shared,
            timeout=shape.timeout,
            schedules=schedules,
        )


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@cache
def read_cases() -> dict[str, Case]:
    """All cases by name."""
    files = [path for folder in (CASES, MORE) for path in folder.iterdir() if path.suffix in (".cu", ".py")]
    files.sort(key=lambda path: path.stem)
    return {path.stem: read_case(path) for path in files if path.name not in _TOOLS}


def read_case(path: Path) -> Case:
    """The case in a file; raises ValueError for one without a sentence, a launch or a mark."""
    text = path.read_text("utf-8").splitlines()
    launches: dict[str, Shape] = {}
    kinds: set[str] = set()
    lines: set[int] = set()
    arrays: set[str] = set()
    warnings: set[tuple[str, int]] = set()
    for number, line in enumerate(text, start=1):
        if found := _LAUNCH.match(line):
            for twin in (found[1],) if found[1] else TWINS:
                launches[twin] = _shape(found[2])
        for what, kind, names in _MARK.findall(line):
            if what == "WARNING":
                warnings.add((kind, number))
            else:
                kinds.add(kind)
                lines.add(number)
                arrays.update(names.split())
    others = {number for number, line in enumerate(text, start=1) if line.rstrip().endswith(" OTHER")}
    sentence = text[0].lstrip("/# ")
    if not sentence.endswith(".") or set(launches) != set(TWINS) or len(kinds) != 1:
        raise ValueError(f"{path}: a case has a sentence, a launch for each twin and one kind of defect")
    return Case(
        path,
        sentence,
        launches,
        kinds.pop(),
        frozenset(lines),
        frozenset(others),
        frozenset(arrays),
        frozenset(warnings),
    )


def _shape(text: str) -> Shape:
    fields = dict(part.split("=", 1) for part in text.split(" "))
    return Shape(
        grid=parse_dimensions(fields["grid"]),
        block=parse_dimensions(fields["block"]),
        args=tuple(_COMMA.split(fields["args"])),
        shared=int(fields.get("shared", "0")),
        timeout=float(fields.get("timeout", "30")),
    )


# -------------------------------------------------------------------------------------------- verdicts
def judge(case: Case, twin: str, findings: Sequence[wg.Finding]) -> str:
    """The verdict on what was found: right, or missing, extra (something else is reported), or line."""
    if twin == "clean":
        bad = [f for f in findings if (f.kind, _line(f.source)) not in case.warnings or f.severity == "error"]
        return "extra" if bad else "right"
    wanted = [finding for finding in findings if finding.kind == case.kind]
    if not wanted:
        return "missing"
    if len(wanted) < len(findings):
        return "extra"
    return "right" if all(_placed(case, finding) for finding in wanted) else "line"


def _placed(case: Case, finding: wg.Finding) -> bool:
    """Whether a finding is at the marked lines, or about the marked arrays."""
    if case.arrays:
        return finding.array in case.arrays
    if finding.kind not in _RACES:
        return not case.lines.isdisjoint({_line(finding.source), _line(finding.other_source)})
    places = {_line(finding.source), _line(finding.other_source)}
    return places <= case.lines | case.others


def _line(place: Any) -> int:
    return place.line if place is not None else 0


def show(finding: wg.Finding) -> str:
    """A finding in a few words."""
    lines = "/".join(str(_line(place)) for place in (finding.source, finding.other_source) if place)
    return f"{finding.kind}@{lines or finding.array}" + ("?" if finding.severity != "error" else "")


def _table(names: Sequence[str]) -> Iterator[str]:
    for name in names or read_cases():
        case = read_cases()[name]
        for twin in TWINS:
            found = case.check(twin).findings
            lines = ",".join(map(str, sorted(case.lines)))
            wanted = f"{case.kind}@{lines}" if twin == "buggy" else "-"
            yield f"{name:26} {twin:5} {judge(case, twin, found):8} {wanted:28} {' '.join(map(show, found))}"


def main(arguments: Sequence[str]) -> None:
    """Print the table, of some cases or of all, or write the page."""
    if "--page" in arguments:
        from tests.observe.corpus_page import write_page

        write_page()
        return
    for line in _table(arguments):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
