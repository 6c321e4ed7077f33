"""Native functions as machine code, which all processes of a user share: compiled once, kept on disk.

Of several processes that want them at once, one compiles. Where nothing can be kept, each does.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from types import FunctionType

from ...codegen import Linked, chosen_target, compile_ir, host_key, link
from ...host.announce import announced
from ...source.cache import Cache, digest
from .translation import Translation

_OBJECTS = Cache("natives")
_PACKAGE = Path(__file__).resolve().parents[2]
_CONSTANTS = ("observe", "records")  # folders of this package whose files say what native functions compute


class Library:
    """Exported functions, by symbol; what is compiled is what is there when they are first asked for."""

    def __init__(
        self,
        what: str,
        natives: Collection[FunctionType],
        exports: Mapping[str, FunctionType],
        inlined: Collection[FunctionType] = (),
    ):
        """`what` names the functions for the user."""
        self._what, self._natives, self._exports, self._inlined = what, natives, exports, inlined

    def address(self, symbol: str) -> int:
        """Where a function is, for as long as the library lives."""
        return self._linked.address(symbol)

    @cached_property
    def _linked(self) -> Linked:
        key = self._key()
        code = _OBJECTS.get(key)
        if code is None:
            with announced(f"compiling {self._what}, once for this machine"):
                code = _OBJECTS.made(key, lambda: compile_ir(self.ir(), target=chosen_target()))
        return link(code)

    def ir(self) -> str:
        """The functions as LLVM IR."""
        return Translation(self._natives, self._exports, self._inlined).text()

    def _key(self) -> str:
        """What stands for the machine code: the files that it comes from, and what it is for."""
        own = {path for folder in _CONSTANTS for path in (_PACKAGE / folder).glob("**/*.py")}
        files = own | {Path(function.__code__.co_filename) for function in self._natives}
        contents = [path.read_bytes() for path in sorted(files)]
        return digest(host_key(), sys.version, self._what, *sorted(self._exports), *contents)
