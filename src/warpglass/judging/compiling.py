"""From a submission to PTX, in a process that is shut in: the parent's side of compile_child.py.

The child has no secrets: it sees the submission and the types of the arguments. Only a line of JSON comes
back, of which nothing is trusted: PTX goes through our own parser and runs on the engine like any other.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import select
import signal
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CompileError
from ..host.tied import tied
from ..source import Compiled
from ..source import compile_text as compile_ptx
from ..source.front_ends import DEFAULT_TARGET
from ..source.relocate import Layout
from ..source.store import unpack
from .submission import Submission
from .task import Task
from .verdicts import (
    COMPILE_ERROR,
    COMPILE_LIMIT,
    FLOOD,
    FORBIDDEN,
    LIBRARY,
    NO_KERNEL,
    SIGNATURE,
    Verdict,
)

_OWN = Path(__file__).resolve().parent
_PACKAGE = _OWN.parent
_CHILD = _OWN / "compile_child.py"
# How much longer than its processor time the clock may say that compiling takes: machines may be busy.
_PATIENCE = 4
_ANSWER = 64 << 20  # bytes that a child may answer with
_SCRATCH = 64 << 20  # bytes of one file in its folder
# Libraries that do such work as tasks ask for, called by the host: their headers, and calls in PTX.
_LIBRARIES = "cublas|cufft|curand|cusparse|cusolver|cudnn|cutensor|nccl|npp"
_HEADER = re.compile(rf'^[ \t]*#[ \t]*include[ \t]*[<"]((?:{_LIBRARIES})\w*\.h)'.encode(), re.MULTILINE)
_CALLED = re.compile(rf"\.extern\s+\.func\s[^;]*?\b((?:{_LIBRARIES})\w*)")
_FILE = re.compile(r'(\.file\s+\d+\s+")[^"\n]*?([^"/\n]*")')
_SIGNALLED = 128  # and a signal's number: the status of what it ended
_CODES = {"missing": NO_KERNEL, "signature": SIGNATURE, "error": COMPILE_ERROR, "limit": COMPILE_LIMIT}
# What compilers read besides Python's folders: libraries, the kind of processor.
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/proc/cpuinfo", "/proc/meminfo", "/proc/self")
_SYSTEM += ("/sys/devices/system/cpu", "/etc/localtime")


def compile_submission(submission: Submission, task: Task, arguments: Sequence[Any]) -> Compiled:
    """The submission's kernel for arguments of these types; raises Verdict if there is none.

    PTX is read here, since our parser is all that sees it.
    """
    if submission.language == "ptx":
        try:
            return _plain(
                compile_ptx(submission.text.decode(), task.kernel, language="ptx").compile(arguments)
            )
        except CompileError as problem:
            code = NO_KERNEL if type(problem).__name__ == "UnknownKernel" else COMPILE_ERROR
            raise Verdict(code, str(problem)) from None
    with tempfile.TemporaryDirectory(prefix="warpglass-judge-", ignore_cleanup_errors=True) as folder:
        file = Path(folder, f"submission{submission.suffix}")
        file.write_bytes(submission.text)
        try:
            answer = _ask(file, task, arguments)
        except Verdict as verdict:
            raise _told(verdict, submission, file) from None
    try:
        compiled = _plain(unpack(answer.encode(), Layout((submission.name,))))
        return replace(compiled, name=task.kernel, demands=None, exceptions=None)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise Verdict(COMPILE_ERROR, f"the answer of its compilation is none: {problem}") from None


def _told(verdict: Verdict, submission: Submission, file: Path) -> Verdict:
    """A verdict on a file as its author knows it, whose name is not that of the file that was compiled."""
    header = _HEADER.search(submission.text)
    if verdict.code == COMPILE_ERROR and header is not None:
        return Verdict(LIBRARY, f"it includes {header[1].decode()}, whose functions the host calls")
    text = verdict.text.replace(str(file), submission.name).replace(file.name, submission.name)
    return Verdict(verdict.code, text)


def _plain(compiled: Compiled) -> Compiled:
    """The kernel whose lines are in files of no folder: no file of this machine is looked at for them.

    Raises Verdict if it calls a library.
    """
    if called := _CALLED.search(compiled.ptx):
        raise Verdict(LIBRARY, f"it calls {called[1]}")
    return replace(compiled, ptx=_FILE.sub(r"\1\2", compiled.ptx), text="")


@dataclass
class _Heard:
    """What a child has sent so far."""

    answers: bytearray = field(default_factory=bytearray)
    printed: int = 0
    said: bytearray = field(default_factory=bytearray)


def _ask(file: Path, task: Task, arguments: Sequence[Any]) -> str:
    """The packed kernel that a child makes of the file; raises Verdict for anything else."""
    reading, writing = os.pipe()
    asked, asking = os.pipe()
    request = json.dumps(_request(file, task, arguments, writing)).encode() + b"\n"
    environment = {
        "PATH": "",
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(file.parent),
        "WARPGLASS_CACHE": str(file.parent / "cache"),
        "OPENBLAS_NUM_THREADS": "1",
        **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
    }
    command = [sys.executable, "-I", str(_CHILD), str(asked)]
    options = {"stderr": subprocess.STDOUT, "env": environment, "cwd": file.parent}
    with os.fdopen(reading, "rb", buffering=0) as answers, os.fdopen(asking, "wb", buffering=0) as request_to:
        try:
            with tied(command, file.parent, pass_fds=(asked, writing), **options) as child:
                for end in (asked, writing):
                    os.close(end)
                asked = writing = -1
                with contextlib.suppress(OSError):
                    request_to.write(request)
                heard = _listen(child, answers.fileno(), task)
        finally:
            for end in (asked, writing):
                if end >= 0:
                    os.close(end)
    return _understood(heard, child.returncode, task)


def _request(file: Path, task: Task, arguments: Sequence[Any], answers: int) -> dict[str, Any]:
    folders = [str(Path(one).absolute()) for one in sys.path if one]
    readable = {sys.prefix, sys.base_prefix, str(_PACKAGE), *folders, *site.getsitepackages(), *_SYSTEM}
    limits = task.limits
    return {
        "answers": answers,
        "own": str(_OWN),
        "file": str(file),
        "scratch": str(file.parent),
        "kernel": task.kernel,
        "target": DEFAULT_TARGET,
        "flags": [] if file.suffix == ".py" else list(task.flags),
        "types": [_type(value) for value in arguments],
        "folders": folders,
        "readable": sorted({os.path.realpath(one) for one in readable} | readable),
        "limits": [limits.memory, math.ceil(limits.compile), _SCRATCH],
    }


def _type(value: Any) -> tuple[str, int]:
    """Type code and number of dimensions, -1 for a scalar."""
    array = isinstance(value, np.ndarray)
    return np.dtype(value.dtype if array or isinstance(value, np.generic) else type(value)).str, (
        value.ndim if array else -1
    )


def _listen(child: subprocess.Popen[bytes], answers: int, task: Task) -> _Heard:
    """Collect what comes until the child ends or takes too much of anything."""
    assert child.stdout is not None
    heard, deadline = _Heard(), time.monotonic() + _PATIENCE * task.limits.compile
    printed = child.stdout.fileno()
    for place, part in _parts({answers, printed}, deadline):
        if place == answers:
            heard.answers += part
        else:
            heard.printed += len(part)
            heard.said += part[: 2000 - len(heard.said)]
        if len(heard.answers) > _ANSWER or heard.printed > task.limits.output:
            raise Verdict(FLOOD, f"compiling it printed more than {task.limits.output} bytes")
    if time.monotonic() >= deadline:
        raise Verdict(COMPILE_LIMIT, f"compiling did not end within {_PATIENCE * task.limits.compile:g} s")
    return heard


def _parts(places: set[int], deadline: float) -> Iterator[tuple[int, bytes]]:
    while places and (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select(list(places), [], [], left)
        for place in ready:
            part = os.read(place, 1 << 16)
            if part:
                yield place, part
            else:
                places.discard(place)


def _understood(heard: _Heard, status: int, task: Task) -> str:
    """The kernel in the answers; raises Verdict for what else they say, the worst first."""
    found: dict[str, Any] = {}
    for line in bytes(heard.answers).splitlines():
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict):
            for key, value in said.items():  # pyright: ignore[reportUnknownVariableType]
                found.setdefault(str(key), value)  # pyright: ignore[reportUnknownArgumentType]
    if "act" in found:
        raise Verdict(FORBIDDEN, f"it tried to {found['act']}: {found.get('what', '')}")
    if "library" in found:
        raise Verdict(LIBRARY, f"it imports {found['library']}")
    for key, code in _CODES.items():
        if key in found:
            raise Verdict(code, str(found[key]))
    if "compiled" in found:
        return str(found["compiled"])
    if status in (_SIGNALLED + getattr(signal, "SIGXCPU", 0), _SIGNALLED + signal.SIGKILL):
        raise Verdict(COMPILE_LIMIT, f"compiling took more than {task.limits.compile:g} s of processor time")
    said = bytes(heard.said).decode(errors="replace").strip().splitlines()
    raise Verdict(
        COMPILE_LIMIT, f"its compilation ended with status {status}: {said[-1] if said else 'no answer'}"
    )
