"""Building whole programs: nvcc of NVIDIA's wheel, the machine's C++ compiler, and a cache.

Belongs here: an object for each source and the executable, each kept in the cache under what it is made of.
A source and its flags lead to a list of the files that the compiler has read, as it says itself; while none
of them has changed, nor has the object. The executable is linked with libcudart as a library, whose place
ours takes (bridge/), and is an ordinary program: on a machine with a GPU and CUDA it runs there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..errors import ArgumentError, CompileError
from ..host.budget import compile_limits, too_slow
from ..host.cores import core_count
from ..host.tied import run_tied
from ..source import nvcc, older
from ..source.cache import digest, directory
from .bridge import library
from .command_line import Build
from .host_compiler import HostCompiler, host_compiler

_FORMAT = "1"
_KIND = "programs"
# What nvcc gets beside the user's flags; lines for findings, and no compression, which costs time twice.
_INCLUDE = Path(__file__).parent / "include"  # for headers of NVIDIA's that its compilers come without
_FLAGS = (
    *(
        "--pre-include",
        str(older.NAMES),
        "-lineinfo",
        "--no-compress",
        "-Xcompiler=-g1",
        f"-Xcompiler=-idirafter,{_INCLUDE}",
        "-cudart=none",
    ),
    *nvcc.LENIENT,
)
_UNIT = re.compile(rb"\b__cudaRegisterLinkedBinary_\w+")  # what each unit that was compiled apart calls
_NO_FILE = re.compile(r"fatal error: ([\w./]+): No such file")
_NO_FUNCTION = re.compile(
    r"identifier \"((?:cublas|cufft|curand|cusolver|cusparse)\w+)\" is undefined"
    r"|['\u2018]((?:cublas|cufft|curand|cusolver|cusparse)\w+)['\u2019] was not declared"
)
# Which package has the headers that begin so.
_PACKAGES = {
    "cublas": "nvidia-cublas",
    "cufft": "nvidia-cufft",
    "curand": "nvidia-curand",
    "cusolver": "nvidia-cusolver",
    "cusparse": "nvidia-cusparse",
    "nvrtc": "nvidia-cuda-nvrtc",
    "nvJitLink": "nvidia-nvjitlink",
    "nvtx3/": "nvidia-nvtx",  # not ours: CUB takes it for the whole of NVTX
}
_NO_LIBRARY = re.compile(r"(?:cannot find|unable to find library) -l:?([\w.+-]+)")
# What can be said of what compilers say, of things that no longer are or cannot be.
_EXPLAINED = {
    r'\btexture is not a template|identifier "(?:texture|textureReference|cudaBindTexture)" is undef': (
        "texture references are not in CUDA since its version 12: use cudaCreateTextureObject"
    ),
    r"fatal error: (?:GL|GLES\d|EGL|vulkan|GLFW)/": (
        "the virtual GPU has no part in graphics: OpenGL, EGL and Vulkan are not offered"
    ),
}
_Advice = Callable[[str], tuple[str, ...]]  # from what a compiler says, flags
_IGNORED = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")


@dataclass(frozen=True, slots=True)
class Tools:
    """What a program is built with."""

    nvcc: Path
    host: HostCompiler

    @property
    def identity(self) -> str:
        """What other versions of these have another of."""
        status = self.nvcc.stat()
        return f"{self.nvcc}:{status.st_size}:{status.st_mtime_ns}:{self.host.identity}"


def tools() -> Tools:
    """The compilers. Raises ArgumentError, saying what to install, if one is missing."""
    found = nvcc.program()
    if found is None:
        raise ArgumentError(f"nvcc is needed to build whole programs: pip install {nvcc.WHEEL}")
    return Tools(found, host_compiler())


def executable(build: Build) -> Path:
    """The program's file, built if need be.

    Raises ArgumentError for missing compilers and CompileError, with what they say, if they refuse.
    """
    found = tools()
    root = directory()
    if root is None:
        raise ArgumentError("programs need a place for their files: let WARPGLASS_CACHE name a directory")
    place = root / _KIND
    place.mkdir(mode=0o700, exist_ok=True)
    with ThreadPoolExecutor(max(1, core_count())) as pool:
        objects = list(pool.map(lambda source: _object(source, build, found, place), build.sources))
    key = digest(
        *(_FORMAT, found.identity, *map(_content, (*objects, *build.objects))),
        *(*build.link, *_host_flags(build.flags), str(build.separate)),
    )
    target = place / key[:2] / f"{key[2:]}.program"
    if not target.exists():
        with _workplace(place) as work:
            _link([*objects, *build.objects], build, found, Path(work, "program"), Path(work))
            _keep(Path(work, "program"), target)
    if build.output is not None:
        shutil.copy2(target, build.output)
    return target


# ---------------------------------------------------------------------------------------- objects
def _object(source: Path, build: Build, found: Tools, place: Path) -> Path:
    """The object of a source, from the cache or made."""
    words = (found.identity, str(build.architecture), *build.flags, str(build.separate))
    key = digest(_FORMAT, str(source.absolute()), str(Path.cwd()), _content(source), *words)
    record, target = (place / key[:2] / f"{key[2:]}.{kind}" for kind in ("json", "o"))
    if target.exists() and _unchanged(record):
        return target
    with _workplace(place) as work:
        made, read = Path(work, "object.o"), Path(work, "read.d")
        target_flag = f"-gencode=arch=compute_{build.architecture},code=compute_{build.architecture}"
        _run(
            [
                *(str(found.nvcc), "-c", str(source), "-o", str(made), "-MD", "-MF", str(read), target_flag),
                *("-ccbin", found.host.as_one_program(Path(work)), *_FLAGS, *build.flags),
                f"-Xcompiler=-idirafter,{library.headers()}",
                *(("-rdc=true",) if build.separate else ()),
            ],
            Path(work),
            str(source),
            instead=older.flags,
        )
        files = {str(path): _stamp(path) for path in _files_read(read.read_text("utf-8", "surrogateescape"))}
        _keep(made, target)
        whole = Path(work, "record")
        whole.write_text(json.dumps(files))
        _keep(whole, record)
    return target


def _files_read(text: str) -> list[Path]:
    """The files of a rule for make."""
    words = text.replace("\\\n", " ").replace("\\ ", "\0").partition(":")[2].split()
    return [Path(word.replace("\0", " ")) for word in words]


def _stamp(path: Path) -> list[str | int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, _content(path)]


def _unchanged(record: Path) -> bool:
    """Whether all files of a record are what they were: not touched, or of the same content."""
    try:
        files = json.loads(record.read_bytes())
        for name, (size, time, content) in files.items():
            status = Path(name).stat()
            if (status.st_size, status.st_mtime_ns) != (size, time) and (
                status.st_size != size or _content(Path(name)) != content
            ):
                return False
    except (OSError, ValueError):
        return False
    return True


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---------------------------------------------------------------------------------------- linking
def _link(objects: Sequence[Path], build: Build, found: Tools, target: Path, work: Path) -> None:
    """Link by the host's compiler; PTX of units that were compiled apart is linked when first used."""
    place = library.folder()
    registering = work / "registering.c"
    registering.write_text(_registering(objects))
    _run(
        [
            *(
                *found.host.command,
                *_host_flags(build.flags),
                "-o",
                str(target),
                "-xc",
                str(registering),
                "-xnone",
            ),
            *(*map(str, objects), *_linker_flags(build.link)),
            *(f"-L{place}", f"-Wl,-rpath-link,{place}", "-lcudart", "-lpthread", "-ldl", "-lrt", "-lm"),
        ],
        work,
        " ".join(map(str, build.sources)),
    )


