"""What the launch descriptions of this folder mean: cases read from JSON, their arrays, their kernels' names.

An argument is `type=value` for a scalar or `type:length:init` for an array, in NumPy's short type codes.
Array j of a case, counted from 0 among its arrays, is made with RandomState(1000 + j):

    zero, one     all elements alike
    rand          random_sample for floats, randint(0, 256) for bytes, randint(0, 2**15 - 1) for 16 bits,
                  else randint(0, 2**31 - 1)
    perm          a permutation of 0 ... length - 1
    arange        0, 1, 2, ...
    index:N       randint(0, N): indices into N elements
    rows:N        the first element of each row of a matrix, rows having randint(0, N + 1) elements
    list:A,B,...  these numbers

Python kernels have extents: `f4:20x30:rand`. They take an array as the parameters that `parameters` names
(the fields of warpglass.source.compiled.Argument).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One launch: extents are padded to three, `shared` is in bytes, `kernel` as C++ writes it."""

    id: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    args: tuple[str, ...]
    parameters: tuple[tuple[str, ...], ...] | None = None  # of each argument, for Python kernels

    def arguments(self) -> list[Any]:
        """Arrays and NumPy scalars, made anew."""
        made: list[Any] = []
        for text in self.args:
            number = sum(isinstance(value, np.ndarray) for value in made)
            made.append(_scalar(text) if "=" in text else _array(text, number))
        return made


def read_cases(path: Path) -> list[Case]:
    """The cases of a file."""
    return [
        Case(
            row["id"],
            row["kernel"],
            _three(row["grid"]),
            _three(row["block"]),
            row.get("shared", 0),
            tuple(row["args"]),
            tuple(map(tuple, row["parameters"])) if "parameters" in row else None,
        )
        for row in json.loads(path.read_text())
    ]


def _three(extents: list[int]) -> tuple[int, int, int]:
    x, y, z = [*extents, 1, 1][:3]
    return x, y, z


def _scalar(text: str) -> Any:
    kind, value = text.split("=")
    return np.dtype(kind).type(float(value) if kind[0] == "f" else int(value))


def _array(text: str, number: int) -> Array:
    kind, extents, init, *rest = text.split(":")
    shape = tuple(map(int, extents.split("x")))
    values = _values(np.dtype(kind), prod(shape), init, ":".join(rest), np.random.RandomState(1000 + number))
    return values.astype(kind).reshape(shape)


def _values(
    dtype: np.dtype[Any], length: int, init: str, option: str, random: np.random.RandomState
) -> Array:
    match init:
        case "zero":
            return np.zeros(length)
        case "one":
            return np.ones(length)
        case "perm":
            return random.permutation(length)
        case "arange":
            return np.arange(length)
        case "index":
            return random.randint(0, int(option), length)
        case "rows":
            return np.append(0, np.cumsum(random.randint(0, int(option) + 1, length - 1)))
        case "list":
            return np.array(option.split(","), "f8")
        case "rand" if dtype.kind == "f":
            return random.random_sample(length)
        case "rand":
            return random.randint(0, {1: 256, 2: 2**15 - 1}.get(dtype.itemsize, 2**31 - 1), length)
        case _:
            raise ValueError(f"unknown init {init!r}")


# The Itanium C++ ABI's codes of the template arguments that stand in this folder.
_TYPES = {"float": "f", "double": "d", "int": "i", "short": "s", "char": "c", "unsigned char": "h"}


def entry_pattern(kernel: str) -> re.Pattern[str]:
    """Matches the machine code's name of a kernel: itself for extern "C", mangled for an instance."""
    name, _, arguments = kernel.rstrip(">").partition("<")
    if not arguments:
        return re.compile(re.escape(name))
    return re.compile(f"_Z{len(name)}{name}I{''.join(map(_mangled, arguments.split(',')))}E.*")


def _mangled(argument: str) -> str:
    if argument in ("true", "false"):
        return f"Lb{int(argument == 'true')}E"
    if found := re.fullmatch(r"(\d+)(u?)", argument):
        return f"L{'j' if found[2] else 'i'}{found[1]}E"
    return _TYPES.get(argument, f"{len(argument)}{argument}")


def parameter_values(case: Case, arguments: list[Any], addresses: list[int]) -> list[Any]:
    """The NumPy scalars that the kernel's parameters get, given the addresses of the arrays in order."""
    values: list[Any] = []
    places = iter(addresses)
    for number, value in enumerate(arguments):
        if not isinstance(value, np.ndarray):
            values.append(value)
            continue
        fields = ("pointer",) if case.parameters is None else case.parameters[number]
        address = next(places)
        values += [np.int64(_field(field, value, address)) for field in fields]
    return values


def _field(field: str, array: Array, address: int) -> int:
    what, _, dimension = field.partition(":")
    k = int(dimension or 0)
    return {
        "pointer": lambda: address,
        "offset": lambda: 0,
        "null": lambda: 0,
        "size": lambda: array.size,
        "itemsize": lambda: array.itemsize,
        "shape": lambda: array.shape[k],
        "stride": lambda: array.strides[k] // array.itemsize,
        "byte_stride": lambda: array.strides[k],
    }[what]()
