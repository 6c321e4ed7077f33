"""The defects of the course notes' own code, each beside its correction: found where it is, and gone.

A file of examples/notes_defects opens with a sentence and the command that checks it. Guilty lines end in the
kind of finding; a file without one is a correction, of the file whose name it continues.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from warpglass.cli import app
from warpglass.records.check import KINDS

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "examples" / "notes_defects"
_COMMAND = re.compile(r"^(?:// )?warpglass (check .*(?:\n//     .*)*)", re.MULTILINE)
_MARK = re.compile(r"(?://|#) ([\w-]+)$")
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".cu", ".py"))


def command_of(text: str) -> list[str]:
    """The arguments of the command in a file's head."""
    found = _COMMAND.search(text)
    assert found is not None, "a file says how it is checked"
    return shlex.split(found[1].replace("\n//", " "), posix=True)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_defect_is_found_and_its_correction_is_clean(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = file.read_text("utf-8")
    lines = enumerate(text.splitlines(), start=1)
    marked = {number: mark[1] for number, line in lines if (mark := _MARK.search(line)) and mark[1] in KINDS}
    command, *arguments = command_of(text)
    done = CliRunner().invoke(app, [command, "--json", *arguments])
    assert done.exit_code == bool(marked), done.output
    told = json.loads(done.output)
    (launch,) = told.get("checks", [told])
    assert {one["kind"] for one in launch["findings"]} == set(marked.values()), done.output
    launched_at = int(launch["site"].rpartition(":")[2] or 0)
    for one in launch["findings"]:
        places = [place["line"] for place in (one["source"], one["other_source"]) if place]
        assert {launched_at, *places} & set(marked), one
        assert not one["kind"].endswith("-race") or set(places) <= set(marked), one
        assert one["hint"]


def test_every_defect_has_a_correction() -> None:
    names = {file.name for file in FILES}
    defects = {name for name in names if "_fixed." not in name}
    assert names == defects | {name.replace(".", "_fixed.") for name in defects}
    assert len(defects) == 13
