"""Specifications: their cells, and what is refused before anything runs, with key and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpglass import ArgumentError
from warpglass.sweeps.spec import make, read

GOOD = """[sweep]
do = ["time", "check"]
timeout = 2.5

[axes]
n = ["2^4", 100]
model = ["h100", "a100"]

[[kernel]]
name = "scale"
kernel = "k.cu:scale<{width}>"
skip = "width > n"
grid = "{ceil(n / width)}"
block = "{width}"
args = ["f4[{n}]:rand", "i4={n}"]
axes = { width = [16, 32] }

[[kernel]]
rung = "vector:grid_stride"
size = "{n}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.cu").write_text(
        '#include "part.h"\ntemplate <int W> __global__ void scale(float *x, int n) {}'
    )
    (tmp_path / "part.h").write_text("#define PART 1\n")
    return tmp_path


def _cells(folder: Path, text: str = GOOD) -> list[tuple[str, dict[str, object], str]]:
    (folder / "s.toml").write_text(text)
    return [(cell.name, dict(cell.axes), cell.model) for cell in read(folder / "s.toml").cells()]


def test_the_grid_of_cells(folder: Path) -> None:
    cells = _cells(folder)
    scales = [axes for name, axes, _ in cells if name == "scale"]
    assert [(axes["n"], axes["width"]) for axes in scales] == [
        *((16, 16), (16, 16), (100, 16), (100, 32), (100, 16), (100, 32))
    ]
    assert [model for name, _, model in cells if name != "scale"] == ["h100", "a100"] * 2


def test_a_launch_is_filled_in(folder: Path) -> None:
    (folder / "s.toml").write_text(GOOD)
    last = [cell for cell in read(folder / "s.toml").cells() if cell.subject.kernel == "scale<32>"][-1]
    assert (last.subject.grid, last.subject.block) == ((4,), (32,))
    assert last.subject.args == ("f4[100]:rand", "i4=100")
    assert (last.timeout, last.model, last.do) == (2.5, "a100", ("time", "check"))


def test_keys_change_with_what_a_result_depends_on(folder: Path) -> None:
    (folder / "s.toml").write_text(GOOD)
    before = [cell.key for cell in read(folder / "s.toml").cells()]
    renamed = GOOD.replace('name = "scale"', 'name = "other"')
    (folder / "s.toml").write_text(renamed)
    assert [cell.key for cell in read(folder / "s.toml").cells()] == before
    (folder / "part.h").write_text("#define PART 22\n")
    after = [cell.key for cell in read(folder / "s.toml").cells()]
    assert not set(after[:6]) & set(before)
    assert after[6:] == before[6:]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("timeout = 2.5", "timeout = 0", "s.toml:3: timeout: 0; write a number, at least 0.001"),
        ("timeout = 2.5", "time_out = 1", "s.toml:3: time_out: unknown key (did you mean timeout?)"),
        ('do = ["time", "check"]', 'do = ["tme"]', "s.toml:2: do: ['tme']; write one or more of time"),
        ("timeout = 2.5", 'metrics = ["gld_efficency"]', "s.toml:3: metrics: no metric or counter 'gld_eff"),
        ('n = ["2^4", 100]', "n = []", "s.toml:6: n: []; an axis is a list"),
        ('n = ["2^4", 100]', "n = [100, 100]", "a value stands there twice"),
        ('n = ["2^4", 100]', "n-m = [1]", "s.toml:6: n-m: an axis is named like a variable"),
        ('"a100"', '"a1000"', "s.toml:7: model (n=16, model=a1000, width=16): no GPU"),
        ("width > n", "breadth > n", "s.toml:12: skip: there is no axis 'breadth'"),
        ("{ceil(n / width)}", "{ceil(n / widht)}", "no axis 'widht' (did you mean width?)"),
        ("{ceil(n / width)}", "{n / (width - 16)}", "division by zero"),
        ("k.cu:", "l.cu:", "there is no file"),
        ("i4={n}", "i5={n}", "unknown type 'i5'"),
        ('block = "{width}"', "", "needs grid = and block ="),
        ("grid_stride", "grid_strid", "s.toml:19: rung"),
        ("vector:", "vektor:", "no ladder 'vektor' (did you mean vector?)"),
        ("[axes]", "[axes", "is no TOML"),
        ('args = ["f4', 'args = "f4', "s.toml"),
        (
            '"2^4", 100]',
            "1]\nhuge = ["
            + ",".join(map(str, range(3000)))
            + "]\nwide = ["
            + ",".join(map(str, range(3000)))
            + "]",
            "a sweep has 10000000 at most",
        ),
    ],
)
def test_what_is_refused(folder: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(ArgumentError) as caught:
        _cells(folder, GOOD.replace(old, new))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kernel": []},
        {"kernel": [3]},
        {"kernel": {"kernel": 3, "grid": 1, "block": 1}},
        {"kernel": {"rung": "vector:grid_stride", "kernel": "k.cu:k"}},
        {"axes": 3, "kernel": {"rung": "vector:grid_stride"}},
        {"kernel": {"rung": "vector"}},
    ],
)
def test_dictionaries_are_checked_as_well(data: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        list(make(data).cells())
