"""Findings that are not to be reported: files of entries, what they fit, what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from warpglass.records.check import Check, Finding, Place
from warpglass.records.suppressions import find_entries, read_entries, suppress


def finding(file: str, line: int = 4, kind: str = "shared-race", other: Place | None = None) -> Finding:
    return Finding(kind, "error", "words", Place(file, line), other)


def checked(*findings: Finding, file: str = "", kernel: str = "k") -> Check:
    return Check(kernel, "cuda", "engine", (1, 1, 1), (1, 1, 1), 0, findings, "by number", file=file)


def entry(folder: Path, *lines: str, name: str = "s.toml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["[[tool.warpglass.suppress]]", *lines]) + "\n", encoding="utf-8")
    return path


def left(path: Path, *findings: Finding, kernel: str = "k") -> list[int]:
    """The lines of what is still reported."""
    (found,), _ = suppress([checked(*findings, kernel=kernel)], read_entries(path, always=True))
    assert len(found.findings) + len(found.suppressed) == len(findings)
    return [one.source.line for one in found.findings if one.source is not None]


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        ("a.cu", ["a.cu", "src/a.cu", "src/deep/a.cu"]),
        ("*.cu", ["a.cu", "src/a.cu", "src/deep/a.cu", "src/b.cu"]),
        ("./a.c?", ["a.cu"]),
        ("src/*.cu", ["src/a.cu", "src/b.cu"]),
        ("src/**/*.cu", ["src/a.cu", "src/deep/a.cu", "src/b.cu"]),
        ("**/a.cu", ["a.cu", "src/a.cu", "src/deep/a.cu"]),
        ("src/**", ["src/a.cu", "src/deep/a.cu", "src/b.cu"]),
        ("src/deep/a.cu", ["src/deep/a.cu"]),
        ("[a].cu", []),
        ("deep/a.cu", []),
    ],
)
def test_patterns_are_of_files_as_seen_from_the_entries(tmp_path: Path, glob: str, fits: list[str]) -> None:
    files = ["a.cu", "src/a.cu", "src/deep/a.cu", "src/b.cu"]
    path = entry(tmp_path, f'file = "{glob}"', 'kind = "shared-race"')
    findings = [finding(str(tmp_path / file), line) for line, file in enumerate(files, 1)]
    assert left(path, *findings) == [line for line, file in enumerate(files, 1) if file not in fits]


def test_kind_kernel_and_line_must_fit_too(tmp_path: Path) -> None:
    path = entry(tmp_path, 'file = "a.cu"', 'kind = "shared-race"', 'kernel = "sum<*"', "line = 4")
    file = str(tmp_path / "a.cu")
    other = finding(file, 9, other=Place(file, 4))
    findings = [finding(file), finding(file, 5), finding(file, 4, "warp-race"), other]
    assert left(path, *findings, kernel="sum<512>") == [5, 4]
    assert left(path, *findings, kernel="product") == [4, 5, 4, 9]


def test_what_is_suppressed_keeps_its_entry_and_reason(tmp_path: Path) -> None:
    path = entry(tmp_path, 'file = "a.cu"', 'kind = "trap"', 'reason = "asserts on purpose"')
    (found,), notes = suppress(
        [checked(finding(str(tmp_path / "a.cu"), kind="trap"))], read_entries(path, always=True)
    )
    (hidden,) = found.suppressed
    assert (hidden.file, hidden.entry, hidden.reason) == (str(path), 1, "asserts on purpose")
    assert (found.findings, notes) == ((), ())


def test_entries_that_fit_nothing_are_said(tmp_path: Path) -> None:
    path = entry(
        tmp_path, 'file = "a.cu"', 'kind = "trap"', "[[suppress]]", 'file = "b.cu"', 'kind = "deadlock"'
    )
    a, b = checked(file=str(tmp_path / "a.cu")), checked(file=str(tmp_path / "b.cu"))
    named, nearest = read_entries(path, always=True), read_entries(path)
    assert len(suppress([a], named)[1]) == 2
    notes = suppress([a], nearest)[1]  # of a configuration only what is about the kernel
    assert len(notes) == 1
    assert "file = 'a.cu', kind = 'trap'" in notes[0]
    assert notes[0].endswith("suppresses nothing")
    assert len(suppress([a, b], nearest)[1]) == 2


def test_the_nearest_configuration_counts(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "src"
    inner.mkdir(parents=True)
    assert find_entries(folder=inner) == ()
    entry(tmp_path, 'file = "far.cu"', 'kind = "trap"', name="warpglass.toml")
    assert [one.file for one in find_entries(folder=inner)] == ["far.cu"]
    (tmp_path / "project" / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert [one.file for one in find_entries(folder=inner)] == ["far.cu"]  # it says nothing of us
    entry(tmp_path, 'file = "near.cu"', 'kind = "trap"', name="project/pyproject.toml")
    assert [one.file for one in find_entries(folder=inner)] == ["near.cu"]
    path = entry(tmp_path, 'file = "named.cu"', 'kind = "trap"')
    assert [one.file for one in find_entries([path], folder=inner)] == ["named.cu", "near.cu"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[tool.warpglass.suppress]]\nfile = 'a'", "entry 1 has no kind"),
        ("[[suppress]]\nkind = 'trap'", "entry 1 has no file"),
        ("[[suppress]]\nfile = ''\nkind = 'trap'", "entry 1 has no file"),
        ("[[suppress]]\nfile = 'a'\nkind = 'shared-rase'", "did you mean shared-race?)"),
        ("[[suppress]]\nfile = 'a'\nkind = 'trap'\nlines = 3", "unknown key 'lines' (did you mean line?)"),
        ("[[suppress]]\nfile = 'a'\nkind = 'trap'\nline = '3'", "line = '3'; it must be a whole number"),
        ("[[suppress]]\nfile = ['a']\nkind = 'trap'", "file = ['a']; it must be a string"),
        ("[[suppress]]\nfile = 'a'\nkind = 'trap'\nline = true", "line = True; it must be a whole number"),
        ("[[supress]]\nfile = 'a'", "unknown key 'supress' (did you mean suppress?)"),
        ("[tool.warpglass]\nsupress = []", "[tool.warpglass] has the unknown key 'supress'"),
        ("suppress = 3", "must be a list of tables"),
        ("[tool]\nwarpglass = 3", "must be a table"),
        ("[[suppress", "is no TOML file"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(wg.ArgumentError) as caught:
        read_entries(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    for name, words in (("none.toml", "cannot be read"), ("binary.toml", "UTF-8"), (".", "cannot be read")):
        with pytest.raises(wg.ArgumentError, match=words):
            read_entries(tmp_path / name)


def test_check_takes_a_file_of_entries(tmp_path: Path) -> None:
    kernel = wg.compile('extern "C" __global__ void k(int* x) { x[0] = threadIdx.x; }', "k")
    x = np.zeros(1, np.int32)
    path = entry(tmp_path, 'file = "<cuda>"', 'kind = "warp-race"')
    found = wg.check(kernel, 1, 32, (x,), suppress=path)
    assert (found.findings, len(found.suppressed)) == ((), 1)
    path = entry(tmp_path, 'file = "<cuda>"', 'kind = "trap"')
    found = wg.check(kernel, 1, 32, (x,), suppress=path)
    assert len(found.findings) == 1
    assert "suppresses nothing" in found.notes[0]
