"""nvJitLink between programs and NVIDIA's own: what it links is remembered as PTX.

Programs load the machine code that nvJitLink makes of their PTX, CUDA C++ and LTO-IR; the engine runs PTX.
So a `libnvJitLink.so` of ours stands before the real one, which does all the work, and puts the linked PTX
into the cubin that it hands out (images.py). With link-time optimisation NVIDIA's linker is asked for PTX
first, and then for the machine code of that PTX, which is what it does inside.

Belongs here: the functions of nvJitLink.h, their states, and which inputs have PTX.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import CompileError, WarpglassError
from ..source.link import link
from .fatbin import ARCHIVE, ELF, MAGIC, fatbins
from .images import only_machine_code, ptx_for, ptx_within, with_ptx
from .keeping import keeper, undefined, without_keeper
from .merging import merge
from .results import Refusal
from .shared_library import SharedLibrary

# nvJitLinkInputType and nvJitLinkResult
_CUBIN, _PTX, _LTOIR, _FATBIN, _OBJECT, _LIBRARY, _ANY = 1, 2, 3, 4, 5, 6, 10
_CONTAINERS = {_FATBIN: "fatbin", _OBJECT: "object", _LIBRARY: "library"}
_SUCCESS, _INTERNAL, _UNRECOGNIZED_INPUT = 0, 6, 8
# Options that mean something only while link-time optimisation is under way.
_LTO_OPTIONS = (
    b"-lto",
    b"-ptx",
    b"-kernels-used",
    b"-variables-used",
    b"-optimize-unused",
    b"-ftz",
    b"-prec",
    b"-fma",
)
_H, _P, _S, _U = ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32


# The member of libcudadevrt.a: machine code of functions that the engine has itself (source/link.py).
_DEVICE_RUNTIME = b"cuda_device_runtime.o"
_EM_CUDA = 190  # the machine of ELF files with a GPU's code
_LTOIR_MAGIC = b"\xed\x43\x4e\x7f"


@dataclass(slots=True)
class Input:
    kind: int
    data: bytes
    name: bytes

    def __post_init__(self) -> None:
        if self.kind == _ANY:
            self.kind = _kind_of(self.data)

    @property
    def optimised(self) -> bool:
        """Whether it has LTO-IR, so that it takes part in link-time optimisation."""
        if self.kind not in _CONTAINERS:
            return self.kind == _LTOIR
        try:
            return any(one.has_lto for one in fatbins(self.data))
        except WarpglassError:  # the linker will say it
            return False


def _kind_of(data: bytes) -> int:
    """What the content says of an input whose kind was not given."""
    if data.startswith(ELF):
        return _CUBIN if int.from_bytes(data[18:20], "little") == _EM_CUDA else _OBJECT
    kinds = {MAGIC: _FATBIN, ARCHIVE: _LIBRARY, _LTOIR_MAGIC: _LTOIR}
    return next((kind for magic, kind in kinds.items() if data.startswith(magic)), _PTX)


@dataclass(slots=True)
class _Link:
    """One link: what the program has given, and the linker of NVIDIA's that speaks for it."""

    options: list[bytes]
    handle: int
    inputs: list[Input] = field(default_factory=list)
    cubin: bytes = b""

    @property
    def wants_ptx(self) -> bool:
        """Whether the program itself asks for PTX."""
        return b"-ptx" in self.options

    @property
    def optimises(self) -> bool:
        """Whether LTO-IR is to become machine code, by way of PTX."""
        return b"-lto" in self.options and not self.wants_ptx


