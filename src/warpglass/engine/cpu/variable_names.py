"""What the author calls the variables of a kernel's shared memory."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from ...program import Program

# numba-cuda-mlir numbers the arrays that kernels and the functions they call make, as it comes to them.
_NUMBERED = re.compile(r"static_shared_memory_\d+")


def plain_name(symbol: str) -> str:
    """`s` for the C++ symbol of a variable in a function, `_ZZ1fE1s`, and `f` for a function's, `_Z1fi`.

    Other symbols stay as they are.
    """
    function = re.match(r"_ZL?(\d+)(\w+)", symbol)
    if function and len(function[2]) >= int(function[1]):
        return function[2][: int(function[1])]
    local = re.fullmatch(r"_ZZ.*E(\d+)(\w+?)(_\d+)?", symbol)
    if local and len(local[2]) >= int(local[1]):
        return local[2][: int(local[1])]
    return symbol


class SharedVariables:
    """The variables of a kernel's shared memory; the text of a Python kernel is read once, when needed."""

    def __init__(self, program: Program, language: str):
        self._program = program
        self._is_python = language == "python"

    def at(self, offset: int) -> tuple[str, int]:
        """The variable that an offset belongs to, and where it starts.

        What has no name is "shared memory", which starts at 0: arrays of Python whose text is not at hand,
        or more of them than the kernel's function itself makes.
        """
        offsets = self._program.shared.offsets
        below = [(start, symbol) for symbol, start in offsets.items() if start <= max(offset, 0)]
        if not below:
            return "shared memory", 0
        start, symbol = max(below)
        if not self._is_python:
            return plain_name(symbol), start
        name = self._python_names.get(symbol)
        return (name, start) if name else ("shared memory", 0)

    @cached_property
    def _python_names(self) -> Mapping[str, str]:
        offsets = self._program.shared.offsets
        symbols = sorted(filter(_NUMBERED.fullmatch, offsets), key=lambda one: (len(one), one))
        names = _arrays_made(self._program)
        if len(symbols) != len(names):  # one that nobody reads is left out, and which that is nobody says
            return {}
        return dict(zip(symbols, names, strict=True))


def _arrays_made(program: Program) -> Sequence[str]:
    """The names of `NAME = cuda.shared.array(...)` in the kernel's function, in their order.

    () if a function that it calls makes such arrays too: theirs are numbered with the kernel's.
    """
    steps = [step for block in program.blocks for step in block.all_steps]
    chains = [source.chain for step in steps if (source := step.instruction.source) is not None]
    file = chains[0][-1].file if chains else ""
    linecache.checkcache(file)
    try:
        module = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ()
    functions = [one for one in ast.walk(module) if isinstance(one, ast.FunctionDef)]
    lines = {chain[-1].line for chain in chains} - {0}
    around = [one for one in functions if lines and _holds(one, min(lines)) and _holds(one, max(lines))]
    if not around or any(place.file != file for chain in chains for place in chain):
        return ()
    kernel = max(around, key=lambda one: one.lineno)
    called = {place.line for chain in chains for place in chain[:-1]}
    others = [one for one in functions if one is not kernel and any(_holds(one, line) for line in called)]
    if any(_shared_arrays(one) for one in others):
        return ()
    return _shared_arrays(kernel)


def _holds(function: ast.FunctionDef, line: int) -> bool:
    return function.lineno <= line <= (function.end_lineno or 0)


def _shared_arrays(function: ast.FunctionDef) -> list[str]:
    made = [one for one in ast.walk(function) if isinstance(one, ast.Assign) and _makes_shared(one.value)]
    targets = [one.targets[0] for one in sorted(made, key=lambda one: one.lineno)]
    return [one.id if isinstance(one, ast.Name) else "" for one in targets]


def _makes_shared(value: ast.expr) -> bool:
    """Whether an expression is a call of shared.array with a size: those of size 0 are dynamic."""
    if not (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "array"
    ):
        return False
    owner = value.func.value
    shared = (owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")) == "shared"
    shape = value.args[0] if value.args else next((k.value for k in value.keywords if k.arg == "shape"), None)
    return shared and not (isinstance(shape, ast.Constant) and shape.value == 0)
