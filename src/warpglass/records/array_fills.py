"""How an array that is typed on the command line is filled: `rand`, `linspace(0, 1)`, `3.5`, `1,2,3`.

Belongs here: the table of fills with their parameters, and reading one. Random fills of array number j
(counted among the arrays, from 0) come from RandomState(1000 + j) unless a seed is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from .spelling import did_you_mean

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Number = int | float | complex
_CALL = re.compile(r"(?P<name>[a-z_]+)\s*(?:\((?P<given>[^()]*)\))?")
_Maker = Callable[["np.dtype[Any]", int, Mapping[str, Any], int], "Array"]


@dataclass(frozen=True, slots=True)
class Fill:
    """One row: parameters with their defaults (None: to be given, or depends), and what makes the array."""

    parameters: Mapping[str, Number | None]
    make: _Maker


def _constant(value: Number | None) -> _Maker:
    def make(dtype: np.dtype[Any], count: int, given: Mapping[str, Any], _: int) -> Array:
        import numpy as np

        return np.full(count, given["value"] if value is None else value).astype(dtype)

    return make


def _zeros(dtype: np.dtype[Any], count: int, _: Mapping[str, Any], __: int) -> Array:
    import numpy as np

    return np.zeros(count, dtype)


def _arange(dtype: np.dtype[Any], count: int, given: Mapping[str, Any], _: int) -> Array:
    import numpy as np

    if given["start"] == 0 and given["step"] == 1:
        return np.arange(count).astype(dtype)
    return (given["start"] + given["step"] * np.arange(count)).astype(dtype)


def _linspace(dtype: np.dtype[Any], count: int, given: Mapping[str, Any], _: int) -> Array:
    import numpy as np

    return np.linspace(given["start"], given["stop"], count).astype(dtype)


def _random(given: Mapping[str, Any], number: int) -> np.random.RandomState:
    import numpy as np

    return np.random.RandomState(1000 + number if given["seed"] is None else int(given["seed"]))


def _uniform(dtype: np.dtype[Any], count: int, given: Mapping[str, Any], number: int) -> Array:
    rng, low, high = _random(given, number), given["low"], given["high"]
    if dtype.kind in "fc":
        found = rng.random_sample(count)
        if low is not None or high is not None:
            low, high = low or 0, 1 if high is None else high
            found = low + (high - low) * found
        return found.astype(dtype)
    largest = {1: 256, 2: 2**15 - 1}.get(dtype.itemsize, 2**31 - 1) if dtype.kind != "b" else 2
    first, last = int(low or 0), int(largest if high is None else high)
    return (
        rng.randint(first, last, count, dtype="i8").astype(dtype)
        if low or high
        else (rng.randint(0, largest, count).astype(dtype))
    )


def _normal(dtype: np.dtype[Any], count: int, given: Mapping[str, Any], number: int) -> Array:
    return _random(given, number).normal(given["mean"], given["deviation"], count).astype(dtype)


def _permutation(dtype: np.dtype[Any], count: int, given: Mapping[str, Any], number: int) -> Array:
    return _random(given, number).permutation(count).astype(dtype)


FILLS: dict[str, Fill] = {
    "zero": Fill({}, _zeros),
    "one": Fill({}, _constant(1)),
    "fill": Fill({"value": None}, _constant(None)),
    "arange": Fill({"start": 0, "step": 1}, _arange),
    "linspace": Fill({"start": 0, "stop": 1}, _linspace),
    "rand": Fill({"low": None, "high": None, "seed": None}, _uniform),
    "randn": Fill({"mean": 0, "deviation": 1, "seed": None}, _normal),
    "perm": Fill({"seed": None}, _permutation),
}
_ALIASES = {
    "zeros": "zero",
    "ones": "one",
    "full": "fill",
    "range": "arange",
    "random": "rand",
    "normal": "randn",
}


def check_fill(text: str, argument: str) -> None:
    """Raise ArgumentError if `text`, which stands in `argument`, is no way to fill an array."""
    _read(text, argument)


def filled(text: str, dtype: np.dtype[Any], count: int, number: int, argument: str) -> Array:
    """A flat array of `count` elements, array number `number`; raises ArgumentError if it cannot be."""
    import numpy as np

    fill, given = _read(text, argument)
    try:
        with np.errstate(over="ignore", invalid="raise"):
            if fill is not None:
                return fill.make(dtype, count, given, number)
            values = np.array(given["values"]).astype(dtype)
    except (ValueError, OverflowError, TypeError, FloatingPointError) as problem:
        raise ArgumentError(f"argument {argument!r}: {text} is not possible: {problem}") from None
    if len(values) == 1:
        return np.full(count, values[0], dtype)
    if len(values) != count:
        raise ArgumentError(f"argument {argument!r}: {len(values)} values for {count} elements")
    return values


def _read(text: str, argument: str) -> tuple[Fill | None, dict[str, Any]]:
    """The fill and its parameters; numbers alone are the values themselves."""
    found = _CALL.fullmatch(text.strip())
    if found is None or parse_number(text) is not None:
        values = [parse_number(part) for part in text.split(",")]
        if None in values:
            raise ArgumentError(
                f"argument {argument!r}: {text!r} is neither numbers nor one of {known_fills()}"
            )
        return None, {"values": values}
    name = _ALIASES.get(found["name"], found["name"])
    if name not in FILLS:
        near = did_you_mean(name, [*FILLS, *_ALIASES])
        raise ArgumentError(f"argument {argument!r}: unknown fill {name!r}{near}; there is {known_fills()}")
    fill = FILLS[name]
    given = dict(fill.parameters)
    free = list(given)
    for part in filter(None, (part.strip() for part in (found["given"] or "").split(","))):
        key, equals, value = part.rpartition("=")
        key = key.strip() if equals else (free[0] if free else "")
        number = parse_number(value)
        if key not in free or number is None:
            raise ArgumentError(f"argument {argument!r}: {part!r} is no parameter of {described(name)}")
        free.remove(key)
        given[key] = number
    if name == "fill" and given["value"] is None:
        raise ArgumentError(f"argument {argument!r}: fill needs a value, as in fill(0.5)")
    return fill, given


def described(name: str) -> str:
    """A fill with its parameters: `linspace(start=0, stop=1)`."""
    words = [key if value is None else f"{key}={value}" for key, value in FILLS[name].parameters.items()]
    return f"{name}({', '.join(words)})" if words else name


def known_fills() -> str:
    """All fills with their parameters."""
    return ", ".join(map(described, FILLS))


def parse_number(text: str) -> Number | None:
    """The number that a text is: 7, 0xff, 2.5, inf, 1+2j; None if it is none."""
    for kind in (lambda one: int(one, 0), float, complex):
        try:
            return kind(text.strip().replace(" ", ""))
        except ValueError:
            continue
    return None
