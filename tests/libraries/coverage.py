"""Writes docs/reference/libraries.md: which functions of NVIDIA's libraries the virtual ones have."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from warpglass.libraries import LIBRARIES
from warpglass.libraries.frame import Library, Row

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "libraries.md"
_INTRODUCTION = """# Functions of the virtual libraries

Written by `python -m tests.libraries.coverage`. Programs and CuPy find these in place of NVIDIA's
libraries ([docs/libraries.md](../libraries.md)). `{T}` (or `{t}`) is a letter of those behind it: S and D
are real, C and Z complex, of single and double precision, H is half. Where NVIDIA's library has a form with
64-bit sizes (`_64`), so has ours. All other functions return NOT_SUPPORTED, and their name is printed once.
"""


def _exported(library: Library) -> frozenset[str]:
    folder = Path(inspect.getfile(Library)).parent / "exports"
    return frozenset((folder / f"{library.file}.txt").read_text("utf-8").split())


def not_exported(library: Library) -> list[str]:
    """Rows with names that NVIDIA's library does not export."""
    exported = _exported(library)
    return [name for name in library.rows if not name.endswith("_64") and name not in exported]


def _families(rows: list[Row]) -> Iterator[tuple[str, list[str]]]:
    """Patterns of names, and the letters that stand in them."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.family, []).append(row.written)
    yield from found.items()


def _section(library: Library) -> Iterator[str]:
    exported = _exported(library)
    rows = [row for row in library.rows.values() if not row.wide]
    have = sum(1 for row in library.rows.values() if row.name in exported)
    yield f"\n## {library.name}\n"
    yield f"{', '.join(f'`{name}`' for name in library.sonames)}: {have} of {len(exported)} functions.\n"
    for section in dict.fromkeys(row.section for row in rows):
        mine = [row for row in rows if row.section == section]
        names = (
            f"`{name}`" + (f" ({' '.join(letters)})" if any(letters) else "")
            for name, letters in _families(mine)
        )
        yield f"\n{section}: {', '.join(names)}.\n"


def page() -> str:
    """The whole page."""
    return _INTRODUCTION + "".join(part for library in LIBRARIES for part in _section(library))


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
