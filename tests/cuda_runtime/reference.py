"""Writes docs/reference/cuda-runtime.md: which functions of the CUDA runtime there are, by subject.

`python -m tests.cuda_runtime.reference` writes the page from the table of functions.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from warpglass.cuda_runtime import active_runtime  # noqa: F401  # fills the table
from warpglass.cuda_runtime.calls import CALLS, OF_RELEASE_12
from warpglass.cuda_runtime.exports import OURS, RELEASES, answering, exported, plain

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "warpglass" / "cuda_runtime"
PAGE = ROOT / "docs" / "reference" / "cuda-runtime.md"
_INTRODUCTION = """# Functions of the CUDA runtime

What `libcudart.so.13` and `libcudart.so.12` of the virtual GPU have
([how it works](../architecture/cuda_runtime.md)). Forms for per-thread default streams (`_ptsz`, `_ptds`) and
earlier versions (`_v2`) go with the function. Work is done when it is asked for, on one device, so that
functions which wait, prefetch or advise have nothing to do.
`python -m tests.cuda_runtime.reference` writes this page.
"""
_SUBJECTS = {
    "device_calls": "Device",
    "error_calls": "Errors",
    "memory_calls": "Memory",
    "symbol_calls": "Variables",
    "batch_calls": "Many stretches of memory at once",
    "pool_calls": "Memory pools",
    "stream_calls": "Streams and events",
    "launch_calls": "Launches",
    "function_calls": "Kernels and occupancy",
    "library_calls": "Libraries loaded by the program",
    "graph_calls": "Graphs",
    "node_calls": "Nodes of graphs",
    "attribute_calls": "Attributes of streams and nodes",
    "registration_calls": "Called by code that nvcc makes",
}


def _subjects() -> dict[str, list[str]]:
    """The names of all functions, by their subject: the file that names them."""
    found: dict[str, list[str]] = {}
    for name in sorted({plain(name) for release in RELEASES for name in exported(release)} - set(OURS)):
        if name in CALLS or name in OF_RELEASE_12:
            place = next((place for place, words in _words().items() if name in words), "node_calls")
            found.setdefault(place, []).append(name)
    return found


@cache
def _words() -> dict[str, frozenset[str]]:
    """What functions each file names."""
    files = sorted(FOLDER.glob("*_calls.py"))
    named = re.compile(r'(?:def |")(_*cuda\w+?)(?:_12)?(?=["=(])')
    return {file.stem: frozenset(named.findall(file.read_text("utf-8"))) for file in files}


def _missing() -> list[str]:
    names = {plain(name) for release in RELEASES for name in exported(release)}
    return sorted(name for name in names if all(answering(name, release) is None for release in RELEASES))


def _lines(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def page() -> str:
    """The page's text."""
    subjects = _subjects()
    titles = {place: _SUBJECTS.get(place, place.removesuffix("_calls").capitalize()) for place in subjects}
    parts = [_INTRODUCTION]
    parts += [f"## {titles[place]}\n\n{_lines(subjects[place])}\n" for place in sorted(subjects, key=_order)]
    old = _lines(sorted(OF_RELEASE_12))
    parts.append(f"## Other forms in CUDA 12\n\nThese have other parameters in `libcudart.so.12`: {old}\n")
    missing = _lines(_missing())
    parts.append(
        f"## Not there\n\nThese return `cudaErrorNotSupported`, and say their name once: {missing}\n"
    )
    return "\n".join(parts)


def _order(place: str) -> tuple[int, str]:
    known = list(_SUBJECTS)
    return (known.index(place) if place in known else len(known), place)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
