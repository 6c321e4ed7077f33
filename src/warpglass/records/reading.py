"""Reading records back: JSON text of unknown origin into the frozen dataclasses that wrote it.

Belongs here: the check of every value against the type of its field, and which kind of record a file holds. A
file that does not fit is refused with one sentence that names it and the field: `run.json: rows[3].seconds is
"fast"; it must be a number or null`. A file of a newer schema is refused, unknown keys are ignored, so that a
record with a new optional part is read by an older version.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

from ..errors import WarpglassError

MOST_BYTES = 512 * 2**20  # a record that is larger is none of ours
_SHOWN = 40  # characters of a wrong value that are quoted


def parse(text: str, where: str) -> dict[str, Any]:
    """The object of a JSON text; raises WarpglassError with the place at which it ends being one."""
    try:
        data = json.loads(text, parse_constant=lambda name: _refuse_constant(name, where))
    except json.JSONDecodeError as problem:
        raise WarpglassError(
            f"{where} is no JSON: {problem.msg} at line {problem.lineno}, column {problem.colno}"
            + ("; the file seems to have been cut off" if problem.pos >= len(text.rstrip()) - 1 else "")
        ) from None
    except RecursionError:
        raise WarpglassError(f"{where} is no record: it is nested too deeply") from None
    if not isinstance(data, dict):
        raise WarpglassError(f"{where} is no record: it is {_kind(data)}, not an object")
    return data


def _refuse_constant(name: str, where: str) -> NoReturn:
    raise WarpglassError(f"{where} is no JSON: {name} is no number there")


def read_text(path: str | Path) -> str:
    """The text of a file; raises WarpglassError if it cannot be read or is none."""
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise WarpglassError(f"{path} is no record: it is larger than {MOST_BYTES // 2**20} MiB")
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise WarpglassError(f"{path} cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise WarpglassError(f"{path} is no record: it is not text") from None


def build(kind: type[Any], data: object, where: str, schema: int | None = None) -> Any:
    """The dataclass of that kind that `data` describes; `where` names the file in messages."""
    if isinstance(data, dict) and schema is not None:
        check_schema(data, schema, where)
    return _record(kind, data, where, "")


def check_schema(data: Mapping[str, Any], schema: int, where: str) -> None:
    """Raise WarpglassError unless a record is of this schema."""
    if "schema" not in data:
        raise WarpglassError(f"{where}: schema is missing; a record says which schema it follows")
    if data["schema"] != schema:
        found = _quoted(data["schema"])
        raise WarpglassError(f"{where}: schema {found}; this version reads schema {schema}")


@cache
def _types(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _record(kind: type[Any], data: object, where: str, path: str) -> Any:
    if not isinstance(data, dict):
        _wrong(where, path, data, "an object")
    found: dict[str, Any] = {}
    for field in fields(kind):
        inner = f"{path}.{field.name}" if path else field.name
        if field.name in data:
            found[field.name] = _value(_types(kind)[field.name], data[field.name], where, inner)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise WarpglassError(f"{where}: {inner} is missing")
    return kind(**found)


def _value(kind: Any, value: object, where: str, path: str) -> Any:
    if kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _one_of(get_args(kind), value, where, path)
    if origin is tuple:
        return _items(get_args(kind), value, where, path)
    if (origin or kind) in (Mapping, dict) or (isinstance(kind, type) and issubclass(kind, dict)):
        return _mapping(kind, value, where, path)
    if is_dataclass(kind):
        return _record(kind, value, where, path)  # pyright: ignore[reportArgumentType]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member(kind, value, where, path)
    return _plain(kind, value, where, path)


def _plain(kind: type[Any], value: object, where: str, path: str) -> Any:
    """A string, a truth value or a number; what is whole is a float as well, and a truth value is neither."""
    if kind is float and type(value) in (int, float):
        number = _float(value)
        if math.isfinite(number):
            return number
    elif kind is type(None) and value is None:
        return None
    elif type(value) is kind:
        return value
    _wrong(where, path, value, _WORDS.get(kind, kind.__name__))


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _one_of(kinds: Sequence[Any], value: object, where: str, path: str) -> Any:
    """The first of several types that a value fits; a number keeps being whole if that is one of them."""
    if value is None and type(None) in kinds:
        return None
    others = [one for one in kinds if one is not type(None)]
    for one in sorted(others, key=lambda one: one is float):
        if one in (int, float, str, bool):
            if type(value) is one or (one is float and type(value) is int):
                return _plain(one, value, where, path)
        elif isinstance(value, list if get_origin(one) is tuple else dict):
            return _value(one, value, where, path)
    _wrong(where, path, value, " or ".join(_words(one) for one in kinds))


def _items(kinds: Sequence[Any], value: object, where: str, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        _wrong(where, path, value, "a list")
    if len(kinds) == 2 and kinds[1] is ...:
        kinds = [kinds[0]] * len(value)
    elif len(value) != len(kinds):
        raise WarpglassError(f"{where}: {path} has {len(value)} items; it must have {len(kinds)}")
    pairs = zip(kinds, value, strict=True)
    return tuple(_value(kind, item, where, f"{path}[{number}]") for number, (kind, item) in enumerate(pairs))


def _mapping(kind: Any, value: object, where: str, path: str) -> Any:
    if not isinstance(value, dict):
        _wrong(where, path, value, "an object")
    base = next((one for one in getattr(kind, "__orig_bases__", ()) if get_args(one)), kind)
    inner = get_args(base)[1] if get_args(base) else Any
    made = {key: _value(inner, item, where, f'{path}["{key}"]') for key, item in value.items()}
    return kind(made) if isinstance(kind, type) and not get_origin(kind) and kind is not Mapping else made


def _member(kind: type[Enum], value: object, where: str, path: str) -> Enum:
    try:
        return kind(value)
    except ValueError:
        _wrong(where, path, value, "one of " + ", ".join(str(one.value) for one in kind))


_WORDS: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def _words(kind: Any) -> str:
    return _WORDS.get(kind) or ("a list" if get_origin(kind) is tuple else "an object")


def _wrong(where: str, path: str, value: object, right: str) -> NoReturn:
    raise WarpglassError(f"{where}: {path or 'it'} is {_quoted(value)}; it must be {right}")


def _quoted(value: object) -> str:
    if isinstance(value, (list, dict)):
        return _kind(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _kind(value: object) -> str:
    return {list: "a list", dict: "an object"}.get(type(value), "a single value")
