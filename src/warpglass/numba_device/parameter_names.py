"""What the parameters of a kernel are called that a program has compiled with numba.

Belongs here: finding the Python function behind an entry of PTX. Its mangled name has the module and the
function, which this process has imported; functions within functions are found by the file and line that the
PTX names, if it has lines. Where neither works nobody knows the names.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import CodeType

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"\n]*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)", re.MULTILINE)


def parameter_names(parts: Sequence[str], ptx: str, entry: str) -> tuple[str, ...]:
    """The parameters of the function with these parts of a qualified name; () if nobody knows."""
    return _of_object(parts) or _of_line(parts[-1] if parts else "", ptx, entry)


def _of_object(parts: Sequence[str]) -> tuple[str, ...]:
    """The parameters of a function of an imported module, or of the program itself, which needs no name."""
    if len(parts) == 1:
        parts = ("__main__", *parts)
    for end in range(len(parts) - 1, 0, -1):
        found = sys.modules.get(".".join(parts[:end]))
        if found is None:
            continue
        for name in parts[end:]:
            found = getattr(found, name, None)
        code = getattr(getattr(found, "py_func", found), "__code__", None)
        return code.co_varnames[: code.co_argcount] if isinstance(code, CodeType) else ()
    return ()


def _of_line(name: str, ptx: str, entry: str) -> tuple[str, ...]:
    """The parameters of the function of a name around the line where an entry begins."""
    start = ptx.find(entry)
    found = _LOC.search(ptx, max(start, 0))
    files = dict(_FILE.findall(ptx))
    if found is None or found[1] not in files:
        return ()
    return _declared(files[found[1]], name, int(found[2]))


@lru_cache(maxsize=256)
def _declared(file: str, name: str, line: int) -> tuple[str, ...]:
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min((one.lineno for one in node.decorator_list), default=node.lineno)
            if first <= line <= (node.end_lineno or line):
                return tuple(one.arg for one in (*node.args.posonlyargs, *node.args.args))
    return ()
