"""The machine code of a kernel, and what it takes of a multiprocessor: registers, shared memory, spills.

Belongs here: the calls of NVIDIA's assembler, its errors in the user's terms, and the reading of its result.
The file's format is elf.py's; what follows from the numbers (occupancy) is models/. Results are kept on disk
by content, like PTX. No GPU is needed.

There are two ways to the same assembler. The program ptxas (wheel nvidia-cuda-nvcc, optional) takes the PTX
for a whole program, as a GPU's driver does. nvJitLink (wheel nvidia-nvjitlink, always installed) assembles it
as an object to be linked, which costs or saves some kernels with shared memory a few registers;
`Resources.assembler` says which it was. Registers, stack and barriers stand in the file. Shared memory and
spills are taken from the log, because releases differ in what they add to the shared memory in the file.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import tempfile
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from ..errors import CompileError
from ..host.budget import compile_timeout, too_slow
from ..host.tied import run_tied
from .cache import Cache, digest, versions
from .compiled import Compiled
from .elf import Elf, attributes, read_elf, symbols

PTXAS_WHEEL, LINKER_WHEEL = "nvidia-cuda-nvcc", "nvidia-nvjitlink"
OLDEST = (7, 5)  # what ptxas of CUDA 13 still assembles for

# Attributes of .nv.info, by their codes: EIATTR_REGCOUNT, EIATTR_MIN_STACK_SIZE, EIATTR_NUM_BARRIERS.
_REGISTERS, _STACK, _BARRIERS = 0x2F, 0x12, 0x4C

_TARGET = re.compile(r"sm_(\d+)([af]?)")
_VERSION = re.compile(r"^\s*\.version\s+\d+\.\d+", re.MULTILINE)
_TOO_NEW = re.compile(r"Unsupported \.version [\d.]+; current version is '([\d.]+)'")
_PTX_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)
_PROPERTIES = re.compile(
    r"Function properties for (\S+)\n"
    r".*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r"(?:\n.*Used (.*))?"
)
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel takes on one target, as ptxas allocated it.

    `registers` per thread; `static_shared` in bytes per block, without what the system reserves; `local` in
    bytes of stack per thread; `spill_stores` and `spill_loads` in bytes of code (how much is written and read
    where it executes once, not traffic); the last three include functions that were not inlined. `barriers`
    are the block barriers that the kernel names.
    """

    registers: int
    static_shared: int
    local: int
    spill_stores: int
    spill_loads: int
    barriers: int
    target: str
    assembler: str


@dataclass(frozen=True, slots=True)
class _Assembled:
    image: bytes
    log: str
    assembler: str


def cubin(compiled: Compiled, target: str) -> bytes:
    """Return the ELF file that ptxas makes of a kernel's PTX for a target such as "sm_90", with line tables.

    Raises CompileError if the target is unknown to this ptxas, older than the PTX, or the PTX is refused.
    """
    return _assemble(compiled.ptx, compiled.name, target).image


def resources(compiled: Compiled, target: str) -> Resources:
    """Return what a kernel takes on a target; raises CompileError as `cubin` does."""
    assembled = _assemble(compiled.ptx, compiled.name, target)
    elf = read_elf(assembled.image)
    names = symbols(elf)
    general = attributes(elf, ".nv.info")
    own = attributes(elf, f".nv.info.{compiled.entry}")
    number = next((index for index, symbol in enumerate(names) if symbol.name == compiled.entry), None)
    if number is None or (_REGISTERS, number) not in general:
        raise CompileError(f"{compiled.name}: the machine code has no kernel {compiled.entry}")
    reached = {names[index].name for index in _called_from(elf, number)}
    said = {name: rest for name, *rest in _PROPERTIES.findall(assembled.log)}
    spills = [tuple(map(int, rest[1:3])) for name, rest in said.items() if name in reached]
    shared = _SHARED.search(said[compiled.entry][3]) if compiled.entry in said else None
    return Resources(
        registers=general[_REGISTERS, number],
        static_shared=int(shared[1]) if shared else 0,
        local=general.get((_STACK, number), 0),
        spill_stores=sum(stores for stores, _ in spills),
        spill_loads=sum(loads for _, loads in spills),
        barriers=own.get((_BARRIERS, None), 0),
        target=target,
        assembler=assembled.assembler,
    )


