"""Whole programs within texts, run and checked as they are typed: `#include` ... `main() { ... }`.

    python bench/programs/notes.py FOLDER

FOLDER has course notes as .txt or .md files. Nothing of them is kept here. For each program it prints where
it is, how it ends under `warpglass run`, and the last lines of what `warpglass check` says.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_MAIN = re.compile(r"^(?:int|void)\s+main\s*\([^)]*\)\s*\{", re.MULTILINE)
_INCLUDE = re.compile(r"^#include\b.*$", re.MULTILINE)
_SEPARATE = re.compile(r"^(?:```|={20,})", re.MULTILINE)  # what ends a stretch of code
_SECONDS = 120


def programs(text: str) -> Iterator[tuple[int, str]]:
    """The whole programs of a text, each with the number of its first line."""
    for main in _MAIN.finditer(text):
        before = max([0, *(found.end() for found in _SEPARATE.finditer(text, 0, main.start()))])
        first = _INCLUDE.search(text, before, main.start())
        end = _closing(text, main.end())
        if first is not None and end is not None and "__global__" in text[first.start() : end]:
            yield text.count("\n", 0, first.start()) + 1, text[first.start() : end] + "\n"


def _closing(text: str, at: int) -> int | None:
    """The place behind the brace that closes the one before `at`."""
    depth = 1
    for found in re.finditer(r"[{}]", text[at:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return at + found.end()
    return None


def _call(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warpglass", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main(folder: Path) -> None:
    """Run and check all programs of a folder's texts."""
    for path in sorted((*folder.glob("*.txt"), *folder.glob("*.md"))):
        for line, code in programs(path.read_text("utf-8", "replace")):
            with tempfile.TemporaryDirectory() as work:
                source = Path(work, "program.cu")
                source.write_text(code)
                limit = f"--timeout={_SECONDS}"
                ran, checked = (_call(verb, limit, str(source)) for verb in ("run", "check"))
            print(f"{path.name}:{line}: status {ran.returncode}")
            print(ran.stdout + ran.stderr)
            print("\n".join(checked.stdout.splitlines()[-12:]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
