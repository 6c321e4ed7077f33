"""Kernels of libraries that nobody here wrote: CUB, Thrust, libcu++, cooperative groups, cuRAND, mma.h.

`sources/` instantiates their templates; nvcc of the wheel makes PTX of them, which is kept in the cache of
this package (source/cache.py) and never stored in the repository. `kernels` gives every kernel alone: its
PTX without the file's other entries.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpglass.source import nvcc, nvrtc
from warpglass.source.cache import Cache, digest

SOURCES = sorted(Path(__file__).with_name("sources").glob("*.cu"))
_OPTIONS = (
    "-ptx",
    "-arch=compute_90",
    "-std=c++17",
    "--extended-lambda",
    "--expt-relaxed-constexpr",
    "-allow-unsupported-compiler",
)
_TEXTS = Cache("foreign")
_ENTRY = re.compile(r"^(?:\.visible |\.weak )?\.entry ([\w$]+)\(.*?\n\n\}\n", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^\.(?:req|max)ntid (\d+)(?:, (\d+))?(?:, (\d+))?", re.MULTILINE)
_INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+\s+)?[a-z][\w.:]*(?:\s[^;]*)?;", re.MULTILINE)
_LIBRARY_WHEELS = {"random_numbers": "curand_kernel.h"}  # sources whose header comes with a wheel of its own


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: the source's name, its own, PTX without other entries, threads along x, y, z of a block."""

    source: str
    entry: str
    ptx: str
    block: tuple[int, int, int]

    @property
    def instructions(self) -> int:
        """Instructions of the PTX, functions that it may call included."""
        return len(_INSTRUCTION.findall(self.ptx))


def available(source: Path) -> bool:
    """Whether a source can be compiled here: with nvcc, a host compiler and the headers."""
    header = _LIBRARY_WHEELS.get(source.stem)
    return nvcc.find() is not None and (header is None or _folder_of(header) is not None)


def kernels(source: Path) -> Iterator[Kernel]:
    """The kernels of one source file, in their order."""
    return of_text(source.stem, module_text(source))


def of_text(source: str, text: str) -> Iterator[Kernel]:
    """The kernels of a PTX module, in their order."""
    for found in _ENTRY.finditer(text):
        name = found[1]
        alone = _ENTRY.sub(lambda other, name=name: other[0] if other[1] == name else "", text)
        block = _BLOCK.search(found[0])
        extents = [int(one) for one in block.groups() if one] if block else [128]
        x, y, z = (*extents, 1, 1)[:3]
        yield Kernel(source, name, alone, (x, y, z))


@cache
def module_text(source: Path) -> str:
    """The PTX of a source, made by nvcc once."""
    found = nvcc.find()
    assert found is not None, "the caller has asked whether it is available"
    program, host = found
    folders = [str(folder) for folder in nvrtc.header_folders()]
    key = digest("1", source.read_text(), str(program), *_OPTIONS)
    kept = _TEXTS.get(key)
    if kept is None:
        command = [str(program), *_OPTIONS, "-ccbin", host, *[f"-I{one}" for one in folders]]
        with tempfile.TemporaryDirectory(prefix="warpglass-") as folder:
            result = Path(folder, "kernels.ptx")
            command += [str(source), "-o", str(result)]
            made = subprocess.run(command, capture_output=True, text=True, check=False)
            assert made.returncode == 0, f"{source}: {made.stderr}"
            kept = result.read_bytes()
        _TEXTS.put(key, kept)
    return kept.decode()


def _folder_of(header: str) -> Path | None:
    return next((Path(one) for one in nvrtc.header_folders() if Path(one, header).exists()), None)
