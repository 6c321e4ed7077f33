"""PTX that ships with the package, for machines without a compiler.

Belongs here: reading and writing the archives, one `ptx.json.gz` per ladder, one for ops/ and one for
selftest/: a JSON object of entries under their content keys (store.py says what they are), sorted and
compressed whole, since neighbours are alike. Which kernels ship is for them to say (ladders/ship.py,
ops/ship.py, selftest/ship.py).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
ARCHIVE = "ptx.json.gz"


@dataclass(slots=True)
class Recording:
    """The entries of the kernels obtained while recording, by content key."""

    fresh: bool
    entries: dict[str, bytes] = field(default_factory=dict[str, bytes])


_recordings: list[Recording] = []


def find(key: str, folder: Path) -> bytes | None:
    """Return the entry that ships under this content key, None if there is none.

    Archives are read one by one, some 20 ms each, first that of the folder from which the kernel comes, then
    that of ops/, which has other types of the same kernels.
    """
    if any(recording.fresh for recording in _recordings):
        return None
    nearest = folder / ARCHIVE, _PACKAGE / "ops" / ARCHIVE
    for entries in map(_read, sorted(archives(), key=lambda archive: archive not in nearest)):
        if key in entries:
            return json.dumps(entries[key]).encode()
    return None


@cache
def archives() -> tuple[Path, ...]:
    """The archives of the package, those of the ladders first."""
    others = (_PACKAGE / folder / ARCHIVE for folder in ("ops", "selftest"))
    return (*sorted((_PACKAGE / "ladders").glob(f"*/{ARCHIVE}")), *others)


@cache
def _read(archive: Path) -> dict[str, object]:
    entries: dict[str, object] = json.loads(gzip.decompress(archive.read_bytes()))
    return entries


def note(key: str, payload: bytes) -> None:
    """Take down the entry of a kernel that was just obtained, if somebody records."""
    for recording in _recordings:
        recording.entries[key] = payload


@contextmanager
def record(*, fresh: bool) -> Iterator[dict[str, bytes]]:
    """Collect the entries of all kernels obtained in this block; `fresh` ignores what ships already."""
    recording = Recording(fresh)
    _recordings.append(recording)
    try:
        yield recording.entries
    finally:
        _recordings.remove(recording)


def keys(archive: Path) -> frozenset[str]:
    """Return the content keys in an archive."""
    return frozenset(_read(archive))


def write(archive: Path, entries: dict[str, bytes]) -> None:
    """Write an archive; equal entries make equal bytes."""
    loaded = {key: json.loads(payload) for key, payload in entries.items()}
    ordered = dict(sorted(loaded.items(), key=lambda item: (item[1]["name"], item[0])))
    text = json.dumps(ordered, separators=(",", ":"))
    archive.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
