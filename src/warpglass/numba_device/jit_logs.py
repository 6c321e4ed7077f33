"""What the driver says of PTX that it compiles or links, in buffers that a program names by CUjit_option."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .calls import Address, put, put_text
from .results import Refusal

_INFORMATION, _ERRORS = 3, 5  # CU_JIT_INFO_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER; the next is its size


@dataclass(frozen=True, slots=True)
class JitLogs:
    """The buffers among options: where the value of each lies, a pointer, by the option's number."""

    places: dict[int, Address]

    @classmethod
    def of(cls, count: int, options: Address, values: Address) -> JitLogs:
        """Those of a call: `count` options, which are ints, and as many values."""
        numbers = (ctypes.c_int32 * count).from_address(options) if count and options else ()
        return cls({number: values + 8 * place for place, number in enumerate(numbers)})

    @contextmanager
    def filled(self) -> Iterator[None]:
        """Write down why something fails, and pass it on; else that there is nothing to say."""
        try:
            yield
        except Refusal as refusal:
            self._write(_INFORMATION, "")
            self._write(_ERRORS, str(refusal))
            raise
        self._write(_INFORMATION, "")
        self._write(_ERRORS, "")

    def _write(self, which: int, text: str) -> None:
        """Fill a buffer as far as it goes; the option of its size becomes how much of it is used."""
        if which not in self.places or which + 1 not in self.places:
            return
        buffer, room = (ctypes.c_uint64.from_address(self.places[one]) for one in (which, which + 1))
        content = text.encode()
        if buffer.value and room.value & 0xFFFFFFFF:  # an unsigned int, in a pointer's place
            size = room.value & 0xFFFFFFFF
            put_text(buffer.value, content, size)
            put(self.places[which + 1], min(len(content), size - 1) + 1 if content else 0)
