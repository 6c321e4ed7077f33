"""What docs/check.md says beside its commands, which test_model_docs.py runs: kinds, entry, program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpglass.records.check import KINDS
from warpglass.records.suppressions import read_entries

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "check.md").read_text("utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return text


def test_the_table_has_every_kind() -> None:
    assert tuple(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE)) == KINDS


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
