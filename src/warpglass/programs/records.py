"""What the processes of a watched program tell the command that watches them: pickled records, in one file.

The file has no name on any disk: it is memory of the watching process, which others open by that process's
number. Each record is appended whole, so that several processes may write and any may end at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

VARIABLE = "WARPGLASS_WATCHED"  # the Wish of the watching process, for all processes of the program
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of a program's launches: `what` is "check", "profile" or "summary".

    `timeout` is that of a launch in seconds, None for its own; `records` is the file. `seeds` are a check's,
    `caches`, `blocks` and `listing` a profile's.
    """

    what: str
    records: str
    timeout: float | None = None
    seeds: tuple[int, ...] = ()
    caches: bool = True
    blocks: int | None = None
    listing: bool = False

    def text(self) -> str:
        """As the variable has it."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls) -> Wish | None:
        """What is wanted of this process; None for nothing."""
        text = os.environ.get(VARIABLE)
        if not text:
            return None
        found = cls(**json.loads(text))
        return cls(**{**asdict(found), "seeds": tuple(found.seeds)})


class Records:
    """The file, as the watching process has it."""

    def __init__(self) -> None:
        self._file = os.memfd_create("warpglass-records", os.MFD_CLOEXEC)
        self.path = f"/proc/{os.getpid()}/fd/{self._file}"

    def read(self) -> Iterator[Any]:
        """All records so far; one that was cut short is left out."""
        data = os.pread(self._file, os.fstat(self._file).st_size, 0)
        place = 0
        while place + _LENGTH.size <= len(data):
            (size,) = _LENGTH.unpack_from(data, place)
            place += _LENGTH.size
            if place + size > len(data):
                return
            yield pickle.loads(data[place : place + size])
            place += size

    def close(self) -> None:
        """Let go of it."""
        os.close(self._file)


class Sender:
    """The file, as a process of the program has it; nothing is sent when the watching process has ended."""

    def __init__(self, path: str):
        self._file = -1
        with contextlib.suppress(OSError):
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def send(self, record: Any) -> None:
        """Append a record."""
        data = pickle.dumps(record)
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.write(self._file, _LENGTH.pack(len(data)) + data)
