"""The printed passes of the block sort: those of the course notes, from real launches, and bad usage."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from warpglass.cli import main
from warpglass.errors import ArgumentError
from warpglass.ladders.oddeven_sort.trace import EXAMPLE, trace_passes
from warpglass.report.console import text_console, text_of
from warpglass.report.trace import print_trace

from .judging import LANGUAGES, open_place
from .watching import TOOLCHAIN

# What the notes print for their example.
NOTES = """
9584 7632 6874 3210
4589 2367 4678 0123
45 8923 6746 7801 23
45 2389 4667 0178 23
4523 8946 6701 7823
2345 4689 0167 2378
23 4546 8901 6723 78
23 4456 0189 2367 78
2344 5601 8923 6778
2344 0156 2389 6778
23 4401 5623 8967 78
23 0144 2356 6789 78
2301 4423 5667 8978
0123 2344 5667 7889
01 2323 4456 6778 89
01 2233 4456 6778 89
"""


def traced(numbers: list[float], block: int, language: str = "cuda") -> str:
    console = text_console(120)
    steps = trace_passes(np.array(numbers), block, language, open_place("cpu"), TOOLCHAIN)  # type: ignore[arg-type]
    print_trace(steps, console)
    return text_of(console)


@pytest.mark.parametrize("language", LANGUAGES)
def test_example_of_the_notes(language: str) -> None:
    text = traced([float(number) for number in EXAMPLE], 2, language)
    numbers = [line.split(" -")[0].rstrip() for line in text.splitlines() if line[:1].isdigit()]
    assert numbers == NOTES.split("\n")[1:-1]
    assert "(4b) 3 blocks" in text


def test_other_numbers_and_blocks() -> None:
    text = traced([12, -3, 8, 4, 5], 1)
    assert text.splitlines()[-2] == "-3 4,5 8,12"
    assert "(3a) 3 blocks" in text
    assert traced([3, 1], 2).splitlines()[2] == "13"


def test_bad_usage() -> None:
    with pytest.raises(ArgumentError, match="no numbers"):
        traced([], 2)
    with pytest.raises(ArgumentError, match="1 to 1024"):
        traced([2, 1], 0)


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run `warpglass trace` in this process and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["warpglass", "trace", *arguments])
    with pytest.raises(SystemExit) as leaving:
        main()
    return int(leaving.value.code or 0)


def test_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(monkeypatch, "oddeven_sort", "3,1", "-0.5,2", "--block", "1", "--device", "cpu") == 0
    assert capsys.readouterr().out.splitlines()[-3] == "-0.5 1,2 3 ------ (2b) 1 block"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("oddeven_sort", "3", "x"), "'x' is no number"),
        (("oddeven_sort", "--block", "0"), "1 to 1024 threads"),
        (("oddeven_sort", "--language", "c"), "cuda or python"),
        (("vector",), "only oddeven_sort"),
    ],
)
def test_command_refuses(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert command(monkeypatch, *arguments) == 2
    assert message in capsys.readouterr().err