class NvJitLink:
    """NVIDIA's linker, with ours before it."""

    def __init__(self, path: Path):
        self._real = ctypes.CDLL(str(path), mode=ctypes.DEFAULT_MODE)
        self._links: dict[int, _Link] = {}  # by the handle that the program knows
        rows: tuple[tuple[str, Callable[..., int], tuple[Any, ...]], ...] = (
            ("nvJitLinkCreate", self._create, (_P, _U, _P)),
            ("nvJitLinkDestroy", self._destroy, (_P,)),
            ("nvJitLinkAddData", self._add_data, (_H, _U, _P, _S, _P)),
            ("nvJitLinkAddFile", self._add_file, (_H, _U, _P)),
            ("nvJitLinkComplete", self._complete, (_H,)),
            ("nvJitLinkGetLinkedCubinSize", self._cubin_size, (_H, _P)),
            ("nvJitLinkGetLinkedCubin", self._cubin, (_H, _P)),
            *((f"nvJitLinkGet{what}", self._forward(f"nvJitLinkGet{what}"), (_H, _P)) for what in _FORWARDED),
        )
        functions: dict[str, Any] = {
            name: ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(guarded(name, function, _INTERNAL))
            for name, function, kinds in rows
        }
        functions["nvJitLinkVersion"] = self._real["nvJitLinkVersion"]
        functions |= {name: functions[_plain(name)] for name in NAMES}
        self.library = SharedLibrary(path.name, functions, _INTERNAL)

    def ptx(self, parts: Sequence[bytes], target: str, what: str) -> str:
        """The PTX of LTO-IR, or of fatbins with it, linked; raises CompileError, which says `what` it is."""
        status, handle = self._open([b"-lto", b"-ptx", f"-arch={target}".encode()])
        try:
            for part in parts:
                status = status or self._give(handle, Input(_ANY, part, what.encode()))
            status = status or self._call("nvJitLinkComplete", _H(handle))
            if status:
                raise CompileError(f"{what} cannot be linked: {self._log(handle)}")
            return self._result(handle, "Ptx").partition(b"\0")[0].decode()
        finally:
            self._call("nvJitLinkDestroy", ctypes.byref(ctypes.c_uint64(handle)))

    # ------------------------------------------------------------------------------------ NVIDIA's
    def _log(self, handle: int) -> str:
        size = ctypes.c_size_t()
        self._call("nvJitLinkGetErrorLogSize", _H(handle), ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        self._call("nvJitLinkGetErrorLog", _H(handle), buffer)
        return buffer.value.decode(errors="replace").strip()

    def _call(self, name: str, *arguments: Any) -> int:
        return int(self._real[name](*arguments))

    def _open(self, options: Sequence[bytes]) -> tuple[int, int]:
        """A linker of NVIDIA's: status and handle."""
        handle = ctypes.c_uint64()
        texts = (ctypes.c_char_p * len(options))(*options)
        status = self._call("nvJitLinkCreate", ctypes.byref(handle), _U(len(options)), texts)
        return status, handle.value

    def _give(self, handle: int, one: Input) -> int:
        return self._call(
            "nvJitLinkAddData",
            _H(handle),
            _U(one.kind),
            one.data,
            _S(len(one.data)),
            ctypes.c_char_p(one.name),
        )

    def _result(self, handle: int, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"nvJitLinkGetLinked{what}Size", _H(handle), ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        self._call(f"nvJitLinkGetLinked{what}", _H(handle), buffer)
        return buffer.raw[: size.value]

    # ------------------------------------------------------------------------------------ the program's
    def _create(self, place: int, count: int, options: int) -> int:
        given = list((ctypes.c_char_p * count).from_address(options)) if count else []
        texts = [text for text in given if text is not None]
        one = _Link(texts, 0)
        status, one.handle = self._open([*texts, b"-ptx"] if one.optimises else texts)
        if status == _SUCCESS:
            self._links[one.handle] = one
            ctypes.c_uint64.from_address(place).value = one.handle
        return status

    def _destroy(self, place: int) -> int:
        known = ctypes.c_uint64.from_address(place)
        one = self._links.pop(known.value, None)
        if one is not None and one.handle != known.value:
            self._call("nvJitLinkDestroy", ctypes.byref(ctypes.c_uint64(one.handle)))
        return self._call("nvJitLinkDestroy", ctypes.byref(known))

    def _add_data(self, handle: int, kind: int, data: int, size: int, name: int) -> int:
        one = Input(kind, ctypes.string_at(data, size), ctypes.string_at(name) if name else b"")
        return self._add(handle, one)

    def _add_file(self, handle: int, kind: int, path: int) -> int:
        file = Path(ctypes.string_at(path).decode())
        try:
            return self._add(handle, Input(kind, file.read_bytes(), file.name.encode()))
        except OSError:
            return _UNRECOGNIZED_INPUT

    def _add(self, handle: int, one: Input) -> int:
        link = self._links[handle]
        link.inputs.append(one)
        # Asked for PTX, the linker refuses what takes no part in optimisation.
        return self._give(handle, one) if one.optimised or not link.optimises else _SUCCESS

    def _complete(self, handle: int) -> int:
        one = self._links[handle]
        optimised = b""
        some = any(given.optimised for given in one.inputs)
        kept = _wanted(one) if one.optimises and some else frozenset()
        if kept:
            self._give(handle, Input(_LTOIR, keeper(kept, _target(one.options)), b"kept"))
        if not one.optimises or some:
            status = self._call("nvJitLinkComplete", _H(handle))
            if status != _SUCCESS or one.wants_ptx:
                return status
        if one.optimises:
            if some:
                optimised = without_keeper(self._result(handle, "Ptx"), kept)
            status = self._assemble(one, optimised)
            if status != _SUCCESS:
                return status
        cubin = self._result(one.handle, "Cubin")
        text = _linked_ptx(one, optimised)
        one.cubin = with_ptx(cubin, text) if text else cubin
        return _SUCCESS

    def _assemble(self, one: _Link, optimised: bytes) -> int:
        """Machine code of what optimisation has made, with all that took no part in it."""
        options = [text for text in one.options if not text.startswith(_LTO_OPTIONS)]
        status, one.handle = self._open(options)
        rest = [other for other in one.inputs if not other.optimised]
        if optimised.strip(b"\0"):
            rest.insert(0, Input(_PTX, optimised, b"optimised"))
        for other in rest:
            status = status or self._give(one.handle, other)
        return status or self._call("nvJitLinkComplete", _H(one.handle))

    def _cubin_size(self, handle: int, place: int) -> int:
        ctypes.c_size_t.from_address(place).value = len(self._links[handle].cubin)
        return _SUCCESS

    def _cubin(self, handle: int, place: int) -> int:
        content = self._links[handle].cubin
        ctypes.memmove(place, content, len(content))
        return _SUCCESS

    def _forward(self, name: str) -> Callable[[int, int], int]:
        return lambda handle, place: self._call(name, _H(self._links[handle].handle), ctypes.c_void_p(place))


_FORWARDED = ("LinkedPtxSize", "LinkedPtx", "ErrorLogSize", "ErrorLog", "InfoLogSize", "InfoLog")
_PLAIN = (
    *("Create", "Destroy", "AddData", "AddFile", "Complete", "GetLinkedCubinSize", "GetLinkedCubin"),
    *(f"Get{what}" for what in _FORWARDED),
)
_MINORS = range(10)
# What programs may call: nvJitLink.h has them call the names of the release that it comes from.
NAMES = (
    "nvJitLinkVersion",
    *(f"nvJitLink{name}" for name in _PLAIN),
    *(f"__nvJitLink{name}_13_{minor}" for name in _PLAIN for minor in _MINORS),
)


def _plain(name: str) -> str:
    """A function's name without a release."""
    return re.sub(r"^__(\w+)_13_\d$", r"\1", name)


def guarded(name: str, function: Callable[..., int], failed: int) -> Callable[..., int]:
    """The function for C: no exception leaves it, it returns `failed` instead."""

    def called(*arguments: int) -> int:
        try:
            return function(*arguments)
        except Exception:
            sys.stderr.write(f"warpglass: {name} failed, which is a defect of warpglass:\n")
            traceback.print_exc()
            return failed

    return called


def _wanted(one: _Link) -> frozenset[str]:
    """What the parts that take no part in optimisation call, and none of them defines."""
    target = _target(one.options)
    try:
        return undefined([part for given in one.inputs if (part := ptx_of(given, target)) is not None])
    except (Refusal, WarpglassError):  # said once all is linked
        return frozenset()


def _linked_ptx(one: _Link, optimised: bytes) -> str:
    """All PTX of a link as one module; "" where a part of it has none."""
    target = _target(one.options)
    parts = [optimised] if optimised else []
    try:
        parts += [part for given in one.inputs if (part := ptx_of(given, target)) is not None]
        texts = [
            text for part in parts if (text := part.partition(b"\0")[0].decode(errors="replace")).strip()
        ]
        return link(merge(texts), (), target) if texts else ""
    except (Refusal, WarpglassError) as error:
        sys.stderr.write(f"warpglass: what was linked cannot be run on the engine: {error}\n")
        return ""


def ptx_of(given: Input, target: str) -> bytes | None:
    """The PTX of an input; None if it took part in optimisation, or all of it is known.

    Raises Refusal for machine code alone.
    """
    if given.kind == _PTX:
        return given.data
    if given.optimised or (given.kind == _LIBRARY and _DEVICE_RUNTIME in given.data):
        return None
    name = given.name.decode(errors="replace")
    if given.kind == _CUBIN:
        own = ptx_within(given.data)
        if own is None:
            raise only_machine_code(f"cubin {name}".rstrip())
        return own.encode()
    what = f"{_CONTAINERS[given.kind]} {name}".rstrip()
    return ptx_for(given.data, what, int(re.sub(r"\D", "", target))).encode()


def _target(options: Sequence[bytes]) -> str:
    """The architecture that is linked for."""
    for text in options:
        if text.startswith(b"-arch="):
            return text.removeprefix(b"-arch=").decode().replace("compute", "sm")
    return "sm_90"


def find_library(name: str) -> Path | None:
    """A library of NVIDIA's, from its wheel; None if that is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(root).glob(f"cu[0-9]*/lib/lib{name}.so.*"), reverse=True):
            return path
    return None
