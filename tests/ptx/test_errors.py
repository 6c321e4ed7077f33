"""Broken PTX: every error is named, with its place, in one run, and nothing but PtxSyntaxError comes out.

In errors/*.ptx each guilty line ends in `// error: part of the message`.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ptx.trees import without_lines
from warpglass.ptx import PtxSyntaxError, parse, print_module

FOLDER = Path(__file__).parent
ERRORS = sorted((FOLDER / "errors").glob("*.ptx"))
CASES = [path.read_text() for path in sorted((FOLDER / "cases").glob("*.ptx"))]

PIECES = re.compile(r"\s+|[\w.%$]+|.", re.DOTALL)
JUNK = (
    "{ } ( ) [ ] ; , | ! @ : < > - + _ % = ~ :: .reg .visible .entry .func .loc .file .param .b8 .align .ptr "
    '.v4 .section .alias .pragma .branchtargets .callprototype %r1 %r 0x 1.5e 0f3 " /* */ // generic 0xFF '
    "((((( {{{{ inlined_at function_name 99999999999999999999999 1<<63<<63 [][] [99999999][9999999] "
    "={{1},{2}} \0 \n é"
).split(" ")


@pytest.mark.parametrize("path", ERRORS, ids=lambda path: path.stem)
def test_every_error_is_named(path: Path) -> None:
    lines = path.read_text().splitlines()
    expected = {
        number: line.partition("// error: ")[2]
        for number, line in enumerate(lines, 1)
        if "// error: " in line
    }
    with pytest.raises(PtxSyntaxError) as caught:
        parse(path.read_text(), path.name)
    found = caught.value.diagnostics
    assert [str(item) for item in found if item.line not in expected] == []
    for number, part in expected.items():
        here = [item for item in found if item.line == number]
        assert any(part in item.message for item in here), f"line {number}: {part!r} not in {here}"
        assert {(item.text, item.file) for item in here} == {(lines[number - 1], path.name)}


def test_message_shows_place_and_text() -> None:
    with pytest.raises(PtxSyntaxError) as caught:
        parse(".version 8.0\n.target sm_80\n.entry k()\n{\n\tmov.u32 %r1, 1;\n}\n", "a.ptx")
    assert str(caught.value) == (
        "a.ptx: 1 error in PTX\n"
        "a.ptx:5:10: register %r1 is not declared, and it is no special register\n"
        "    mov.u32 %r1, 1;"
    )


@settings(max_examples=60, deadline=None)
@given(
    case=st.integers(0, len(CASES) - 1),
    seed=st.integers(0, 2**32),
    edits=st.integers(1, 30),
    window=st.integers(10, 3000),
)
def test_mangled_text_raises_nothing_else(case: int, seed: int, edits: int, window: int) -> None:
    generator = random.Random(seed)
    pieces = PIECES.findall(CASES[case])
    start = generator.randrange(len(pieces))
    if generator.random() < 0.5:
        pieces = pieces[start : start + window]
    for _ in range(edits):
        position = generator.randrange(len(pieces) + 1)
        match generator.randrange(3):
            case 0:
                del pieces[position : position + 1]
            case 1:
                pieces.insert(position, generator.choice(JUNK))
            case _:
                pieces[position : position + 1] = generator.sample(pieces, min(1, len(pieces)))
    check_survives("".join(pieces))


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=300), max_size=200))
def test_arbitrary_text_raises_nothing_else(text: str) -> None:
    check_survives(text)
    check_survives(f".version 8.0\n.target sm_80\n.entry k() {{ .reg .b32 %r<4>;\n{text}\n}}")


@pytest.mark.parametrize(
    "text",
    [
        "{" * 30_000 + "}" * 30_000,
        "mov.b32 x, " + "(" * 30_000,
        "mov.b32 x, " + "-" * 30_000 + "1;",
        "}{" * 30_000,
    ],
    ids=["scopes", "parentheses", "signs", "braces"],
)
def test_deep_nesting_raises_nothing_else(text: str) -> None:
    check_survives(f".version 8.0\n.target sm_80\n.entry k() {{ {text} }}")


def check_survives(text: str) -> None:
    try:
        module = parse(text)
    except PtxSyntaxError:
        return
    assert without_lines(parse(print_module(module))) == without_lines(module)
