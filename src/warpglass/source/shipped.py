"""PTX that ships with the package, for machines without a compiler.

Belongs here: reading and writing the archives, one `ptx.json.gz` per ladder: a JSON object of entries under
their content keys (store.py says what they are). Sorted and compressed whole, since neighbours are alike.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "ladders"
ARCHIVE = "ptx.json.gz"

_recording: list[dict[str, bytes]] = []


def find(key: str) -> bytes | None:
    """Return the entry that ships under this content key, None if there is none."""
    if _recording:
        return None
    for entries in map(_read, sorted(FOLDER.glob(f"*/{ARCHIVE}"))):
        if key in entries:
            return json.dumps(entries[key]).encode()
    return None


@cache
def _read(archive: Path) -> dict[str, object]:
    entries: dict[str, object] = json.loads(gzip.decompress(archive.read_bytes()))
    return entries


def note(key: str, payload: bytes) -> None:
    """Take a fresh entry down if somebody records."""
    for entries in _recording:
        entries[key] = payload


@contextmanager
def record() -> Iterator[dict[str, bytes]]:
    """Collect the entries of all kernels compiled in this block, which looks at no shipped PTX."""
    entries: dict[str, bytes] = {}
    _recording.append(entries)
    try:
        yield entries
    finally:
        _recording.remove(entries)


def write(archive: Path, entries: dict[str, bytes]) -> None:
    """Write an archive; equal entries make equal bytes."""
    loaded = {key: json.loads(payload) for key, payload in entries.items()}
    ordered = dict(sorted(loaded.items(), key=lambda item: (item[1]["name"], item[0])))
    text = json.dumps(ordered, separators=(",", ":"))
    archive.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
