"""The CUDA driver API as the GPU back end uses it: one calling convention, and errors by CUDA's own names.

Belongs here: calling, the meaning of status codes, and which PTX a driver accepts. `cuda.bindings.driver`
(or a stand-in with its semantics) comes in as an object, so that nothing here loads a driver.

Driver and runtime number their errors alike (since CUDA 10.1), so the runtime's name of a code, which is
the one that CUDA programmers know, comes from the runtime's enumeration.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

from ...errors import CompileError, FaultPlace, KernelFault, LaunchError
from ...ptx.parser import parse
from ...ptx.tree import Function
from ...source.compiled import Compiled

NOT_READY = 600
_LOG_BYTES = 8192
_REFUSED_PTX = (209, 218, 222)  # no binary for the GPU, invalid PTX, unsupported PTX version

# Errors after which the context is lost (CUDA Driver API, CUresult: "the process must be terminated and
# relaunched"), and the finding that they amount to where there is one.
_STICKY: dict[int, str | None] = {
    700: "out-of-bounds",  # illegal address
    702: None,  # launch timeout
    709: None,  # context is destroyed
    710: "trap",  # device-side assert
    714: None,  # hardware stack error
    715: None,  # illegal instruction
    716: "misaligned",
    717: None,  # invalid address space
    718: None,  # invalid program counter
    719: None,  # launch failure
    721: None,  # contained by the device: external launch failure
    999: None,  # unknown
}


class CudaError(Exception):
    """A driver call that failed: its status code and the function's name."""

    def __init__(self, code: int, function: str):
        self.code = code
        self.function = function
        super().__init__(f"{function} failed with {cuda_name(code)} ({code})")


class Driver:
    """Calls driver functions and turns status codes into CudaError."""

    def __init__(self, api: Any):
        self.api = api

    def call(self, function: str, *args: Any) -> Any:
        """Call a driver function; returns its one result, a tuple of several, or None. Raises CudaError."""
        status, *results = getattr(self.api, function)(*args)
        if int(status):
            raise CudaError(int(status), function)
        return results[0] if len(results) == 1 else tuple(results) or None

    def status(self, function: str, *args: Any) -> int:
        """Call a driver function for its status code alone."""
        return int(getattr(self.api, function)(*args)[0])


def cuda_name(code: int) -> str:
    """The CUDA runtime's name of a status code, e.g. cudaErrorIllegalAddress."""
    from cuda.bindings.runtime import cudaError_t

    try:
        return str(cudaError_t(code).name)
    except ValueError:
        return f"cudaError {code}"


def launch_error(error: CudaError, what: str) -> LaunchError:
    """The LaunchError that a failed call amounts to; `what` is the kernel or the request that failed.

    Sticky errors come from kernels, so they appear after the launch; all others fail the call at once.
    """
    name, sticky = cuda_name(error.code), error.code in _STICKY
    when = "while it ran" if sticky else "at once"
    text = f"{name}: {what} failed {when} ({error.function}, status {error.code})"
    kind = _STICKY.get(error.code)
    if kind is not None:
        hint = "; warpglass check says where" if kind != "trap" else ""
        return KernelFault(text + hint, FaultPlace(kind), cuda_name=name)
    return LaunchError(text, cuda_name=name, synchronous=not sticky, sticky=sticky)


# ---------------------------------------------------------------------------------------- PTX
_VERSION = re.compile(r"^(\s*\.version\s+)(\d+)\.(\d+)", re.MULTILINE)
_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)([af]?)", re.MULTILINE)
# CUDA release -> PTX ISA that its driver reads, where they do not follow the rule (PTX ISA, release notes).
_ISA_OF_12 = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 5, 7: 6, 8: 7, 9: 8}


def newest_isa(driver_version: int) -> tuple[int, int]:
    """The newest PTX ISA of a driver, from cuDriverGetVersion's number (13020 is CUDA 13.2)."""
    major, minor = driver_version // 1000, driver_version % 1000 // 10
    if major == 12:
        return 8, _ISA_OF_12.get(minor, 8)
    if major == 11:
        return 7, minor
    return major - 4, minor  # CUDA 13.1 reads PTX 9.1


