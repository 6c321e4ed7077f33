"""The call into NVRTC, NVIDIA's runtime compiler for CUDA C++, and the reading of its log.

Belongs here: one function that turns text into PTX, CUDA's header folders, and what NVRTC says when it
refuses. NVRTC runs in a process of its own (nvrtc_call.py); it needs neither a GPU nor a driver. Which entry
is wanted, what is cached and what the user gets to read is cuda.py's business.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..errors import CompileError, Diagnostic
from .apart import Apart, FailedApart
from .cache import versions
from .host_headers import HOST_HEADERS, IMPLICIT

WHEELS = ("nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl")
CURAND = "nvidia-curand"  # whoever includes cuRAND's device headers installs it
_NVRTC = Apart(Path(__file__).with_name("nvrtc_call.py"), "compile_program")
NAME_MAP = "__nv_name_map"  # the file that NVRTC blames for a bad name expression
# What a program misses of IMPLICIT, and the file that says it. libcu++ has some itself, so no other is said.
_IMPLICIT_FILE = "warpglass/implicit.h"
_MISSED = re.compile(r'identifier "(\w+)" is undefined|namespace "(std)" has no member "\w+"')

_MESSAGE = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d+)\): (?:(?P<rank>(?:catastrophic )?error|warning|remark)"
    r"(?: #(?P<number>[\w-]+))?: )(?P<text>.*)$"
)


@dataclass(frozen=True, slots=True)
class Result:
    """PTX, the mangled name of the name expression ("" if there was none) and the compiler's remarks."""

    ptx: str
    lowered: str
    warnings: tuple[Diagnostic, ...]


class Refused(Exception):
    """NVRTC did not compile the program; `errors` and `warnings` are its log."""

    def __init__(self, errors: tuple[Diagnostic, ...], warnings: tuple[Diagnostic, ...], log: str):
        self.errors, self.warnings, self.log = errors, warnings, log
        super().__init__(log)


def version() -> str | None:
    """Return the versions of the wheels that a compilation reads, None if the compiler's is unknown."""
    return versions(*WHEELS, CURAND)


def header_folders() -> tuple[str, ...]:
    """Return the folders of CUDA's own headers, from the wheels; () if they are not installed."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    for root in roots:
        for include in sorted(Path(root).glob("cu[0-9]*/include"), reverse=True):
            if (include / "cuda_fp16.h").exists():
                return (str(include), str(include / "cccl"))
    return ()


def compile_program(
    text: str,
    file: str,
    expression: str,
    options: tuple[str, ...],
    stand_ins: Mapping[str, str] = MappingProxyType({}),
) -> Result:
    """Compile `text`, which NVRTC takes to be `file`; `expression` asks for an entry's mangled name.

    `stand_ins` are further headers and what they say.

    Raises Refused if NVRTC finds errors, CompileError if it is not there, takes too long or fails otherwise.
    """
    headers, said = {**stand_ins, **HOST_HEADERS}, set[str]()
    while True:
        try:
            return _compile_once(text, file, expression, options, headers)
        except Refused as refusal:
            found = [_MISSED.match(error.message) for error in refusal.errors]
            names = {one[1] or one[2] for one in found if one} & IMPLICIT.keys()
            if not header_folders():
                names.discard("std")  # which includes libcu++'s
            if names <= said:
                raise
            if not said:
                options = (*options, f"-include={_IMPLICIT_FILE}")
            said |= names
            headers[_IMPLICIT_FILE] = "".join(text for name, text in IMPLICIT.items() if name in said)


def _compile_once(
    text: str, file: str, expression: str, options: tuple[str, ...], headers: Mapping[str, str]
) -> Result:
    arguments = (text, file, expression, str(len(headers)), *headers, *headers.values(), *options)
    try:
        encoded = [part.encode(errors="surrogateescape") for part in arguments]
        status, said, ptx, lowered = _NVRTC.call(file, *encoded)
    except FailedApart as error:
        if error.kind == "ValueError":
            raise CompileError(f"{file}: {error}") from None
        raise _missing(error) from None
    log = said.decode(errors="replace").strip(" ")
    errors, remarks = parse_log(log)
    if status == b"NVRTC_ERROR_COMPILATION":
        raise Refused(errors, remarks, log)
    if status:
        raise CompileError(f"{file}: NVRTC failed with {status.decode()}" + (f"\n{log}" if log else ""))
    if lowered == b"?":  # nothing of the text reached the compiler, as with UTF-16
        raise CompileError(f"{file}: no kernel {expression} was found; the file must be UTF-8 text")
    return Result(ptx.decode(errors="replace").strip(" "), lowered.decode(), remarks)


def _missing(error: FailedApart) -> CompileError:
    # cuda.pathfinder's DynamicLibNotFoundError is a RuntimeError: the bindings are there, the library is not
    reason = (
        "" if error.kind in ("ImportError", "ModuleNotFoundError") else f" ({str(error).splitlines()[0]})"
    )
    return CompileError(
        f"CUDA C++ needs NVIDIA's runtime compiler, which is not installed{reason}; "
        f"`pip install cuda-bindings {' '.join(WHEELS)}` (Linux and Windows; no GPU is needed)"
    )


def parse_log(log: str) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Return the errors and the warnings of an NVRTC log.

    A message is `file(line): error: text`, then the source line indented by two, then a caret below.
    """
    errors, remarks = list[Diagnostic](), list[Diagnostic]()
    lines = log.splitlines()
    for index, line in enumerate(lines):
        match = _MESSAGE.match(line)
        if not match:
            continue
        follow = index + 1
        message = [match["text"]]
        while follow < len(lines) and lines[follow].startswith("      "):  # continuation of a long message
            if lines[follow].strip() == "^" or (follow + 1 < len(lines) and lines[follow + 1].strip() == "^"):
                break
            message.append(lines[follow].strip())
            follow += 1
        text, column = None, None
        if follow + 1 < len(lines) and lines[follow + 1].strip() == "^":
            text, column = lines[follow][2:], lines[follow + 1].index("^") - 1
        if match["number"]:
            message.append(f"[#{match['number']}]")
        found = Diagnostic(" ".join(message), match["file"], int(match["line"]), column, text)
        (errors if "error" in match["rank"] else remarks).append(found)
    return tuple(errors), tuple(remarks)
