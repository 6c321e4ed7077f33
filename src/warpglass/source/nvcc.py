"""Whole CUDA C++ programs: nvcc of NVIDIA's wheel with the host compiler that is there.

Belongs here: the call of nvcc for the device code of a file whose host code and headers (<iostream>) NVRTC
cannot take. nvcc has the host's compiler read its headers and hands the rest to the same front end, so
the messages and the PTX are those of nvrtc.py. A kernel is instantiated, and its mangled name found, by a
function of ours that takes its address; it is taken out of the PTX again.
"""

from __future__ import annotations

import importlib.util
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..errors import CompileError, Diagnostic
from ..host.budget import compile_limits, too_slow
from ..host.tied import run_tied
from . import older
from .nvrtc import Refused, Result, parse_log

WHEEL = "nvidia-cuda-nvcc"
_HOST_COMPILERS = ("g++", "c++", "clang++") if sys.platform != "win32" else ("cl",)
MARK = "__warpglass_entry"
_ENTRY = re.compile(
    rf"^[^\n]*\.func[^{{;]*\b\w*{MARK}\w*\s*\(\s*\)\s*\{{(.*?)\n\}}\n", re.MULTILINE | re.DOTALL
)
_DECLARED = re.compile(rf"^[^\n]*\.func[^{{;\n]*(?:\n[^{{;]*?)?\b\w*{MARK}\w*\s*\(\s*\)\s*;\n", re.MULTILINE)
_PROTOTYPE = re.compile(r"^[^\n]*\.entry\s+[\w$]+\s*\([^)]*\)\s*;\n", re.MULTILINE)
_FILES = re.compile(rf'^\s*\.file\s+\d+\s+"[^"\n]*{MARK}"[^\n]*\n', re.MULTILINE)
_ADDRESS = re.compile(r"mov\.[bu]64\s+%\w+,\s*([\w$]+);")
_HOST_MESSAGE = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE
)
# What programs are usually built with if they need it; it changes nothing for others.
LENIENT = ("-allow-unsupported-compiler", "--expt-relaxed-constexpr", "--extended-lambda")
# A shell's words to bound address space (KiB) and processor time (s) of a command and all that it starts.
_LIMITED = 'ulimit -v "$1"; ulimit -t "$2"; shift 2; exec "$@"'
# Options that only NVRTC has.
_NOT_ITS = re.compile(r"-default-device$|--device-as-default-execution-space$|-I$")


def wheels() -> tuple[Path, ...]:
    """The folders of what NVIDIA's wheels bring."""
    spec = importlib.util.find_spec("nvidia")
    return tuple(map(Path, spec.submodule_search_locations or ())) if spec else ()


@cache
def program() -> Path | None:
    """nvcc of its wheel; None if it is not installed."""
    for root in wheels():
        for found in sorted(root.glob("cu[0-9]*/bin/nvcc*"), reverse=True):
            if found.name in ("nvcc", "nvcc.exe"):
                return found
    return None


@cache
def find() -> tuple[Path, str] | None:
    """nvcc of its wheel and the host's compiler; None unless both are there."""
    host = next(filter(None, map(shutil.which, _HOST_COMPILERS)), None)
    found = program()
    return None if found is None or host is None else (found, host)


def compile_program(text: str, file: str, expression: str, options: tuple[str, ...]) -> Result:
    """Compile the device code of `text`, which takes itself to be `file`, as nvrtc.compile_program does.

    Raises Refused if there are errors, CompileError if it takes too long.
    """
    found = find()
    assert found is not None, "the caller has asked"
    compiler, host = found
    own = [f"-I{Path(file).parent}"] if Path(file).is_absolute() else []
    whole = f'#line 1 "{file}"\n{text}\n{_question(expression)}'
    with tempfile.TemporaryDirectory(prefix="warpglass-") as folder:
        source, result = Path(folder, "kernel.cu"), Path(folder, "kernel.ptx")
        source.write_text(whole, encoding="utf-8", errors="surrogateescape")
        given = [option for option in options if not _NOT_ITS.match(option)]
        words = ["-ptx", "-ccbin", host, *LENIENT, *own, *given, str(source), "-o", str(result)]
        status, log = _run([str(compiler), *words], folder, file)
        if status and (flags := older.flags(log)):
            status, log = _run([str(compiler), *flags, *words], folder, file)
        found_errors, found_remarks = parse_log(log)
        errors = (*_host_errors(log), *map(_as_written, found_errors))
        remarks = tuple(map(_as_written, found_remarks))
        if status or not result.exists():
            raise Refused(errors, remarks, log)
        ptx = result.read_text(errors="replace")
    entry = _ENTRY.search(ptx)
    address = _ADDRESS.search(entry[1]) if entry else None
    return Result(_without_question(ptx), address[1] if address else "", remarks)


def _question(expression: str) -> str:
    if not expression:
        return ""
    head = "__device__ __attribute__((used)) void *"
    return f'#line 1 "{MARK}"\n{head}{MARK}() {{ return (void *)&{expression}; }}\n'


def _without_question(ptx: str) -> str:
    """The PTX without our function, its files, and the declarations of kernels that it needed."""
    for pattern in (_ENTRY, _DECLARED, _PROTOTYPE, _FILES):
        ptx = pattern.sub("", ptx)
    return ptx


def _as_written(found: Diagnostic) -> Diagnostic:
    """A message without the line's text, which the preprocessor has changed."""
    return replace(found, text=None, column=None)


def _host_errors(log: str) -> tuple[Diagnostic, ...]:
    """What the host's compiler says of a file's includes."""
    return tuple(
        Diagnostic(found["text"], found["file"], int(found["line"])) for found in _HOST_MESSAGE.finditer(log)
    )


def _run(command: list[str], folder: str, what: str) -> tuple[int, str]:
    """Run nvcc and the programs that it starts; all are ended if they take too long."""
    allowed = compile_limits()
    seconds = allowed.patience
    if sys.platform != "win32":
        limits = str(allowed.memory >> 10), str(math.ceil(seconds))
        command = ["/bin/sh", "-c", _LIMITED, "sh", *limits, *command]
    environment = {**os.environ, "TMPDIR": folder, "LC_ALL": "C"}
    for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH"):
        environment.pop(name, None)
    try:
        run = run_tied(command, timeout=seconds, env=environment, scratch=Path(folder))
    except subprocess.TimeoutExpired:
        raise too_slow(what, seconds) from None
    except OSError as problem:
        raise CompileError(f"cannot run {command[0]}: {problem.strerror}") from None
    return run.returncode, run.stdout + run.stderr