def lower_version(ptx: str, newest: tuple[int, int]) -> str:
    """The same PTX under a `.version` that a driver accepts; unchanged if it is old enough.

    A compiler stamps its own, newest version on all it writes, whether the instructions need it or not, and
    drivers refuse the stamp alone. If the text does need more, the driver's assembler names the instruction.
    """
    found = _VERSION.search(ptx)
    if found is None or (int(found[2]), int(found[3])) <= newest:
        return ptx
    return f"{ptx[: found.start()]}{found[1]}{newest[0]}.{newest[1]}{ptx[found.end() :]}"


def target_problem(ptx: str, capability: tuple[int, int]) -> str | None:
    """Why PTX for its target cannot run on a GPU of this capability; None if it can."""
    found = _TARGET.search(ptx)
    if found is None:
        return None
    number, suffix = int(found[1]), found[2]
    target = number // 10, number % 10
    own = "sm_{}{}".format(*capability)
    if target > capability or (suffix == "a" and target != capability):
        kind = "that architecture alone" if suffix == "a" else "newer GPUs"
        return (
            f"the PTX is for sm_{number}{suffix}, that is for {kind}; this GPU is {own}: pass target={own!r}"
        )
    return None


def load_module(
    driver: Driver, compiled: Compiled, capability: tuple[int, int], newest: tuple[int, int]
) -> Any:
    """Have the driver assemble PTX; `newest` is the PTX ISA that it reads. Raises CompileError."""
    wrong = target_problem(compiled.ptx, capability)
    if wrong is not None:
        raise CompileError(f"{compiled.name} cannot run here: {wrong}")
    text = lower_version(compiled.ptx, newest)
    option = driver.api.CUjit_option
    log = bytearray(_LOG_BYTES)
    options = {
        option.CU_JIT_ERROR_LOG_BUFFER: log,
        option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: _LOG_BYTES,
    }
    image = text.encode() + b"\0"
    try:
        return driver.call("cuModuleLoadDataEx", image, len(options), list(options), list(options.values()))
    except CudaError as error:
        if error.code not in _REFUSED_PTX:
            raise
        lowered = ""
        if text is not compiled.ptx:
            lowered = (
                "; its version was lowered to {}.{}, the newest that this driver reads: update the driver, "
                "or compile with an older toolkit"
            ).format(*newest)
        said = bytes(log).split(b"\0")[0].decode(errors="replace").strip()
        raise CompileError(
            f"the driver refuses the PTX of {compiled.name} ({error}){lowered}{': ' + said if said else ''}"
        ) from error


def clear_word(driver: Driver, module: Any, name: str) -> None:
    """Set a 32-bit variable of a module to 0."""
    driver.call("cuMemsetD32", driver.call("cuModuleGetGlobal", module, name.encode())[0], 0, 1)


def read_word(driver: Driver, module: Any, name: str) -> int:
    """The content of a 32-bit variable of a module."""
    content = ctypes.c_int32()
    place = driver.call("cuModuleGetGlobal", module, name.encode())[0]
    driver.call("cuMemcpyDtoH", ctypes.addressof(content), place, 4)
    return content.value


def read_variable(driver: Driver, module: Any, symbol: str) -> bytes:
    """The content of a variable of a module."""
    place, size = driver.call("cuModuleGetGlobal", module, symbol.encode())
    content = ctypes.create_string_buffer(int(size))
    driver.call("cuMemcpyDtoH", ctypes.addressof(content), place, int(size))
    return content.raw


def write_variable(driver: Driver, module: Any, symbol: str, content: bytes) -> None:
    """Set the content of a variable of a module, whose size it has."""
    place, _ = driver.call("cuModuleGetGlobal", module, symbol.encode())
    source = ctypes.create_string_buffer(content, len(content))
    driver.call("cuMemcpyHtoD", place, ctypes.addressof(source), len(content))


def header_of(ptx: str, entry: str) -> Function | None:
    """An entry's parameters and directives, read from its header alone; None if the PTX has no such entry.

    The body may hold instructions that only the GPU's driver knows, so it is not parsed.
    """
    found = re.search(rf"\.entry\s+{re.escape(entry)}(?![\w$])[^{{]*", ptx)
    if found is None:
        return None
    text = f".version 8.0\n.target sm_90\n.address_size 64\n.visible {found[0]}{{ ret; }}\n"
    return parse(text, entry).functions[0]
