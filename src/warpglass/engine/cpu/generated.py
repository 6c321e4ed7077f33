"""What is made of a kernel before machine code: made once, then known from the disk by what it is made of.

What a launch needs of a kernel's program is kept under a key of the PTX and of this package's code; what it
needs of the generator's part of a version, under one of the shape, the promises and the addresses as well.
So a kernel of an earlier process runs without being parsed or generated again. The program and the LLVM IR
are not kept; whoever needs them has them made. Entries are pickled: they are as trusted as the object code
beside them, in a directory that is the user's own (source/cache.py).
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from ...codegen import BlockShape, KernelCode, Promises, Symbols, generate, host_key
from ...program import Program
from ...program.facts import Facts
from ...source.cache import Cache, digest

_CODE, _FACTS = Cache("code"), Cache("facts")
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


def known_facts(text: str, entry: str, find: Callable[[], Facts]) -> Facts:
    """The facts of the kernel that the PTX `text` has under the name `entry`; `find` finds them."""
    place = digest(_generator(), entry, text)
    kept = _FACTS.get(place)
    if kept is not None:
        return pickle.loads(kept)
    found = find()
    _FACTS.put(place, pickle.dumps(found))
    return found


def known_code(
    text: str,
    entry: str,
    program: Callable[[], Program],
    shape: BlockShape,
    symbols: Symbols,
    promises: Promises | None,
    *,
    small: bool = False,
    kept: bool = False,
) -> Generated | None:
    """Code for one version of the kernel that the PTX `text` has under the name `entry`.

    `small` asks for small code, `kept` for None if it would have to be generated.
    """

    def make() -> KernelCode:
        return generate(program(), shape, symbols, (), promises, small=small)

    place = digest(_generator(), entry, text, repr((shape, symbols, promises, small)))
    known = _CODE.get(place)
    if known is not None:
        code, key, length = pickle.loads(known)
        return Generated(code, key, length, lambda quick: make().text(quick=quick))
    if kept:
        return None
    found = fresh(make())
    _CODE.put(place, pickle.dumps((found.code, found.key, found.length)))
    return found


@lru_cache(maxsize=1)
def _generator() -> str:
    """What stands for the generator: this package's files, the processor and Python."""
    root = Path(__file__).resolve().parents[2]
    files = sorted(path for folder in _MAKERS for path in (root / folder).glob("**/*.py"))
    states = [
        (str(path.relative_to(root)), (at := path.stat()).st_size, at.st_mtime_ns, at.st_ctime_ns)
        for path in files
    ]
    return digest(host_key(), sys.version, repr(states))
