"""Rungs as their files state them: what their place adds, and what is said of one that lacks something."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from warpglass.ladders.ladder import PackagedLadder
from warpglass.ladders.problem import launch_once
from warpglass.ladders.rung import LaunchShape, Rung, follow_plan
from warpglass.ladders.trial import Options
from warpglass.ladders.vector.problem import PROBLEM

FIRST = '''"""Adds two arrays.

Look at nothing."""

from warpglass.ladders.rung import Rung, cuda


def first(x, y, z, n):
    i = cuda.grid(1)
    if i < n:
        z[i] = x[i] + y[i]


RUNG = Rung(table="vector")
'''
SECOND = '''"""Adds them again."""

from warpglass.ladders.rung import Rung

RUNG = Rung(table="vector", follows="first")
'''

Find = Callable[[dict[str, str]], tuple[Rung, ...]]


@pytest.fixture
def find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Find]:
    """Write a package of these files and return its rungs, as-written ones last."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(files: dict[str, str]) -> tuple[Rung, ...]:
        for name, text in {"__init__.py": "", **files}.items():
            path = tmp_path / "half_written" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        return tuple(PackagedLadder("half_written", PROBLEM).rungs(Options(as_written=True)))

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "half_written"]:
        del sys.modules[name]


def test_a_rung_takes_from_its_place_what_it_does_not_say(find: Find, tmp_path: Path) -> None:
    first, second, written = find(
        {
            "first.py": FIRST,
            "second.py": SECOND,
            "second.cu": "",
            "as_written/__init__.py": "",
            "as_written/first.py": FIRST,
            "as_written/first.cu": "",
        }
    )
    assert (first.name, first.title, first.languages) == ("first", "Adds two arrays.", ("python",))
    assert (first.program, first.shape, first.arguments) == (launch_once, PROBLEM.shape, ("x", "y", "z", "n"))
    assert (second.name, second.follows, second.languages) == ("second", "first", ("cuda",))
    (kernel,) = second.kernels
    assert (kernel.name, kernel.cuda, kernel.file) == (
        "second",
        "second<{type}>",
        tmp_path / "half_written" / "second.cu",
    )
    assert (written.name, written.kernels[0].name) == ("first_as_written", "first")
    assert written.languages == ("cuda", "python")


PLANNED = '''"""Adds, by a plan."""

from pathlib import Path

from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.rung import Rung


def plan(case, block):
    step = Step("planned<float>", Path(__file__).with_suffix(".cu"), (3, 2), block, 8, ("x", "y", "z", "n"))
    return Plan((step,))


RUNG = Rung(table="vector", plan=plan)
'''


def test_a_plan_says_languages_shape_and_program(find: Find) -> None:
    (rung,) = find({"planned.py": PLANNED})
    assert (rung.languages, rung.kernels, rung.program) == (("cuda",), (), follow_plan)
    assert rung.shape is not None
    case = PROBLEM.case("vector", 5, "float32", "random", 0)
    assert rung.shape(case, 64) == LaunchShape((3, 2), 64, 8)


@pytest.mark.parametrize(
    ("first", "complaint"),
    [
        (FIRST.partition('"""\n')[2], "explains itself in the docstring"),
        (FIRST.replace("def first", "def other"), "a kernel in first.cu, in first or specialise, or a host"),
        (FIRST.replace('Rung(table="vector")', "Rung()"), "table '': the ladder has one block, few, vector"),
        (FIRST.replace("Rung(", 'Rung(follows="third", '), "follows third; there is: first, second"),
    ],
)
def test_a_half_written_rung_is_named_by_its_file(find: Find, first: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=rf"first\.py: .*{complaint}"):
        find({"first.py": first, "second.py": SECOND, "second.cu": ""})


def test_rungs_that_follow_each_other_are_named(find: Find) -> None:
    with pytest.raises(ValueError, match=r"first \(follows second\)"):
        find(
            {
                "first.py": FIRST.replace("Rung(", 'Rung(follows="second", '),
                "second.py": SECOND,
                "second.cu": "",
            }
        )