def _host_flags(flags: Sequence[str]) -> list[str]:
    """The flags of the host's compiler, which nvcc hands to it when it links, too (-fopenmp)."""
    found, rest = list[str](), list(flags)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in ("-Xcompiler", "--compiler-options"):
            found += (value if equals or not rest else rest.pop(0)).split(",")
    return found


def _registering(objects: Sequence[Path]) -> str:
    """What nvlink would make of units that were compiled apart, in C: each hands itself to the runtime."""
    names = {name for path in objects for name in _UNIT.findall(path.read_bytes())}
    lines = ["void __cudaRegisterLinkedBinary(void *, void *, void *, void *);"]
    for name in sorted(one.decode() for one in names):
        lines.append(
            f"void {name}(void *a, void *b, void *c, void *d) {{ __cudaRegisterLinkedBinary(a, b, c, d); }}"
        )
    return "\n".join(lines) + "\n"


def _library(name: str) -> list[str]:
    """The linker's flags for a library: ours, or one of a wheel of NVIDIA's, found there then and later."""
    for one in (name, name.removesuffix("_static"), name.removesuffix("_static_nocallback")):
        if (library.folder() / f"lib{one}.so").exists():
            return [f"-l{one}"]
    for root in nvcc.wheels():
        for path in sorted(root.glob(f"**/lib/lib{name}.so.*")):
            return [str(path), f"-Wl,-rpath,{path.parent}"]
    return [f"-l{name}"]


