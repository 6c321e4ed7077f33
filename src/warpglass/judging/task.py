"""What submissions are judged by: a TOML file, or a dictionary like it.

    [task]
    kernel = "add"                     # the kernel's name in every submission
    reference = "reference.py:add"     # FILE.py:FUNCTION; makes the arrays that are expected

    [[case]]
    axes = { n = [1, 1000, "2^16"] }
    grid = "{ceil(n / 256)}"
    block = 256
    args = ["f4[{n}]:rand", "f4[{n}]:rand", "out:f4[{n}]", "i4={n}"]

    [budget]
    gld_transactions = "2 * n / 32 + 64"

Belongs here: reading and refusing. Everything is refused before any submission is looked at, with key and
line.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__, devices
from ..errors import ArgumentError, WarpglassError
from ..observe.counters import COUNTERS
from ..observe.metrics import METRICS
from ..records.argument_text import parse_argument, parse_dimensions, parse_size
from ..records.spelling import did_you_mean
from ..sweeps.expressions import Value, evaluate, fill, names_of
from ..sweeps.spec import Place, as_axes, as_table, known_keys

LANGUAGES = {".cu": "cuda", ".py": "python", ".ptx": "ptx"}
TIME = "time"  # the score that is the modelled time
GPU_TIME = "gpu_time"  # the score that is the time on a GPU of the machine that judges
OUT = "out:"  # marks an argument that is an output
_TASK = {"name", "kernel", "reference", "languages", "model", "seed", "tolerance", "score", "flags"}
_LIMITS = {"compile", "run", "memory", "output", "source"}
_CASE = {"name", "axes", "grid", "block", "shared", "args", "set", "skip", "public", "check", "engine"}


@dataclass(frozen=True)
class Limits:
    """Seconds: of processor time to compile, of a launch. Bytes: memory, what is printed, a submission."""

    compile: float = 60.0
    run: float = 10.0
    memory: int = 4 << 30
    output: int = 64 << 10
    source: int = 256 << 10


@dataclass(frozen=True)
class Case:
    """One launch. Of a case that is not public a submission's author learns no numbers."""

    name: str
    axes: tuple[tuple[str, Value], ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    args: tuple[str, ...]
    variables: tuple[str, ...]
    public: bool
    check: bool
    budget: tuple[tuple[str, float], ...]  # counters and the most that they may be
    engine: bool = True  # False: on the GPU only, where its time is the score

    def __str__(self) -> str:
        axes = ", ".join(f"{name}={value}" for name, value in self.axes)
        return f"{self.name} ({axes})" if axes else self.name


@dataclass(frozen=True)
class Task:
    """A checked task; plain data that travels to other processes."""

    name: str
    kernel: str
    reference: str  # FILE.py:FUNCTION, the file absolute
    languages: tuple[str, ...]
    model: str
    seed: int
    tolerance: float
    score: str
    flags: tuple[str, ...]
    limits: Limits
    cases: tuple[Case, ...]
    content: str  # digest of the reference's file
    device: str = ""  # the GPU whose time is the score, if it is known

    @cached_property
    def key(self) -> str:
        """SHA-256 of all that a verdict depends on besides the submission."""
        fields = {**asdict(self), "version": __version__}
        fields["reference"] = fields["reference"].rpartition("/")[2]  # its content counts, not its place
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def read_task(path: str | Path) -> Task:
    """Read a task's file; raises ArgumentError that names file, line and key."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as problem:
        said = (problem.strerror or problem) if isinstance(problem, OSError) else "it is not UTF-8 text"
        raise ArgumentError(f"{path} cannot be read: {said}") from None
    except tomllib.TOMLDecodeError as problem:
        raise ArgumentError(f"{path} is no TOML: {problem}") from None
    return make_task(data, path.parent, Place(str(path), tuple(text.splitlines())))


def make_task(data: Mapping[str, Any], folder: Path | None = None, where: Place | None = None) -> Task:
    """The task that a dictionary describes; paths in it are relative to `folder`."""
    where, folder = where or Place("task"), (folder or Path()).absolute()
    known_keys(data, {"task", "limits", "budget", "case"}, where)
    table = as_table(data, "task", where)
    known_keys(table, _TASK, where)
    reference, content = _reference(_text(table, "reference", where), folder, where)
    budget = _budget(as_table(data, "budget", where), where)
    score = _text(table, "score", where, TIME)
    if score not in (TIME, GPU_TIME, *METRICS, *COUNTERS):
        near = did_you_mean(score, [TIME, GPU_TIME, *METRICS, *COUNTERS])
        raise ArgumentError(f"{where.of('score')}: no metric or counter {score!r}{near}")
    try:
        model = devices.get(_text(table, "model", where, "h100")).key
    except devices.UnknownDevice as problem:
        raise ArgumentError(f"{where.of('model')}: {problem}") from None
    return Task(
        name=_text(table, "name", where, Path(where.file).stem),
        kernel=_text(table, "kernel", where),
        reference=reference,
        languages=_languages(table, where),
        model=model,
        seed=_number(table, "seed", where, 0, whole=True),
        tolerance=_number(table, "tolerance", where, 0.0),
        score=score,
        flags=_texts(table, "flags", where),
        limits=_limits(as_table(data, "limits", where), where),
        cases=_on_engine(tuple(_cases(data.get("case"), budget, where)), score, where),
        content=content,
    )


def _text(table: Mapping[str, Any], key: str, where: Place, default: str | None = None) -> str:
    value = table.get(key, default)
    if value is None:
        raise ArgumentError(f"{where.of('task')}: {key} = is missing")
    if not isinstance(value, str) or not value.strip():
        raise ArgumentError(f"{where.of(key)}: {value!r}; write a text")
    return value


def _texts(table: Mapping[str, Any], key: str, where: Place) -> tuple[str, ...]:
    values = table.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):  # pyright: ignore[reportUnknownVariableType]
        raise ArgumentError(f"{where.of(key)}: {values!r}; write a list of texts")
    return tuple(values)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _number(table: Mapping[str, Any], key: str, where: Place, default: Any, whole: bool = False) -> Any:
    value = table.get(key, default)
    good = type(value) is int or (type(value) is float and not whole)
    if not good or not value >= 0:
        raise ArgumentError(
            f"{where.of(key)}: {value!r}; write a {'whole ' if whole else ''}number, at least 0"
        )
    return value


def _languages(table: Mapping[str, Any], where: Place) -> tuple[str, ...]:
    chosen = _texts(table, "languages", where) or tuple(LANGUAGES.values())
    for name in chosen:
        if name not in LANGUAGES.values():
            raise ArgumentError(
                f"{where.of('languages')}: {name!r}; there is {', '.join(LANGUAGES.values())}"
                f"{did_you_mean(name, list(LANGUAGES.values()))}"
            )
    return chosen


def _reference(text: str, folder: Path, where: Place) -> tuple[str, str]:
    file, colon, function = text.partition(":")
    if not colon or not function.isidentifier():
        raise ArgumentError(f"{where.of('reference')}: {text!r}; write FILE.py:FUNCTION")
    path = folder / file
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise ArgumentError(f"{where.of('reference')}: {path} cannot be read: {problem.strerror}") from None
    return f"{path}:{function}", hashlib.sha256(content).hexdigest()


def _limits(table: Mapping[str, Any], where: Place) -> Limits:
    known_keys(table, _LIMITS, where)
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key in ("compile", "run"):
            given[key] = float(_number(table, key, where, 0))
        elif isinstance(value, (int, str)):
            given[key] = parse_size(str(value))
        if not given.get(key):
            raise ArgumentError(f"{where.of(key)}: {value!r}; write a number above 0, bytes as in 512M")
    return Limits(**given)


def _budget(table: Mapping[str, Any], where: Place) -> Mapping[str, Any]:
    known = (*METRICS, *COUNTERS)
    for name, most in table.items():
        if name not in known:
            raise ArgumentError(f"{where.of(name)}: no metric or counter {name!r}{did_you_mean(name, known)}")
        if not isinstance(most, (int, float, str)):
            raise ArgumentError(
                f"{where.of(name)}: {most!r}; write a number or an expression such as '2 * n'"
            )
    return table


def _on_engine(cases: tuple[Case, ...], score: str, where: Place) -> tuple[Case, ...]:
    """The cases, some of which must run on the engine; the others have no other purpose than a GPU's time."""
    if any(not case.engine for case in cases) and score != GPU_TIME:
        raise ArgumentError(f'{where.of("engine")}: cases for a GPU alone need score = "{GPU_TIME}"')
    if not any(case.engine for case in cases):
        raise ArgumentError(f"{where.of('case')}: at least one case must run on the engine")
    return cases


def _cases(entries: Any, budget: Mapping[str, Any], where: Place) -> Iterator[Case]:
    if not isinstance(entries, list) or not entries:
        raise ArgumentError(f"{where.of('case')}: a task needs at least one [[case]]")
    for number, entry in enumerate(entries, 1):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if not isinstance(entry, dict):
            raise ArgumentError(f"{where.of('case')}: {entry!r}; write a [[case]] table")
        table: dict[str, Any] = {"name": f"case {number}", **entry}
        known_keys(table, _CASE, where)
        for key in ("grid", "block", "args"):
            if key not in table:
                raise ArgumentError(f"{where.of('case')}: {table['name']} has no {key} =")
        axes = as_axes(as_table(table, "axes", where), where)
        for values in itertools.product(*axes.values()):
            names: dict[str, Value] = dict(zip(axes, values, strict=True))
            made = _case(table, names, budget, where)
            if made is not None:
                yield made


def _case(
    table: Mapping[str, Any], names: dict[str, Value], budget: Mapping[str, Any], where: Place
) -> Case | None:
    key = "skip"
    try:
        if (skip := table.get("skip")) is not None and evaluate(str(skip), names):
            return None
        filled: dict[str, Any] = {}
        for key in ("name", "grid", "block", "shared", "args", "set"):
            filled[key] = fill(table.get(key, [] if key in ("args", "set") else 0), names)
        key = "args"
        args = _texts(filled, "args", where)
        for text in args:
            parse_argument(text.removeprefix(OUT))
        key = "grid"
        grid = parse_dimensions(str(filled["grid"]))
        key = "block"
        block = parse_dimensions(str(filled["block"]))
        most: list[tuple[str, float]] = []
        for key, limit in budget.items():
            unknown = names_of(str(limit)) - names.keys()
            if not unknown:  # a budget in n holds for the cases that have an n
                most.append((key, float(evaluate(str(limit), names))))
    except (WarpglassError, ValueError) as problem:
        shown = ", ".join(f"{name}={value}" for name, value in names.items())
        raise ArgumentError(f"{where.of(key)} ({shown}): {problem}") from None
    return Case(
        name=str(filled["name"]),
        axes=tuple(names.items()),
        grid=grid,
        block=block,
        shared=parse_size(str(filled["shared"])),
        args=args,
        variables=_texts(filled, "set", where),
        public=bool(table.get("public", False)),
        check=bool(table.get("check", True)),
        engine=bool(table.get("engine", True)),
        budget=tuple(most),
    )
