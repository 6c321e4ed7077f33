"""What hardware answered for every form, kept in tests/cases/isa: one compressed text file per unit.

`xzcat tests/cases/isa/fp32.txt.xz` shows a line for each form, fields separated by tabs:

    add.rn.f32 d, a, b <tab> 1f2e3d4c <tab> d:32 <tab> 3f80000040000000...
    add.rn.s32 d, a, b <tab> refused <tab> Rounding modifier not allowed ...

The second field is a digest of the operands, the third names the results with their bits; then come the
results of all lanes in hexadecimal, a field for each. The first line says who answered. `python -m
tests.isa.record` writes the files, `python -m tests.isa.show` prints a case for reading.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .answer_kernels import AnswerKernel, digest

FOLDER = Path(__file__).parents[1] / "cases" / "isa"


@dataclass(frozen=True)
class Answer:
    """What hardware said to a form: results by lane, or why there are none."""

    text: str
    digest: str = ""  # of the operands
    results: tuple[tuple[str, int], ...] = ()  # name and bits
    lanes: tuple[tuple[int, ...], ...] = ()  # for each result, a pattern for every lane
    refused: str = ""

    def line(self) -> str:
        """The line of a file."""
        if self.refused:
            return f"{self.text}\trefused\t{self.refused}"
        named = " ".join(f"{name.replace(' ', '_')}:{bits}" for name, bits in self.results)
        columns = (
            "".join(f"{pattern:0{-(-bits // 4)}x}" for pattern in column)
            for (_, bits), column in zip(self.results, self.lanes, strict=True)
        )
        return "\t".join([self.text, self.digest, named, *columns])

    @staticmethod
    def read(line: str) -> Answer:
        """The answer on a line of a file."""
        text, digest, rest, *columns = line.split("\t")
        if digest == "refused":
            return Answer(text, refused=rest)
        results = tuple(
            (name.replace("_", " "), int(bits))
            for name, _, bits in (one.rpartition(":") for one in rest.split(" "))
        )
        lanes = tuple(
            _patterns(column, -(-bits // 4)) for (_, bits), column in zip(results, columns, strict=True)
        )
        return Answer(text, digest, results, lanes)


def _patterns(column: str, digits: int) -> tuple[int, ...]:
    return tuple(int(column[k : k + digits], 16) for k in range(0, len(column), digits))


def answers_of(made: AnswerKernel, output: np.ndarray) -> list[Answer]:
    """What a run of a kernel says to each of its forms."""
    found: list[Answer] = []
    for form in made.forms:
        mine = [result for result in made.results if result.form is form]
        lanes = tuple(made.patterns(result, output) for result in mine)
        found.append(Answer(form.text, digest(form), tuple((r.name, r.bits) for r in mine), lanes))
    return found


def save(folder: Path, who: str, answers: Mapping[str, Iterable[Answer]]) -> None:
    """Write a file for each unit."""
    folder.mkdir(parents=True, exist_ok=True)
    for unit, found in answers.items():
        lines = [f"# {who}", *(answer.line() for answer in found)]
        data = lzma.compress("\n".join([*lines, ""]).encode(), preset=9 | lzma.PRESET_EXTREME)
        (folder / f"{unit}.txt.xz").write_bytes(data)


def load(folder: Path = FOLDER) -> tuple[str, dict[str, Answer]]:
    """Who answered, and all answers by the form's text."""
    who, found = "", {}
    for file in sorted(folder.glob("*.txt.xz")):
        first, *lines = lzma.decompress(file.read_bytes()).decode().splitlines()
        who = first.removeprefix("# ")
        for line in lines:
            answer = Answer.read(line)
            found[answer.text] = answer
    return who, found
