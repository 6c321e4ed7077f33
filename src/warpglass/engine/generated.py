"""The generator's part of a version of a kernel: made once, then known from the disk by what it is made from.

What a launch needs of it besides object code is kept under a key of the PTX, the shape, the promises, the
addresses and the generator itself, so that a kernel of an earlier process runs without being generated again.
The LLVM IR is not kept; whoever needs it has it generated. Entries are pickled: they are as trusted as the
object code beside them, in a directory that is the user's own (source/cache.py).
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ..codegen import KernelCode, Promises, Shape, Symbols, generate, host_key
from ..program import Program
from ..source.cache import Cache, digest

_CACHE = Cache("code")
_MAKERS = ("codegen", "isa", "program", "ptx")  # the folders of this package on which generated code depends


@dataclass(frozen=True, slots=True)
class Generated:
    """A kernel's code without its IR; `key` is the IR's digest, `length` its characters.

    `ir` gives the IR for quick code (True) or for optimised code.
    """

    code: KernelCode
    key: str
    length: int
    ir: Callable[[bool], str]


def fresh(code: KernelCode) -> Generated:
    """Code that is nobody else's: an observed kernel's."""
    bare = replace(code, ir="", loop="", quick_loop="")
    key = digest(code.ir, code.loop, code.quick_loop)
    return Generated(bare, key, len(code.text(quick=True)), lambda quick: code.text(quick=quick))


def known(
    text: str, program: Program, shape: Shape, symbols: Symbols, promises: Promises | None
) -> Generated:
    """Code for one version of the kernel that the PTX `text` has under the program's name."""

    def make(quick: bool) -> str:
        return generate(program, shape, symbols, (), promises).text(quick=quick)

    place = digest(_generator(), program.name, text, repr((shape, symbols, promises)))
    entry = _CACHE.get(place)
    if entry is not None:
        code, key, length = pickle.loads(entry)
        return Generated(code, key, length, make)
    found = fresh(generate(program, shape, symbols, (), promises))
    _CACHE.put(place, pickle.dumps((found.code, found.key, found.length)))
    return found


@lru_cache(maxsize=1)
def _generator() -> str:
    """What stands for the generator: this package's files, the processor and Python."""
    root = Path(__file__).resolve().parents[1]
    files = sorted(path for folder in _MAKERS for path in (root / folder).glob("**/*.py"))
    states = [
        (str(path.relative_to(root)), (at := path.stat()).st_size, at.st_mtime_ns, at.st_ctime_ns)
        for path in files
    ]
    return digest(host_key(), sys.version, repr(states))
