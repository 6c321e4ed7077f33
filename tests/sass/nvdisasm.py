"""NVIDIA's disassembler, where it is installed (`pip install nvidia-cuda-nvdisasm`), as a judge of ours."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_LINE = re.compile(r'//## File "[^"]*", line (\d+)')
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?)U?P(\w+)\s+)?([A-Z]\w*)([.\w]*)\s*([^;]*);")
_LABEL = re.compile(r"(\.L_x_\d+):")


@dataclass
class Printed:
    """One instruction as nvdisasm prints it; `target` is the offset of the label that it names."""

    offset: int
    line: int
    guard: str
    negated: bool
    name: str
    modifiers: tuple[str, ...]
    operands: str
    target: int | None = None


@cache
def find() -> str | None:
    """The program's path."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    inside = [str(path) for folder in folders for path in folder.glob("*/bin/nvdisasm")]
    return next(iter(inside), None) or shutil.which("nvdisasm")


def disassemble(image: bytes, folder: Path) -> dict[str, list[Printed]]:
    """The instructions of each section of a cubin, by the section's name."""
    path = folder / "code.cubin"
    path.write_bytes(image)
    program = find()
    assert program
    text = subprocess.run([program, "-g", "-c", str(path)], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[Printed]] = {}
    for part in re.split(r"^\.text\.", text, flags=re.MULTILINE)[1:]:
        name, _, body = part.partition(":")
        found[name] = list(_parse(body.partition("\t.section")[0]))
    return found


def _parse(text: str) -> Iterator[Printed]:
    labels: dict[str, int] = {}
    waiting: list[str] = []
    printed: list[Printed] = []
    line = 0
    for row in text.splitlines():
        if label := _LABEL.match(row):
            waiting.append(label[1])
        elif source := _LINE.search(row):
            line = int(source[1])
        elif found := _INSTRUCTION.match(row):
            offset = int(found[1], 16)
            labels |= dict.fromkeys(waiting, offset)
            waiting = []
            modifiers = tuple(filter(None, found[5].split(".")))
            printed.append(
                Printed(offset, line, found[3] or "", bool(found[2]), found[4], modifiers, found[6])
            )
    for item in printed:
        if label := re.search(r"`\((\.L_x_\d+)\)", item.operands):
            item.target = labels.get(label[1])
        yield item
