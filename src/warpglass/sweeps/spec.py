"""What a sweep is to do: a TOML file, or a dictionary like it, as a list of cells.

    [sweep]
    do = ["time", "counters"]          # of time, counters, check

    [axes]
    n = ["2^16", "2^20"]
    block = [64, 128, 256]

    [[kernel]]
    kernel = "reduce.cu:reduce<{block}>"
    grid = "{ceil(n / (2 * block))}"
    block = "{block}"
    args = ["f8[{n}]:rand", "f8[{ceil(n / (2 * block))}]", "u4={n}"]

Belongs here: reading and refusing. Everything that can be said of a specification without running it is said
before anything runs, with its key and line.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import devices
from ..errors import ArgumentError, WarpglassError
from ..observe.counters import COUNTERS
from ..observe.metrics import METRICS
from ..records.argument_text import parse_size
from ..records.spelling import did_you_mean
from .cell import ACTIONS, Cell
from .content import digest
from .expressions import Value, evaluate, fill, names_in, names_of
from .subjects import kind_of, make_subject, numbers_problem, shown_name

MOST_CELLS = 10_000_000
_SIZE = re.compile(r"[0-9]+\^[0-9]+|[0-9.]+[kKmMgG]")
_SWEEP = {"do", "repeat", "timeout", "retries", "metrics", "results"}
_COMMON = {"name", "axes", "skip", "model"}
# What a [[kernel]] table is about, by its main key, with the other keys that it may have.
_KINDS = {
    "kernel": {"grid", "block", "shared", "args", "set", "flags", "expect", "tolerance"},
    "rung": {"size", "dtype", "block", "language"},
    "program": {"arguments", "flags", "expect", "numbers"},
}
_TEXTS = {"name", "skip", "model", "kernel", "rung", "dtype", "language", "expect"}
_LISTS = {"args", "set", "flags", "arguments"}
_UNFILLED = ("axes", "skip", "numbers")  # in which braces are no expressions


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for all cells."""

    do: tuple[str, ...] = ("time",)
    repeat: int = 5  # runs that a time is the median of
    timeout: float = 60.0  # seconds, of a launch; a cell that goes on for far longer is ended
    retries: int = 1  # of a cell whose process was lost or ran out of time
    metrics: tuple[str, ...] = ()  # by nvprof's or Nsight Compute's names; () is nvprof's main ones
    results: str = ""  # the file of results; beside the specification if empty


