"""Content-addressed cache on disk: bytes under a key that is a digest of everything that made them.

Belongs here: where the cache lives, who may own it, and atomic reads and writes. What goes into a key is
the business of whoever computes the value. An entry is one file: the digest of its key and payload, a
newline, the payload; whatever does not match its digest is deleted and counts as absent. Files are written
beside their place and renamed, so concurrent processes see whole entries only. Cached code runs in this
process, so the directory must belong to the user alone.

`WARPGLASS_CACHE` names another directory; set but empty, it turns the cache off.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import random
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import WarpglassError
from ..host.locks import locked

VARIABLE = "WARPGLASS_CACHE"
LIMIT = 512 * 2**20  # bytes of one kind; the entries unused for longest go first
PRUNE_CHANCE = 1 / 64  # of the writes look at the size of the whole cache


def digest(*parts: str | bytes) -> str:
    """Return a key for these parts, in this order: 64 hexadecimal digits.

    Each part is preceded by its type and length, so ("ab", "c") and ("a", "bc") differ.
    """
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(f"{'t' if isinstance(part, str) else 'b'}{len(data)}:".encode())
        hasher.update(data)
    return hasher.hexdigest()


def versions(first: str, *others: str) -> str | None:
    """Return the installed versions of distributions as one text, None if the first is not installed."""
    found = list[str]()
    for name in (first, *others):
        try:
            found.append(f"{name} {_version(name)}")
        except importlib.metadata.PackageNotFoundError:
            if name == first:
                return None
            found.append(f"{name} -")
    return "; ".join(found)


@lru_cache(maxsize=64)
def _version(name: str) -> str:
    """The version of a distribution; one that is not installed is looked for again each time.

    To read its metadata takes milliseconds, more than to find a kernel here.
    """
    return importlib.metadata.version(name)


def directory() -> Path | None:
    """Return the cache's directory, made if need be; None if the cache is off or there is no place for it.

    Raises WarpglassError if others may write to it or it is not the user's own.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen == "":
        return None
    try:
        root = _usual_place() if chosen is None else Path(chosen).expanduser().absolute()
    except RuntimeError:  # a user without a home directory, as in a container
        return None
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        if chosen is None:
            return None  # a read-only home directory is no reason not to run
        raise WarpglassError(f"{VARIABLE}={chosen}: cannot make this directory: {error.strerror}") from None
    _refuse_if_shared(root)
    return root


def _usual_place() -> Path:
    """Return where this platform keeps caches of one user."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "warpglass" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "warpglass"
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))  # the specification ignores relative paths
    return (chosen if chosen.is_absolute() else Path.home() / ".cache") / "warpglass"


def _refuse_if_shared(root: Path) -> None:
    """Raise unless only this user can read and write the directory (POSIX; Windows keeps profiles apart)."""
    if not hasattr(os, "geteuid"):
        return
    status = root.stat()
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.geteuid():
        raise WarpglassError(
            f"{root}: the cache of compiled kernels belongs to user {status.st_uid}, not to you; "
            f"set {VARIABLE} to a directory of your own"
        )
    if mode & 0o077:
        raise WarpglassError(
            f"{root}: the cache of compiled kernels is open to other users (mode {mode:04o}); "
            f"run `chmod 700 {root}` or set {VARIABLE} to another directory"
        )


_NEW = ".new-"  # what files that are being written begin with
_ABANDONED = 3600.0  # seconds after which nobody writes one any more


@dataclass(frozen=True, slots=True)
class Cache:
    """The entries of one kind ("ptx", ...), a subdirectory of the cache."""

    kind: str

    def get(self, key: str) -> bytes | None:
        """Return what was put under `key`, or None; a damaged entry is deleted."""
        path = self._path(key)
        if path is None:
            return None
        try:
            content = path.read_bytes()
        except OSError:
            return None
        mark, _, payload = content.partition(b"\n")
        if mark.decode("ascii", "replace") != digest(key, payload):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # what prune() goes by
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Keep `payload` under `key`; a full or read-only disk is not an error."""
        path = self._path(key)
        if path is None:
            return
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_NEW)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(digest(key, payload).encode() + b"\n" + payload)
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink()
                raise
            if random.random() < PRUNE_CHANCE:
                self.prune()

    def made(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Return what is under `key`, else what `make` returns, and keep that.

        Of several processes that ask for entries of one kind at once, one makes them while others wait.
        """
        root = directory()
        with contextlib.nullcontext() if root is None else locked(root / f"{self.kind}.lock"):
            found = self.get(key)
            if found is None:
                found = make()
                self.put(key, found)
        return found

    def prune(self, limit: int = LIMIT) -> None:
        """Delete the entries unused for longest until at most `limit` bytes are left, and unfinished ones."""
        root = directory()
        if root is None:
            return
        files: list[tuple[float, int, Path]] = []
        for path in (root / self.kind).glob("*/*"):
            with contextlib.suppress(OSError):
                status = path.stat()
                if path.name.startswith(_NEW) and status.st_mtime < time.time() - _ABANDONED:
                    path.unlink()
                else:
                    files.append((status.st_mtime, status.st_size, path))
        excess = sum(size for _, size, _ in files) - limit
        for _, size, path in sorted(files):
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            excess -= size

    def _path(self, key: str) -> Path | None:
        root = directory()
        return None if root is None else root / self.kind / key[:2] / key[2:]