def _linker_flags(flags: Sequence[str]) -> list[str]:
    """nvcc's flags for the linker as the C++ compiler takes them."""
    found, rest = list[str](), list(flags)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in ("-Xlinker", "--linker-options"):
            value = value if equals else rest.pop(0)
            found += [part for one in value.split(",") for part in ("-Xlinker", one)]
        elif name == "--library":
            found += _library(value if equals else rest.pop(0))
        elif name.startswith("-l"):
            found += _library(name[2:] or rest.pop(0))
        else:
            found.append(word)
    return found


# ---------------------------------------------------------------------------------------- processes
def _workplace(place: Path) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(dir=place, prefix=".new-")


def _run(command: Sequence[str], work: Path, what: str, instead: _Advice | None = None) -> None:
    """Run a compiler; what it says goes to stderr.

    `instead` tells from what it says the flags for another try, if there are any. Raises CompileError if the
    compiler refuses or takes too long.
    """
    environment = {**os.environ, "TMPDIR": str(work), "LC_ALL": "C"}
    for name in _IGNORED:
        environment.pop(name, None)
    seconds = compile_limits().patience
    try:
        done = run_tied(command, timeout=seconds, env=environment, scratch=work)
    except subprocess.TimeoutExpired:
        raise too_slow(what, seconds) from None
    except OSError as problem:
        raise CompileError(f"cannot run {command[0]}: {problem.strerror}") from None
    said = (done.stdout + done.stderr).strip()
    if done.returncode and instead and (flags := [one for one in instead(said) if one not in command]):
        return _run([*command[:1], *flags, *command[1:]], work, what, instead)
    if done.returncode:
        lacking = dict.fromkeys(_NO_LIBRARY.findall(said))
        if lacking:
            raise CompileError(
                f"{what} was not built: there is no lib{', lib'.join(lacking)} on this machine; of NVIDIA's "
                "libraries there are virtual cuBLAS, cuRAND, cuFFT, cuSOLVER and cuSPARSE, NVRTC, nvJitLink"
            )
        raise CompileError(f"{what} was not built\n{said}{_advice(said)}")
    if said:
        sys.stderr.write(f"{said}\n")


def _advice(said: str) -> str:
    """What there is to add: what to install for a missing header, what takes the place of what is gone."""
    lines = [text for pattern, text in _EXPLAINED.items() if re.search(pattern, said)]
    missing = _NO_FILE.search(said)
    if missing:
        packages = [package for start, package in _PACKAGES.items() if missing[1].startswith(start)]
        lines += [f"{missing[1]} comes with: pip install {package}" for package in packages[:1]]
    for first, second in dict.fromkeys(_NO_FUNCTION.findall(said)):
        name = first or second
        package = next(package for start, package in _PACKAGES.items() if name.startswith(start))
        lines.append(f"{name} is not in warpglass's own header; NVIDIA's comes with: pip install {package}")
    return "".join(f"\n{line}" for line in lines)


def _keep(made: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made.replace(target)
