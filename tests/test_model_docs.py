"""Pages show what is printed: every `$ warpglass ...` in them is run.

`python -m tests.test_model_docs` writes the output into the pages, or into those named: tutorial/5-banks.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest

from warpglass.cli import main

ROOT = Path(__file__).parent.parent
SHOWN = re.compile(r"```text\n\$ warpglass (?P<command>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)
OF_THIS_MACHINE = re.compile(r"^(Device|Engine time): .*", re.MULTILINE)
PAGES = [
    path.relative_to(ROOT / "docs").with_suffix("").as_posix()
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if SHOWN.search(path.read_text("utf-8"))
]
RELEASE = re.compile(r"(?:ptxas|nvJitLink) [\d.]+")  # of whatever is installed


def page(name: str) -> Path:
    return ROOT / "docs" / f"{name}.md"


def printed(command: str) -> str:
    """What a command prints on a terminal of 110 columns, without trailing blanks."""
    out = io.StringIO()
    words = ["warpglass", *shlex.split(command)]
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        with (
            patch.object(sys, "argv", words),
            patch.dict(os.environ, {"COLUMNS": "110"}),
            redirect_stdout(out),
            redirect_stderr(out),
            pytest.raises(SystemExit),
        ):
            main()
    finally:
        os.chdir(before)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@cache
def save_profiles() -> None:
    """Run the commands that save what others of the page compare."""
    for found in SHOWN.finditer(page("profile").read_text("utf-8")):
        if "--save" in found["command"]:
            printed(found["command"])


@pytest.mark.sampled(quick=20, ci=6)
@pytest.mark.parametrize(
    ("command", "output"),
    [
        pytest.param(found["command"], found["output"], id=found["command"])
        for name in PAGES
        for found in SHOWN.finditer(page(name).read_text("utf-8"))
    ],
)
def test_pages_show_what_is_printed(command: str, output: str):
    if "build/" in command:
        save_profiles()
    ours, output = (OF_THIS_MACHINE.sub(r"\1", text) for text in (printed(command), output))
    if RELEASE.findall(ours) != RELEASE.findall(output):  # another release may need other registers
        ours, output = (re.sub(r"[\d.]+", "N", RELEASE.sub("ptxas", text)) for text in (ours, output))
        ours, output = (re.sub(r" +", " ", text) for text in (ours, output))
    assert ours == output


def update(names: Sequence[str]) -> None:
    """Write the output of every command into the pages."""
    for name in names:
        text = page(name).read_text("utf-8")
        text = SHOWN.sub(
            lambda found: f"```text\n$ warpglass {found['command']}\n{printed(found['command'])}```", text
        )
        page(name).write_text(text, "utf-8")


if __name__ == "__main__":
    update(sys.argv[1:] or PAGES)
