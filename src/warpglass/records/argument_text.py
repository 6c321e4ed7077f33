"""What a user types on the command line for sizes, launch shapes, kernels and arguments.

Belongs here: text to values, with errors that quote the text. Nothing is run and nothing printed.

An argument is `type[shape]:init` for an array (f8[1048576]:rand, i4[512,512]:perm, f4[100]; no init means
zeros) or `type=value` for a scalar (u4=1048576, f8=0.5). Types are NumPy's short codes. Array number j
(counted among the arrays, from 0) is filled from RandomState(1000 + j), so a command line names its data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from .marks import all_of, out

if TYPE_CHECKING:
    import numpy as np

TYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "c8", "c16")
INITS = ("zero", "one", "rand", "perm", "arange")
_SUFFIXES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_SIZE = re.compile(r"(?P<number>[0-9_]+(?:\.[0-9]+)?)(?P<suffix>[kKmMgG]?)")
_TARGET = re.compile(r"(?P<file>.+?\.(?:cu|cuh|ptx|py)):(?P<kernel>.+)", re.DOTALL)
_ARRAY = re.compile(r"(?P<type>[a-z]\d+)\[(?P<shape>[^\]]+)\](?::(?P<init>\w+))?")
_SCALAR = re.compile(r"(?P<type>[a-z]\d+)=(?P<value>.+)")


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """An array to be made: NumPy type code, shape, how it is filled."""

    type: str
    shape: tuple[int, ...]
    init: str


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """A scalar: NumPy type code and value."""

    type: str
    value: float | int


def parse_size(text: str) -> int:
    """Return the number that 2^24, 16M (binary: 16 * 2^20), 1e6, 1_000 or 4096 stands for."""
    stripped = text.strip()
    base, power, exponent = stripped.replace("**", "^").partition("^")
    if power and base.isdigit() and exponent.isdigit() and len(base) <= 4 and int(exponent) <= 64:
        return int(base) ** int(exponent)
    if found := _SIZE.fullmatch(stripped):
        number = found["number"].replace("_", "")
        scaled = float(number) if "." in number else int(number)
        return _whole(scaled * _SUFFIXES[found["suffix"].lower()], text)
    try:
        return _whole(float(stripped), text)
    except (ValueError, OverflowError):
        raise ArgumentError(f"size {text!r}: write 16777216, 2^24, 16M or 1e6") from None


def _whole(value: float, text: str) -> int:
    if value != int(value) or value < 0:
        raise ArgumentError(f"size {text!r} is no whole number of elements")
    return int(value)


def parse_dimensions(text: str) -> tuple[int, ...]:
    """Return one to three extents of a grid or block: 512, 16x16, 8,8,4."""
    parts = re.split(r"[x,]", text.strip())
    if not 1 <= len(parts) <= 3:
        raise ArgumentError(f"{text!r}: a grid or block has one to three dimensions, as in 512 or 16x16")
    return tuple(parse_size(part) for part in parts)


def parse_target(text: str) -> tuple[Path, str]:
    """Split FILE:KERNEL at the colon that follows the file's ending (.cu, .ptx or .py)."""
    found = _TARGET.fullmatch(text)
    if found is None:
        raise ArgumentError(
            f"{text!r}: write FILE:KERNEL with a .cu, .ptx or .py file, as in reduce.cu:sum<512>"
        )
    return Path(found["file"]), found["kernel"]


def parse_argument(text: str) -> ArraySpec | ScalarSpec:
    """Return what an --arg describes."""
    if found := _ARRAY.fullmatch(text.strip()):
        _check(found["type"], TYPES, "type", text)
        init = found["init"] or "zero"
        _check(init, INITS, "init", text)
        return ArraySpec(found["type"], tuple(map(parse_size, found["shape"].split(","))), init)
    if found := _SCALAR.fullmatch(text.strip()):
        _check(found["type"], TYPES, "type", text)
        return ScalarSpec(found["type"], _parse_number(found["type"], found["value"], text))
    raise ArgumentError(f"argument {text!r}: write an array as f8[1048576]:rand or a scalar as u4=1048576")


def make_arguments(specs: Sequence[ArraySpec | ScalarSpec]) -> list[Any]:
    """Return the NumPy arrays and scalars that the specifications describe."""
    arguments: list[Any] = []
    arrays = 0
    for spec in specs:
        if isinstance(spec, ScalarSpec):
            arguments.append(_make_scalar(spec))
        else:
            arguments.append(_make_array(spec, arrays))
            arrays += 1
    return arguments


def make_marked(texts: Sequence[str]) -> list[Any]:
    """Return the arguments that texts describe, with their marks: out:, all: and ro: stand before an array.

    The first two are `wg.out` and `wg.all_of`, the last makes an array that may not be written.
    """
    parts = [text.partition(":") if text.partition(":")[0] in _MARKS else ("", "", text) for text in texts]
    made = make_arguments([parse_argument(text) for _, _, text in parts])
    return [_MARKS[mark](value) if mark else value for (mark, _, _), value in zip(parts, made, strict=True)]


def _read_only(array: Any) -> Any:
    if hasattr(array, "flags"):
        array.flags.writeable = False
    return array


_MARKS: dict[str, Callable[[Any], Any]] = {"out": out, "all": all_of, "ro": _read_only}


def _make_scalar(spec: ScalarSpec) -> np.generic[Any]:
    import numpy as np  # deferred: `warpglass --help` must not wait for it

    try:
        return np.dtype(spec.type).type(spec.value)
    except OverflowError:
        raise ArgumentError(f"{spec.value} does not fit into {spec.type}") from None


def _make_array(spec: ArraySpec, number: int) -> np.ndarray[Any, Any]:
    import numpy as np

    dtype = np.dtype(spec.type)
    count = int(np.prod(spec.shape, dtype=np.int64))
    rng = np.random.RandomState(1000 + number)
    if spec.init == "zero":
        flat = np.zeros(count, dtype)
    elif spec.init == "one":
        flat = np.ones(count, dtype)
    elif spec.init == "arange":
        flat = np.arange(count).astype(dtype)
    elif spec.init == "perm":
        flat = rng.permutation(count).astype(dtype)
    elif dtype.kind in "fc":
        flat = rng.random_sample(count).astype(dtype)
    else:
        largest = {1: 256, 2: 2**15 - 1}.get(dtype.itemsize, 2**31 - 1)
        flat = rng.randint(0, largest, count).astype(dtype)
    return flat.reshape(spec.shape)


def _parse_number(kind: str, value: str, text: str) -> float | int:
    try:
        return float(value) if kind[0] in "fc" else int(value, 0)
    except ValueError:
        pass
    try:
        return parse_size(value)  # u4=2^20, i4=1e6
    except ArgumentError:
        raise ArgumentError(f"argument {text!r}: {value!r} is no {kind} value") from None


def _check(word: str, known: Sequence[str], what: str, text: str) -> None:
    if word not in known:
        raise ArgumentError(f"argument {text!r}: unknown {what} {word!r}; there is {', '.join(known)}")
