"""NVRTC between programs and NVIDIA's own: the cubins that it hands out carry their PTX.

Programs may have NVRTC compile CUDA C++ to machine code at once; the engine runs PTX. NVRTC has the PTX as
well, so a `libnvrtc.so` of ours stands before the real one and puts it into the cubin (images.py). All other
functions are the real ones.

Belongs here: the functions of nvrtc.h.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from .images import with_ptx, with_source
from .linker import guarded
from .shared_library import SharedLibrary

_SUCCESS, _INTERNAL = 0, 11  # nvrtcResult
_PROGRAM, _PLACE = ctypes.c_uint64, ctypes.c_uint64
_REAL = (
    *("GetErrorString", "Version", "GetNumSupportedArchs", "GetSupportedArchs"),
    *("CompileProgram", "GetPTXSize", "GetPTX", "GetLTOIRSize", "GetLTOIR", "GetOptiXIRSize", "GetOptiXIR"),
    *("GetProgramLogSize", "GetProgramLog", "AddNameExpression", "GetLoweredName", "SetFlowCallback"),
    *("GetPCHHeapSize", "SetPCHHeapSize", "GetPCHCreateStatus", "GetPCHHeapSizeRequired", "GetTileIRSize"),
    *("GetTileIR", "InstallBundledHeaders", "RemoveBundledHeaders", "GetBundledHeadersInfo"),
)


_OURS = ("nvrtcCreateProgram", "nvrtcGetCUBINSize", "nvrtcGetCUBIN", "nvrtcDestroyProgram")
NAMES = (*_OURS, *(f"nvrtc{name}" for name in _REAL))  # what programs may call


class Nvrtc:
    """NVIDIA's compiler, with ours before it."""

    def __init__(self, path: Path):
        rows = (
            ("nvrtcCreateProgram", self._create, (_PLACE, _PLACE, _PLACE, ctypes.c_int, _PLACE, _PLACE)),
            ("nvrtcGetCUBINSize", self._size, (_PROGRAM, _PLACE)),
            ("nvrtcGetCUBIN", self._cubin, (_PROGRAM, _PLACE)),
            ("nvrtcDestroyProgram", self._destroy, (_PLACE,)),
        )
        content = path.read_bytes()
        forwarded = [name for name in map("nvrtc{}".format, _REAL) if b"\0%s\0" % name.encode() in content]
        # Ours first: who asks for the name gets the first library that is loaded under it.
        self.library = SharedLibrary(
            path.name, dict.fromkeys([row[0] for row in rows] + forwarded), _INTERNAL
        )
        # The real one looks for its part beside a library of its name, which is in no folder any more.
        parts = sorted(path.parent.glob("libnvrtc-builtins.so.*"))
        self._parts = [ctypes.CDLL(str(part), mode=ctypes.DEFAULT_MODE) for part in parts]
        self._real = ctypes.CDLL(str(path), mode=ctypes.DEFAULT_MODE)
        self._cubins: dict[int, bytes] = {}  # by the program's handle
        self._sources: dict[int, tuple[str, str]] = {}  # likewise: name and text
        functions: dict[str, Any] = {
            name: ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(guarded(name, function, _INTERNAL))
            for name, function, kinds in rows
        }
        self.library.lead(functions | {name: self._real[name] for name in forwarded})

    def _result(self, program: int, what: str) -> tuple[int, bytes]:
        """What has been compiled: status and contents."""
        size = ctypes.c_size_t()
        status = int(self._real[f"nvrtcGet{what}Size"](_PROGRAM(program), ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        if status == _SUCCESS and size.value:
            status = int(self._real[f"nvrtcGet{what}"](_PROGRAM(program), buffer))
        return status, buffer.raw[: size.value]

    def _create(self, place: int, text: int, name: int, count: int, headers: int, names: int) -> int:
        pointers = [ctypes.c_void_p(one) for one in (place, text, name)]
        more = ctypes.c_void_p(headers), ctypes.c_void_p(names)
        status = int(self._real["nvrtcCreateProgram"](*pointers, ctypes.c_int(count), *more))
        if status == _SUCCESS and name:
            given = tuple(ctypes.string_at(one).decode(errors="replace") for one in (name, text))
            self._sources[ctypes.c_uint64.from_address(place).value] = given[0], given[1]
        return status

    def _size(self, program: int, place: int) -> int:
        status, cubin = self._result(program, "CUBIN")
        if status != _SUCCESS:
            return status
        status, ptx = self._result(program, "PTX")
        text = ptx.partition(b"\0")[0].decode(errors="replace")
        if program in self._sources:
            text = with_source(text, *self._sources[program])
        self._cubins[program] = with_ptx(cubin, text) if cubin and text and status == _SUCCESS else cubin
        ctypes.c_size_t.from_address(place).value = len(self._cubins[program])
        return _SUCCESS

    def _cubin(self, program: int, place: int) -> int:
        if (
            program not in self._cubins
        ):  # the program has not asked for the size: it cannot have room for more
            return int(self._real["nvrtcGetCUBIN"](_PROGRAM(program), ctypes.c_void_p(place)))
        content = self._cubins[program]
        ctypes.memmove(place, content, len(content))
        return _SUCCESS

    def _destroy(self, place: int) -> int:
        program = ctypes.c_uint64.from_address(place).value
        self._cubins.pop(program, None)
        self._sources.pop(program, None)
        return int(self._real["nvrtcDestroyProgram"](ctypes.c_void_p(place)))
