"""Where results are kept: one SQLite file, keyed by what a job's result depends on.

One process writes it, the one that hands out the jobs; any number may read. A result is written when it is
there, in a transaction of its own, so that whatever ends the process loses at most the jobs under way.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from ..errors import ArgumentError
from .expressions import Value
from .work import Job, Outcome

SCHEMA = 1
_AT_ONCE = 500  # keys of a query
_TABLE = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, status TEXT NOT NULL, attempts INTEGER NOT NULL, name TEXT NOT NULL,
    axes TEXT NOT NULL, model TEXT NOT NULL, numbers TEXT NOT NULL, text TEXT NOT NULL, seconds REAL NOT NULL
) WITHOUT ROWID
"""


class Kept(Job, Protocol):
    """A job with what the file shows beside its key."""

    @property
    def name(self) -> str: ...

    @property
    def axes(self) -> Sequence[tuple[str, Value]]: ...

    @property
    def model(self) -> str: ...


class Store:
    """The results in a file, which is made if need be; use it as a context."""

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, timeout=30.0, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            (schema,) = self._base.execute("PRAGMA user_version").fetchone()
            if schema not in (0, SCHEMA):
                raise ArgumentError(f"{path}: schema {schema}; this version reads schema {SCHEMA}")
            self._base.execute(_TABLE)
            self._base.execute(f"PRAGMA user_version={SCHEMA}")
        except (sqlite3.Error, OSError) as problem:
            raise ArgumentError(f"{path} cannot keep results: {problem}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(sqlite3.Error):
            self._base.close()

    def attempts(self, keys: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Status and number of attempts by key, of those that are kept."""
        return {key: (status, attempts) for key, status, attempts in self._rows("status, attempts", keys)}

    def put(self, job: Kept, outcome: Outcome) -> None:
        """Keep an outcome; a former one of the same key is replaced, and counted."""
        self._base.execute(
            "INSERT INTO results VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
            "status=excluded.status, attempts=attempts+1, numbers=excluded.numbers, text=excluded.text, "
            "seconds=excluded.seconds",
            (
                *(outcome.key, outcome.status, job.name, json.dumps(dict(job.axes)), job.model),
                *(json.dumps(outcome.numbers), outcome.text, outcome.seconds),
            ),
        )

    def get(self, keys: Iterable[str]) -> dict[str, Outcome]:
        """The outcomes of these keys, of those that are kept."""
        return {
            key: Outcome(key, status, json.loads(numbers), text, seconds)
            for key, status, numbers, text, seconds in self._rows("status, numbers, text, seconds", keys)
        }

    def _rows(self, columns: str, keys: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """The key and some columns of the rows that are kept of these keys."""
        wanted = iter(keys)
        while some := tuple(itertools.islice(wanted, _AT_ONCE)):
            marks = ", ".join("?" * len(some))
            yield from self._base.execute(f"SELECT key, {columns} FROM results WHERE key IN ({marks})", some)
