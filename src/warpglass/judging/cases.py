"""What each case passes to a kernel and what it must leave, fresh for every launch.

Belongs here: data. A case has as many draws of random data as are asked for, all of the task's seed: draw 0
is that of the engine, a GPU gets another for every launch, so that nothing of a launch helps the next.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..records.argument_text import make_arguments, parse_argument
from ..sweeps.reference import call_reference, difference
from .task import OUT, Task
from .verdicts import CHANGED, UNWRITTEN, WRONG

_POISON = 0xA5  # of every byte of an output: no likely value of any type, no NaN
_KEPT = 256 << 20  # bytes of arguments and results that a process keeps


def arguments(task: Task, index: int, draw: int = 0) -> list[Any]:
    """Arguments of a case for one launch: random ones by the task's seed, outputs poisoned."""
    return [value.copy() if isinstance(value, np.ndarray) else value for value in made(task, index, draw)]


def made(task: Task, index: int, draw: int = 0) -> Sequence[Any]:
    """The same, to be looked at only: they cannot be written to."""
    return _kept((task.key, index, draw, ""), lambda: _make(task, index, draw))


def expected(task: Task, index: int, draw: int = 0) -> Sequence[Any]:
    """An array for each of the arguments', or None for one that is only to be read. Raises ArgumentError."""
    return _kept((task.key, index, draw, "expected"), lambda: _expect(task, index, draw))


def compare(task: Task, index: int, draw: int, args: Sequence[Any]) -> tuple[str, str, str] | None:
    """What is wrong with arguments after a launch: a verdict, its text, its numbers; None if nothing is."""
    case = task.cases[index]
    before = made(task, index, draw)
    places = [j for j, value in enumerate(args) if isinstance(value, np.ndarray)]
    for number, (j, right) in enumerate(zip(places, expected(task, index, draw), strict=True), 1):
        left: np.ndarray[Any, Any] = args[j]
        if right is None:
            if left.tobytes() != before[j].tobytes():
                return CHANGED, f"argument {j + 1} is only to be read", ""
            continue
        said = difference(left, right, task.tolerance, f"argument {j + 1}")
        if not said:
            continue
        count = _poisoned(left) if case.args[j].startswith(OUT) else 0
        if count:
            return UNWRITTEN, f"{count} of {left.size} elements of argument {j + 1} were not written", ""
        return WRONG, f"array {number} differs from the reference", f": {said}"
    return None


def _poisoned(array: np.ndarray[Any, Any]) -> int:
    """How many elements are as they were before the launch."""
    if not array.size:
        return 0
    return int((array.view(np.uint8) == _POISON).reshape(array.size, -1).all(axis=1).sum())


def _make(task: Task, index: int, draw: int) -> list[Any]:
    case = task.cases[index]
    words = f"{task.seed} {index} {case.name}" + (f" {draw}" if draw else "")
    seed = hashlib.sha256(words.encode()).digest()
    values = make_arguments(
        [parse_argument(text.removeprefix(OUT)) for text in case.args], int.from_bytes(seed[:3], "little")
    )
    for text, value in zip(case.args, values, strict=True):
        if text.startswith(OUT) and isinstance(value, np.ndarray):
            value.view(np.uint8).reshape(-1)[:] = _POISON
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return values


def _expect(task: Task, index: int, draw: int) -> list[Any]:
    given = arguments(task, index, draw)
    for text, value in zip(task.cases[index].args, given, strict=True):
        if text.startswith(OUT) and isinstance(value, np.ndarray):
            value[...] = 0  # a reference is not to trip over poison
    return call_reference(task.reference, given)


_Key = tuple[str, int, int, str]
_values: OrderedDict[_Key, Sequence[Any]] = OrderedDict()


def _kept(key: _Key, make: Callable[[], Sequence[Any]]) -> Sequence[Any]:
    """A value that is made anew only if it was asked for long ago."""
    if key in _values:
        _values.move_to_end(key)
        return _values[key]
    value = _values[key] = make()
    while len(_values) > 1 and sum(map(_size, _values.values())) > _KEPT:
        _values.popitem(last=False)
    return value


def _size(values: Sequence[Any]) -> int:
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))
