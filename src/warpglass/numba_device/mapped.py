"""Memory of the host at addresses that are the same in every run, as far as they are free.

Managed variables have one address for host and kernels, and machine code that is kept on disk names it.
"""

from __future__ import annotations

import ctypes
import mmap
import os

_FIRST = 0x2000_0000_0000  # far from where systems put programs, libraries, stacks and heaps
_FIXED = 0x100000  # MAP_FIXED_NOREPLACE
_PAGE = mmap.PAGESIZE
_MAP = ctypes.CFUNCTYPE(
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
    use_errno=True,
)
_UNMAP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value


class Mapped:
    """Zeros at an address of the host, `host`, until nobody keeps the object. Raises MemoryError."""

    _next = _FIRST

    def __init__(self, size: int):
        library = ctypes.CDLL(None)
        self._size = -(-size // _PAGE) * _PAGE
        self._unmap = _UNMAP(("munmap", library))
        wanted = Mapped._next
        Mapped._next += self._size + _PAGE
        found = self._map(library, wanted, _FIXED)
        if found != wanted:  # taken; systems that do not know the flag may give another address
            found = found or self._map(library, None, 0)
        if found is None:
            raise MemoryError(
                f"{size} bytes of memory for host and device: {os.strerror(ctypes.get_errno())}"
            )
        self.host: int = found

    def _map(self, library: ctypes.CDLL, address: int | None, flags: int) -> int | None:
        own = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | flags
        found = _MAP(("mmap", library))(address, self._size, mmap.PROT_READ | mmap.PROT_WRITE, own, -1, 0)
        return None if found == _FAILED else found

    def __del__(self) -> None:
        if hasattr(self, "host"):
            self._unmap(self.host, self._size)
