"""What a user types on the command line for sizes, launch shapes, kernels and arguments.

Belongs here: text to values, with errors that quote the text. Nothing is run and nothing printed.

An argument is `type[shape]:fill` for an array (f8[1048576]:rand, i4[512,512]:perm, f4[100]; no fill means
zeros; `=` may stand for the colon), the name of a .npy file, `type=value` for a scalar (u4=1048576, f8=0.5)
or for several values (f4=1,2,3: an array, or a float3), or `null`. Types are NumPy's short codes, or the
names of C (float) and NumPy (float32). Fills are those of array_fills.py; random ones depend on the array's
place, so that a command line names its data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..host.budget import MEMORY, in_units, memory_limit
from .array_fills import check_fill, filled, parse_number
from .marks import all_of, out
from .spelling import did_you_mean

if TYPE_CHECKING:
    import numpy as np

TYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "c8", "c16")
# Other names of types: those of C, then NumPy's.
TYPE_NAMES = {
    "half": "f2",
    "float": "f4",
    "double": "f8",
    "char": "i1",
    "short": "i2",
    "int": "i4",
    "long": "i8",
    "uchar": "u1",
    "ushort": "u2",
    "uint": "u4",
    "unsigned": "u4",
    "ulong": "u8",
    "size_t": "u8",
    "bool": "b1",
    **{f"{name}{8 * size}": f"{name[0]}{size}" for name in ("int", "uint") for size in (1, 2, 4, 8)},
    **{f"float{8 * size}": f"f{size}" for size in (2, 4, 8)},
    **{f"complex{8 * size}": f"c{size}" for size in (8, 16)},
}
_NULL = ("null", "none", "nullptr")
_SUFFIXES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_SIZE = re.compile(r"(?P<number>[0-9_]+(?:\.[0-9]+)?)(?P<suffix>[kKmMgG]?)")
_TARGET = re.compile(r"(?P<file>.+?\.(?:cu|cuh|ptx|py)):(?P<kernel>.+)", re.DOTALL)
_ARRAY = re.compile(r"(?P<type>[a-z]\w*)\[(?P<shape>[^\]]+)\](?:[:=](?P<init>.+))?")
_SCALAR = re.compile(r"(?P<type>[a-z]\w*)=(?P<value>.+)")


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """An array to be made: NumPy type code, shape, how it is filled."""

    type: str
    shape: tuple[int, ...]
    init: str


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """A scalar: NumPy type code and value; or several values."""

    type: str
    value: float | int | complex | tuple[float | int | complex, ...]


@dataclass(frozen=True, slots=True)
class FileSpec:
    """An array in a .npy file."""

    path: Path


@dataclass(frozen=True, slots=True)
class NullSpec:
    """A null pointer."""


Spec = ArraySpec | ScalarSpec | FileSpec | NullSpec


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


def parse_argument(text: str) -> Spec:
    """Return what an --arg describes."""
    plain = text.strip()
    if plain.lower() in _NULL:
        return NullSpec()
    if plain.lower().endswith(".npy"):
        return FileSpec(Path(plain))
    if found := _ARRAY.fullmatch(plain):
        kind = _type_code(found["type"], text)
        init = (found["init"] or "zero").strip()
        check_fill(init, text)
        return ArraySpec(kind, tuple(map(parse_size, found["shape"].split(","))), init)
    if found := _SCALAR.fullmatch(plain):
        kind = _type_code(found["type"], text)
        return ScalarSpec(kind, _parse_values(kind, found["value"], text))
    raise ArgumentError(
        f"argument {text!r}: write an array as f8[1048576]:rand or x.npy, or a scalar as u4=1048576"
    )


def make_arguments(specs: Sequence[Spec], first: int = 0) -> list[Any]:
    """Return the NumPy arrays and scalars that the specifications describe; arrays count from `first`."""
    arguments: list[Any] = []
    arrays = first
    for spec in specs:
        match spec:
            case ScalarSpec():
                arguments.append(_make_scalar(spec))
            case NullSpec():
                arguments.append(None)
            case FileSpec(path):
                arguments.append(_load(path))
                arrays += 1
            case ArraySpec():
                arguments.append(_make_array(spec, arrays))
                arrays += 1
    return arguments


def parse_setting(text: str) -> tuple[str, Any]:
    """Return the variable's name and its value of NAME=VALUE, where VALUE is as for --arg, or numbers."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise ArgumentError(f"--set {text!r}: write NAME=VALUE, as in M=weights.npy, M=f4[9]:rand or n=5")
    plain = value.strip()
    if plain.startswith("["):
        try:
            return name.strip(), json.loads(plain)
        except ValueError:
            raise ArgumentError(f"--set {text!r}: {plain!r} is no list such as [[1, 2], [3, 4]]") from None
    numbers = [parse_number(part) for part in plain.split(",")]
    if None not in numbers:
        return name.strip(), numbers[0] if len(numbers) == 1 else numbers
    return name.strip(), make_arguments([parse_argument(plain)])[0]


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


def _make_scalar(spec: ScalarSpec) -> Any:
    import numpy as np  # deferred: `warpglass --help` must not wait for it

    dtype = np.dtype(spec.type)
    try:
        if isinstance(spec.value, tuple):
            return np.array(spec.value, dtype)
        return dtype.type(spec.value)
    except (OverflowError, TypeError, ValueError):
        raise ArgumentError(f"{spec.value} does not fit into {spec.type}") from None


def _make_array(spec: ArraySpec, number: int) -> np.ndarray[Any, Any]:
    import numpy as np

    dtype, shown = np.dtype(spec.type), f"{spec.type}[{','.join(map(str, spec.shape))}]"
    count = prod(spec.shape)
    too_large = ArgumentError(
        f"argument {shown!r} needs {in_units(count * dtype.itemsize)}, more than the "
        f"{in_units(memory_limit())} that are allowed ({MEMORY})"
    )
    if count * dtype.itemsize > memory_limit():
        raise too_large
    try:
        return filled(spec.init, dtype, count, number, f"{shown}:{spec.init}").reshape(spec.shape)
    except MemoryError:
        raise too_large from None


def _load(path: Path) -> np.ndarray[Any, Any]:
    """The array of a .npy file, in C order."""
    import numpy as np

    try:
        return np.array(np.load(path, allow_pickle=False), order="C")
    except OSError as problem:
        raise ArgumentError(f"argument {str(path)!r}: {problem.strerror or problem}") from None
    except (ValueError, EOFError) as problem:
        raise ArgumentError(f"argument {str(path)!r} is no array of numbers: {problem}") from None


def _parse_values(kind: str, value: str, text: str) -> Any:
    parts = value.strip().removeprefix("(").removesuffix(")").split(",")
    numbers = tuple(_parse_number(kind, part.strip(), text) for part in parts)
    return numbers[0] if len(numbers) == 1 else numbers


def _parse_number(kind: str, value: str, text: str) -> float | int | complex:
    number = parse_number(value)
    if number is not None and (kind[0] == "c" or not isinstance(number, complex)):
        if kind[0] in "fc":
            return number if isinstance(number, complex) else float(number)
        if isinstance(number, int):
            return number
    try:
        return parse_size(value)  # u4=2^20, i4=1e6
    except ArgumentError:
        raise ArgumentError(f"argument {text!r}: {value!r} is no {kind} value") from None


def _type_code(word: str, text: str) -> str:
    code = TYPE_NAMES.get(word, word)
    if code not in TYPES:
        near = did_you_mean(word, [*TYPES, *TYPE_NAMES])
        raise ArgumentError(f"argument {text!r}: unknown type {word!r}{near}; there is {', '.join(TYPES)}")
    return code
