"""Exceptions that Python kernels raise: what they leave in module variables, made into the exception itself.

A kernel compiled with debug=True notes the first exception's code and, with numba-cuda, the thread's place;
both back ends clear the code before a launch and ask here after it.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ...errors import mark_raised
from ...source.compiled import Compiled


def clear_exception(compiled: Compiled, clear: Callable[[str], None]) -> None:
    """Forget what an earlier launch raised; `clear` sets a 32-bit variable to 0 by its name."""
    if compiled.exceptions is not None:
        clear(compiled.exceptions.code)


def raise_exception(compiled: Compiled, word: Callable[[str], int]) -> None:
    """Raise what a thread of the launch raised, if any; `word` reads a 32-bit variable by its name."""
    variables = compiled.exceptions
    if variables is None:
        return
    code = word(variables.code)
    if code == 0:
        return
    raised = variables.table.get(code)
    if raised is None:
        error: BaseException = SystemError(f"unknown error {code} in kernel {compiled.name}")
    else:
        where = []
        if raised.place is not None:
            function, file, line = raised.place
            where.append(f"In function {function!r}, file {os.path.abspath(file)}, line {line}")  # noqa: PTH100
        if variables.places:
            places = [word(name) for name in variables.places]
            where.append(f"tid={places[2::-1]} ctaid={places[:2:-1]}")  # numba's order is z, y, x
        first, *others = raised.arguments or (None,)
        text = ": ".join(part for part in (", ".join(where), None if first is None else str(first)) if part)
        error = raised.kind(text, *others)
    mark_raised(error, compiled.name)
    raise error