def retargeted(compiled: Compiled, target: str) -> Compiled:
    """A kernel whose PTX is said to be for a target: PTX for a newer one may use nothing that it lacks."""
    return replace(compiled, ptx=_PTX_TARGET.sub(f".target {target}", compiled.ptx, count=1))


def read_resources(image: bytes, entry: str, target: str, reserved: int) -> Resources:
    """Return what an ELF file of this release's linker says of a kernel; there is no log, and no spills.

    `reserved` are the bytes of shared memory that the system takes of each block, which this release counts
    among the kernel's own. Raises CompileError if the kernel is not in it.
    """
    elf = read_elf(image)
    number = next((index for index, one in enumerate(symbols(elf)) if one.name == entry), None)
    general = attributes(elf, ".nv.info")
    if number is None or (_REGISTERS, number) not in general:
        raise CompileError(f"the machine code has no kernel {entry}")
    barriers = attributes(elf, f".nv.info.{entry}").get((_BARRIERS, None), 0)
    registers, local = general[_REGISTERS, number], general.get((_STACK, number), 0)
    section = elf.section(f".nv.shared.{entry}")
    shared = max(0, section.size - reserved) if section is not None else 0
    return Resources(registers, shared, local, 0, 0, barriers, target, assembler="nvJitLink")


def _called_from(elf: Elf, first: int) -> set[int]:
    """Return the symbols of a function and of all that it calls, by the file's call graph."""
    section = elf.section(".nv.callgraph")
    words = section.words() if section else ()
    pairs = list(zip(words[::2], words[1::2], strict=False))
    reached, new = set[int](), {first}
    while new:
        reached |= new
        # Numbers from 2**31 on stand for "some other module" and the like.
        new = {callee for caller, callee in pairs if caller in new and callee < 2**31} - reached
    return reached


# ---------------------------------------------------------------------------------------- assembling
@lru_cache(maxsize=64)
def _assemble(ptx: str, name: str, target: str) -> _Assembled:
    """Return machine code and log, from the disk cache if they are there."""
    target = _check_target(ptx, name, target)
    program = ptxas_program()
    if program is None:
        version, label = versions(LINKER_WHEEL, "cuda-bindings"), "nvJitLink"
    else:
        version, label = versions(PTXAS_WHEEL), "ptxas"
    store = Cache("cubin")
    key = None if version is None else digest("cubin", ptx, target, version)
    kept = store.get(key) if key else None
    if kept is None:
        assemble = _link if program is None else partial(_run, program)
        try:
            image, log = assemble(ptx, name, target)
        except CompileError as refused:
            if (known := _TOO_NEW.search(str(refused))) is None:
                raise
            # Other compilers are ahead of this assembler; what they use of their version it says itself.
            image, log = assemble(_VERSION.sub(f".version {known[1]}", ptx, count=1), name, target)
        kept = log.encode() + b"\0" + image
        if key:
            store.put(key, kept)
    log, _, image = kept.partition(b"\0")
    number = (version or "").partition(";")[0].rpartition(" ")[2]
    return _Assembled(image, log.decode(), f"{label} {number}".rstrip())


