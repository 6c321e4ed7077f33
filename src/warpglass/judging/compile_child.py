"""The program of the process that compiles one submission, shut in (jail.py): a file in, PTX out.

It is run by its path, with the number of a descriptor from which comes a line of JSON; the answer, a line of
JSON too, goes to the descriptor that the line names, as do reports of what the submission tried that it may
not: those are sent when it tries, before it could take them back. Whatever comes from here is the word of the
submission, and is taken for no more than that.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import sysconfig
from collections.abc import Callable
from types import FrameType
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Audit events of what no kernel needs, with what to call it.
_ACTS = {
    **dict.fromkeys(("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn"), "start a program"),
    **dict.fromkeys(("os.fork", "os.forkpty"), "start a process"),
    **dict.fromkeys(("os.kill", "os.killpg"), "send a signal"),
    **dict.fromkeys(("socket.__new__", "socket.connect", "socket.getaddrinfo"), "use the network"),
    **dict.fromkeys(("os.remove", "os.rename", "os.rmdir", "os.truncate"), "change files"),
    **dict.fromkeys(("os.mkdir", "os.link", "os.symlink", "os.chmod", "os.chown"), "change files"),
    **dict.fromkeys(("ctypes.dlopen", "ctypes.dlsym", "ctypes.call_function"), "call native code"),
}  # fmt: skip
# Modules with which the work could be done elsewhere than in the kernel.
_LIBRARIES = frozenset("cupy torch tensorflow jax scipy cublas cuda pycuda pyopencl triton warpglass".split())


class Reports:
    """An audit hook that tells what the submission's own code does, and the libraries that it calls."""

    def __init__(self, tell: Callable[[dict[str, str]], None], file: str, allowed: tuple[str, ...]):
        self._tell, self._file, self._allowed = tell, file, allowed
        self._through = (sysconfig.get_path("stdlib"), "<frozen", "<string>")
        self._busy = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._busy or (event not in _ACTS and event not in ("open", "import")):
            return
        self._busy = True
        try:
            if (said := self._said(event, arguments)) and self._is_its_doing(sys._getframe(1)):
                self._tell(said)
        finally:
            self._busy = False

    def _said(self, event: str, arguments: tuple[Any, ...]) -> dict[str, str] | None:
        shown = str(arguments[0])[:200] if arguments else ""
        if event == "import":
            top = shown.partition(".")[0]
            return {"library": top} if top in _LIBRARIES else None
        if event != "open":
            return {"act": _ACTS[event], "what": shown}
        path, _, flags = arguments
        if not isinstance(path, (str, bytes)):  # a descriptor that is open already
            return None
        place = os.path.abspath(os.fsdecode(path))  # noqa: PTH100, a link is judged by its own place
        if flags & _WRITES:
            return None if place == os.devnull else {"act": "write a file", "what": shown}
        within = any(place == folder or place.startswith(folder + os.sep) for folder in self._allowed)
        return None if within else {"act": "read a file", "what": shown}

    def _is_its_doing(self, frame: FrameType | None) -> bool:
        """Whether the innermost code that is not Python's own library is the submission's."""
        while frame is not None:
            name = frame.f_code.co_filename
            if name == self._file:
                return True
            if not name.startswith(self._through) and "numpy" not in name:
                return False
            frame = frame.f_back
        return False


def main() -> None:
    """Read the request, shut this process in, compile, and answer."""
    with os.fdopen(int(sys.argv[1]), "rb") as asked:
        request: dict[str, Any] = json.loads(asked.readline())
    answers = os.fdopen(int(request["answers"]), "wb", buffering=0)

    def tell(said: dict[str, Any]) -> None:
        answers.write(json.dumps(said).encode() + b"\n")

    sys.path[:] = request["folders"]
    sys.dont_write_bytecode = True
    sys.executable = ""  # compilers are called in this process, which may start none
    sys.path.insert(0, request["own"])
    jail = importlib.import_module("jail")  # by its own name: the package is not imported yet

    sys.path.remove(request["own"])
    jail.enter(request["readable"], request["scratch"], *request["limits"])
    file = request["file"]
    try:
        answer = _compile(request, lambda: Reports(tell, file, tuple(request["readable"])))
    except MemoryError:
        answer = {"limit": "memory"}
    tell(answer)
    answers.close()
    os._exit(0)  # nothing that the submission left for the end of the process runs


def _compile(request: dict[str, Any], reports: Callable[[], Reports]) -> dict[str, Any]:
    import numpy as np

    from warpglass import source
    from warpglass.errors import ArgumentError, CompileError, UnknownKernel
    from warpglass.source.relocate import Layout
    from warpglass.source.store import pack

    if request["file"].endswith(".py"):
        _import_packages()
        sys.addaudithook(reports())
    arguments = [
        np.dtype(dtype).type(0) if ndim < 0 else np.zeros((1,) * ndim, dtype)
        for dtype, ndim in request["types"]
    ]
    try:
        found = source.load(
            request["file"], request["kernel"], target=request["target"], options=request["flags"]
        )
        compiled = found.compile(arguments)
    except UnknownKernel as problem:
        return {"missing": str(problem)}
    except ArgumentError as problem:
        return {"signature": str(problem)}
    except CompileError as problem:
        return {"limit": "memory"} if "MemoryError" in str(problem) else {"error": str(problem)}
    except BaseException as problem:  # SystemExit of the submission, or a defect of a compiler
        return {"error": f"{type(problem).__name__}: {problem}"}
    return {"compiled": pack(compiled, Layout((request["file"],))).decode()}


def _import_packages() -> None:
    """Import what a Python submission may use, so that what they load themselves is not its doing."""
    from warpglass.source.numba_package import version_of
    from warpglass.source.python_names import PACKAGES

    for package in PACKAGES:
        if version_of(package) is not None:
            for module in package.modules.values():
                __import__(module)


if __name__ == "__main__":
    main()
