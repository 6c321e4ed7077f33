"""What docs/check.md says beside its commands, which test_model_docs.py runs: kinds, entry, program.

`python -m tests.test_check_page` writes the table of kinds into the page.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpglass.records.kinds import KINDS
from warpglass.records.suppressions import read_entries

ROOT = Path(__file__).parent.parent
FILE = ROOT / "docs" / "check.md"
PAGE = FILE.read_text("utf-8")
TABLE = re.compile(r"(?<=\| kind \| what it means \|\n\|---\|---\|\n).*?(?=\n\n)", re.DOTALL)


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return text


def rows() -> str:
    return "\n".join(f"| `{name}` | {kind.meaning} |" for name, kind in KINDS.items())


def test_the_table_has_every_kind() -> None:
    assert TABLE.findall(PAGE) == [rows()]


def test_the_entry_is_one(tmp_path: Path) -> None:
    path = tmp_path / "warpglass.toml"
    path.write_text(block("toml"), encoding="utf-8")
    (entry,) = read_entries(path)
    assert (entry.kind, entry.kernel, entry.line) == ("warp-race", "reduce*", 42)


def test_the_program_prints_what_it_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    text = block("python")
    exec(compile(text, "check.md", "exec"), {})
    (said,) = re.findall(r"# (shared-race.*)", text)
    assert sorted(capsys.readouterr().out.split()) == sorted(said.split())


if __name__ == "__main__":
    FILE.write_text(TABLE.sub(lambda _: rows(), PAGE), encoding="utf-8")