def _check_target(ptx: str, name: str, target: str) -> str:
    """The target to assemble for: the one asked for, with the PTX's own features of the same architecture."""
    found = _TARGET.fullmatch(target)
    if found is None:
        raise CompileError(f"target {target!r}: expected a form such as 'sm_90'")
    if divmod(int(found[1]), 10) < OLDEST:
        raise CompileError(
            f"{name}: ptxas of CUDA 13 does not assemble for {target}; the oldest target it knows is "
            "sm_{}{}".format(*OLDEST)
        )
    wanted = _PTX_TARGET.search(ptx)
    own = _TARGET.fullmatch(wanted[1]) if wanted else None
    if own is not None and own[2] and own[1] == found[1] and not found[2]:
        return own[0]  # code for sm_90a runs on every GPU of compute capability 9.0
    if own is not None and (int(own[1]) > int(found[1]) or (own[2] and own[0] != target)):
        raise CompileError(
            f"{name}: its PTX is for {own[0]}, which does not run on {target}; "
            f"compile it with target={target!r}"
        )
    return target


@cache
def ptxas_program() -> Path | None:
    """Return the program ptxas of its wheel, None if that is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for program in sorted(Path(root).glob("cu[0-9]*/bin/ptxas*"), reverse=True):
            if program.name in ("ptxas", "ptxas.exe"):
                return program
    return None


def _run(program: Path, ptx: str, name: str, target: str) -> tuple[bytes, str]:
    with tempfile.TemporaryDirectory(prefix="warpglass-") as folder:
        source, result = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        command = [str(program), "-v", "-lineinfo", f"-arch={target}", str(source), "-o", str(result)]
        try:
            run = run_tied(command, timeout=compile_timeout(), scratch=Path(folder))
        except subprocess.TimeoutExpired:
            raise too_slow(name, compile_timeout()) from None
        except OSError as error:
            raise CompileError(f"cannot run {program}: {error.strerror}") from None
        if run.returncode:
            raise _refused(name, target, run.stderr.replace(str(source), "kernel.ptx"))
        return result.read_bytes(), run.stderr


def _link(ptx: str, name: str, target: str) -> tuple[bytes, str]:
    linker = _linker()
    options = [f"-arch={target}", "-lineinfo", "-verbose"]
    text = ptx.encode() + b"\0"
    try:
        handle = linker.create(len(options), options)
    except linker.nvJitLinkError as error:
        raise _refused(name, target, str(error)) from None
    try:
        linker.add_data(handle, linker.InputType.PTX, text, len(text), "kernel.ptx")
        linker.complete(handle)
        image = bytearray(linker.get_linked_cubin_size(handle))
        linker.get_linked_cubin(handle, image)
        return bytes(image), _text(handle, linker.get_info_log_size, linker.get_info_log)
    except linker.nvJitLinkError:
        said = _text(handle, linker.get_error_log_size, linker.get_error_log)
        raise _refused(name, target, said) from None
    finally:
        linker.destroy(handle)


_COMPLAINT = re.compile(r"\b(error|fatal|warning)\b", re.IGNORECASE)


def _refused(name: str, target: str, said: str) -> CompileError:
    """What ptxas complains of, without what it says of the other kernels of the file."""
    lines = [line for line in said.splitlines() if _COMPLAINT.search(line)] or said.strip().splitlines()
    return CompileError("\n".join([f"{name}: ptxas does not assemble it for {target}", *lines]))


def _text(handle: int, size: Any, content: Any) -> str:
    buffer = bytearray(max(1, size(handle)))
    content(handle, buffer)
    return buffer.split(b"\0")[0].decode(errors="replace")


def _linker() -> Any:
    missing = (
        "machine code needs NVIDIA's assembler, which is not installed{}; "
        f"`pip install cuda-bindings {LINKER_WHEEL}` (Linux and Windows; no GPU is needed)"
    )
    try:
        linker: Any = importlib.import_module("cuda.bindings.nvjitlink")
    except ImportError:
        raise CompileError(missing.format("")) from None
    try:
        linker.version()
    except (RuntimeError, OSError) as error:  # cuda.pathfinder's DynamicLibNotFoundError is a RuntimeError
        raise CompileError(missing.format(f" ({str(error).splitlines()[0]})")) from None
    return linker