@dataclass(frozen=True, slots=True)
class Spec:
    """A checked specification; `cells` makes its grid."""

    settings: Settings
    axes: Mapping[str, tuple[Value, ...]]
    entries: tuple[Mapping[str, Any], ...]
    folder: Path
    where: Place

    @property
    def names(self) -> tuple[str, ...]:
        """All axes, the common ones first."""
        own = (name for entry in self.entries for name in entry.get("axes", {}))
        return tuple(dict.fromkeys((*self.axes, *own)))

    def cells(self) -> Iterator[Cell]:
        """Every cell, in the order of the axes; raises ArgumentError for what its values make wrong."""
        for entry in self.entries:
            axes = {**self.axes, **entry.get("axes", {})}
            for values in itertools.product(*axes.values()):
                names: dict[str, Value] = dict(zip(axes, values, strict=True))
                if (cell := self.cell(entry, names)) is not None:
                    yield cell

    def cell(self, entry: Mapping[str, Any], names: dict[str, Value]) -> Cell | None:
        """The cell of one of the entries at one point; None if it is to be skipped. Raises ArgumentError."""
        key = "skip"
        try:
            if (skip := entry.get("skip")) is not None and evaluate(skip, names):
                return None
            filled: dict[str, Any] = {}
            for key, template in entry.items():
                filled[key] = template if key in _UNFILLED else fill(template, names)
            key = "model"
            model = devices.get(str(filled.pop("model", names.get("model", "h100")))).key
            key = kind_of(filled)
            name = str(filled.pop("name", shown_name(entry[key])))
            subject = make_subject(filled, self.folder)
        except (WarpglassError, devices.UnknownDevice) as problem:
            shown = ", ".join(f"{name}={value}" for name, value in names.items())
            raise ArgumentError(f"{self.where.of(key)} ({shown}): {problem}") from None
        settings = self.settings
        return Cell(
            name=name,
            axes=tuple(names.items()),
            subject=subject,
            model=model,
            do=settings.do,
            repeat=settings.repeat,
            timeout=settings.timeout,
            metrics=settings.metrics,
            content=digest(subject, self.folder),
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a specification stands, for messages: the file, and the lines of its keys."""

    file: str
    lines: tuple[str, ...] = ()

    def of(self, key: str) -> str:
        """FILE:LINE: KEY, as far as it is known."""
        for number, line in enumerate(self.lines, 1):
            if re.match(rf"\s*(?:\[+\s*)?[\"']?{re.escape(key)}[\"']?\s*[\]=]", line) or re.match(
                rf".*[{{,]\s*{re.escape(key)}\s*=", line
            ):
                return f"{self.file}:{number}: {key}"
        return f"{self.file}: {key}"


def read(path: str | Path) -> Spec:
    """Read a specification; raises ArgumentError that names file, line and key."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        said = (problem.strerror or problem) if isinstance(problem, OSError) else "it is not UTF-8 text"
        raise ArgumentError(f"{path} cannot be read: {said}") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ArgumentError(f"{path} is no TOML: {problem}") from None
    return make(data, path.parent, Place(str(path), tuple(text.splitlines())))


def make(data: Mapping[str, Any], folder: Path | None = None, where: Place | None = None) -> Spec:
    """The specification that a dictionary describes; paths in it are relative to `folder`."""
    where = where or Place("sweep")
    known_keys(data, {"sweep", "axes", "kernel"}, where)
    settings = _settings(as_table(data, "sweep", where), where)
    axes = as_axes(as_table(data, "axes", where), where)
    entries = data.get("kernel")
    if isinstance(entries, Mapping):
        entries = [entries]
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        raise ArgumentError(f"{where.of('kernel')}: a sweep needs at least one [[kernel]] table")
    checked = tuple(_entry(entry, axes, where) for entry in entries)  # pyright: ignore[reportUnknownVariableType]
    spec = Spec(settings, axes, checked, folder or Path(), where)
    count = sum(_count({**axes, **entry.get("axes", {})}) for entry in checked)
    if count > MOST_CELLS:
        raise ArgumentError(f"{where.of('axes')}: {count} cells; a sweep has {MOST_CELLS} at most")
    return spec


def _count(axes: Mapping[str, Sequence[Value]]) -> int:
    count = 1
    for values in axes.values():
        count *= len(values)
    return count


def _settings(table: Mapping[str, Any], where: Place) -> Settings:
    known_keys(table, _SWEEP, where)
    do = table.get("do", "time")
    do = (do,) if isinstance(do, str) else tuple(do) if isinstance(do, list) else ()  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not do or not set(do) <= set(ACTIONS):  # pyright: ignore[reportUnknownArgumentType]
        raise ArgumentError(
            f"{where.of('do')}: {table.get('do')!r}; write one or more of {', '.join(ACTIONS)}"
        )
    numbers: dict[str, Any] = {}
    for key, least, kinds in (
        ("repeat", 1, (int,)),
        ("timeout", 0.001, (int, float)),
        ("retries", 0, (int,)),
    ):
        if key in table:
            value = table[key]
            if type(value) not in kinds or not value >= least:
                raise ArgumentError(f"{where.of(key)}: {value!r}; write a number, at least {least}")
            numbers[key] = value
    metrics = table.get("metrics", [])
    if not isinstance(metrics, list) or not all(isinstance(name, str) for name in metrics):  # pyright: ignore[reportUnknownVariableType]
        raise ArgumentError(f"{where.of('metrics')}: {metrics!r}; write a list of names")
    known = (*METRICS, *COUNTERS)
    for name in metrics:
        if name not in known:
            raise ArgumentError(
                f"{where.of('metrics')}: no metric or counter {name!r}{did_you_mean(name, known)}"
            )
    results = table.get("results", "")
    if not isinstance(results, str):
        raise ArgumentError(f"{where.of('results')}: {results!r}; write the name of a file")
    return Settings(do=do, metrics=tuple(metrics), results=results, **numbers)  # pyright: ignore[reportUnknownArgumentType]


def as_axes(table: Mapping[str, Any], where: Place) -> dict[str, tuple[Value, ...]]:
    """A table of axes; raises ArgumentError for one that is no list of different values."""
    axes: dict[str, tuple[Value, ...]] = {}
    for name, values in table.items():
        if not name.isidentifier():
            raise ArgumentError(f"{where.of(name)}: an axis is named like a variable, such as n or tile_size")
        listed = values if isinstance(values, list) else [values]
        if not listed or not all(isinstance(value, (int, float, str)) for value in listed):  # pyright: ignore[reportUnknownVariableType]
            raise ArgumentError(f"{where.of(name)}: {values!r}; an axis is a list of numbers or texts")
        sized = tuple(_sized(value) for value in listed)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if len(set(sized)) < len(sized):
            raise ArgumentError(f"{where.of(name)}: a value stands there twice: {values!r}")
        axes[name] = sized
    return axes


def _sized(value: Value) -> Value:
    """A size in words, 2^20 or 16M, as a number."""
    return parse_size(value) if isinstance(value, str) and _SIZE.fullmatch(value.strip()) else value


def _entry(entry: Any, axes: Mapping[str, Any], where: Place) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise ArgumentError(f"{where.of('kernel')}: {entry!r}; write a [[kernel]] table")
    table: dict[str, Any] = {str(key): value for key, value in entry.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    kinds = [kind for kind in _KINDS if kind in table]
    if len(kinds) != 1:
        raise ArgumentError(
            f"{where.of('kernel')}: a [[kernel]] table has one of kernel =, rung =, program ="
        )
    known_keys(table, _COMMON | _KINDS[kinds[0]] | {kinds[0]}, where)
    if "kernel" in table and not {"grid", "block"} <= table.keys():
        raise ArgumentError(f"{where.of('kernel')}: {table['kernel']!r} needs grid = and block =")
    for key, value in table.items():
        if key in _TEXTS and not isinstance(value, str):
            raise ArgumentError(f"{where.of(key)}: {value!r}; write a text")
        if key in _LISTS and not (isinstance(value, list) and all(isinstance(part, str) for part in value)):  # pyright: ignore[reportUnknownVariableType]
            raise ArgumentError(f"{where.of(key)}: {value!r}; write a list of texts")
    _check_program(table, where)
    own = as_axes(as_table(table, "axes", where), where)
    known = [*axes, *own]
    for key, value in table.items():
        used = names_of(value) if key == "skip" else set[str]() if key in _UNFILLED else names_in(value)
        for name in sorted(used - set(known)):
            raise ArgumentError(f"{where.of(key)}: there is no axis {name!r}{did_you_mean(name, known)}")
    return {**table, "axes": own}


def _check_program(table: Mapping[str, Any], where: Place) -> None:
    named = table.get("program", "")
    files: list[Any] = named if isinstance(named, list) else [named]  # pyright: ignore[reportUnknownVariableType]
    if not all(isinstance(one, str) for one in files):
        raise ArgumentError(f"{where.of('program')}: {named!r}; write a file, or a list of files")
    if problem := numbers_problem(table.get("numbers", {})):
        raise ArgumentError(f"{where.of('numbers')}: {problem}")


def known_keys(table: Mapping[str, Any], keys: set[str], where: Place) -> None:
    """Raise ArgumentError for a key that is none of these."""
    for key in table:
        if key not in keys:
            near = did_you_mean(key, sorted(keys))
            raise ArgumentError(f"{where.of(key)}: unknown key{near}; there is {', '.join(sorted(keys))}")


def as_table(data: Mapping[str, Any], key: str, where: Place) -> Mapping[str, Any]:
    """The table of a key, empty if there is none; raises ArgumentError for what is no table."""
    table = data.get(key, {})
    if not isinstance(table, Mapping):
        raise ArgumentError(f"{where.of(key)}: {table!r}; write a table")
    return table  # pyright: ignore[reportUnknownVariableType]
