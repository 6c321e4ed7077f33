"""The program of a helper process (apart.py): calls one function of one file again and again, within limits.

It is run by its path and loads the file by its path, so that it need not import this package. A message is a
count, the lengths, then that many byte strings: whatever a compiler that was taken over could send back, it
is only bytes to the process that reads it. An answer says whether the function returned and how many bytes
of memory this process has used at most, before what it returned.

It ends with the process that started it, however that ends: then the system closes the pipe of requests,
which a thread of its own always reads. The compilers' Python bindings let other threads run meanwhile; what
does not is ended by its budget of processor time. (Linux could send a signal when a parent dies, but sends it
when the *thread* ends that started the helper.)
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import queue
import signal
import struct
import sys
import threading
import time
from typing import IO, Any

try:
    import resource
except ImportError:  # Windows
    resource = None

DONE, FAILED = b"done", b"failed"


def send(stream: IO[bytes], parts: list[bytes]) -> None:
    """Write a message."""
    stream.write(struct.pack(f"<{len(parts) + 1}Q", len(parts), *map(len, parts)) + b"".join(parts))
    stream.flush()


def receive(stream: IO[bytes]) -> list[bytes] | None:
    """Read a message; None at the end of the stream or if it breaks off."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    (count,) = struct.unpack("<Q", head)
    sizes = stream.read(8 * count)
    if len(sizes) < 8 * count:
        return None
    parts = [stream.read(size) for size in struct.unpack(f"<{count}Q", sizes)]
    complete = sum(map(len, parts)) == sum(struct.unpack(f"<{count}Q", sizes))
    return parts if complete else None


def _restrict(memory: int) -> None:
    """Bound this process: its address space, and no core files. Where there are no such limits, nothing."""
    if resource is None:
        return
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (least, least))


def _allow(seconds: float) -> None:
    """Let this process use so many more seconds of processor time, rounded up; then a signal ends it."""
    if resource is None:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))


def _peak() -> int:
    """The most bytes of memory that this process has used; 0 where nothing says it."""
    if resource is None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _function(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location("apart", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["apart"] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def _read(stream: IO[bytes], requests: queue.SimpleQueue[list[bytes]]) -> None:
    """Hand on requests; when there can be no more, end this process in the midst of whatever it does."""
    try:
        while (request := receive(stream)) is not None:
            requests.put(request)
    finally:
        os._exit(1)


def main() -> None:
    """Serve until the other end closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    stream, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    requests: queue.SimpleQueue[list[bytes]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(stream, requests), daemon=True).start()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)  # what is compiled may neither read requests nor write answers
    os.dup2(nothing, 1)
    path, name, memory, seconds, *folders = sys.argv[1:]
    sys.path[:] = folders
    _restrict(int(memory))
    function: Any = None
    while True:
        arguments = requests.get()
        _allow(float(seconds))
        try:
            function = function or _function(path, name)
            status, answer = DONE, function(*arguments)
        except MemoryError:
            raise
        except Exception as error:
            status, answer = FAILED, [type(error).__name__.encode(), str(error).encode(errors="replace")]
        send(answers, [status, str(_peak()).encode(), *answer])


if __name__ == "__main__":
    main()
