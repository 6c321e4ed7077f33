"""No row without a case: a new row needs an oracle (oracles.py), or a place in this table.

The table names, for the opcodes whose rows the oracles do not cover, the tests that run them. For opcodes in
neither it is enough that tests write them. Opcodes that begin with an underscore are the program's own.
"""

from __future__ import annotations

from pathlib import Path

from warpglass.isa import Row
from warpglass.isa.table import ROWS

from .forms import kernels_of

_TESTS = Path(__file__).parents[1]

# File under tests/ -> opcodes that it runs in forms beyond those of oracles.py.
_ELSEWHERE = {
    "isa/test_memory.py": "ld ldu st cvta mov prefetch createpolicy applypriority discard",
    "isa/test_atomics.py": "atom red",
    "program/test_blocks.py": "bra ret exit trap bar",
    "isa/test_warp_reductions.py": "redux membar fence",
    "isa/test_video.py": "vavrg2 vavrg4 vset2 vset4",
}


def test_every_row_has_a_case():
    known = {opcode for opcodes in _ELSEWHERE.values() for opcode in opcodes.split()}
    named = _named_in_tests()
    bare = [
        row.pattern.text
        for opcode, rows in ROWS.items()
        for row in rows
        if opcode not in known
        and not opcode.startswith("_")
        and not kernels_of(row)
        and not _is_named(row, named)
    ]
    assert not bare, "rows that no test runs:\n" + "\n".join(bare)


def test_the_table_names_files_that_exist():
    for file, opcodes in _ELSEWHERE.items():
        text = (_TESTS / file).read_text(encoding="utf-8")
        assert all(opcode in text for opcode in opcodes.split()), file


def _named_in_tests() -> str:
    files = [file for pattern in ("*.py", "*.ptx") for file in _TESTS.rglob(pattern)]
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file != Path(__file__))


def _is_named(row: Row, text: str) -> bool:
    """Whether tests write the opcode, and every modifier that the row fixes, somewhere."""
    fixed = [
        place.name for place in row.pattern.modifiers if place.choices == (place.name,) and not place.optional
    ]
    return row.pattern.opcode in text and all(word in text for word in fixed)
