"""docs/reference/environment.md has every variable that the package reads, and no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_page_lists_what_the_source_reads() -> None:
    page = (ROOT / "docs" / "reference" / "environment.md").read_text("utf-8")
    listed = re.findall(r"^\| `(WARPGLASS_\w+)`", page, re.MULTILINE)
    read = {
        name
        for path in (ROOT / "src" / "warpglass").rglob("*.py")
        for name in re.findall(r"\"(WARPGLASS_\w+)\"", path.read_text("utf-8"))
    }
    assert listed == sorted(listed)
    assert set(listed) == read
