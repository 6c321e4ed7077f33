"""A kernel made ready for the CPU engine: parsed once, compiled once per block shape, buffers per worker."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import ptx
from ..codegen import (
    KernelCode,
    MachineCode,
    Promises,
    Shape,
    Symbols,
    compile_ir,
    generate,
    grid_class,
    host_key,
    load_object,
)
from ..codegen.context import SITE_WORDS, WORDS
from ..program import Program, Step, build_program
from ..source.cache import Cache, digest
from ..source.compiled import Compiled
from .arguments import Binder, Bound, parameters_of
from .backend import Dim3
from .values import Parameter

_OBJECTS = Cache("object")


def engine_mode() -> str:
    """"reference" (every register a vector) or "kinds", from WARPGLASS_ENGINE."""
    mode = os.environ.get("WARPGLASS_ENGINE", "") or "kinds"
    if mode not in ("reference", "kinds"):
        raise ValueError(f"WARPGLASS_ENGINE is {mode!r}; it may be 'reference' or 'kinds'")
    return mode


@dataclass(slots=True)
class Worker:
    """One worker's buffers for one compiled kernel; all of them keep their addresses."""

    context: np.ndarray
    sites: np.ndarray
    frames: np.ndarray
    states: np.ndarray
    counters: np.ndarray
    shared: np.ndarray


class Executable:
    """Machine code for one block shape, and the buffers it runs on."""

    def __init__(self, program: Program, shape: Shape, symbols: Symbols, promises: Promises | None):
        self.shape = shape
        self.code: KernelCode = generate(program, shape, symbols, promises=promises)
        self.machine: MachineCode = _machine_code(self.code.ir)
        self.threads = shape.thread_table_aligned()
        self._workers: dict[int, Worker] = {}

    def worker(self, number: int, shared_size: int) -> Worker:
        """The buffers of a worker, with at least `shared_size` bytes of shared memory."""
        worker = self._workers.get(number)
        if worker is None:
            code = self.code
            worker = Worker(
                context=np.zeros(len(WORDS), np.int64),
                sites=np.zeros((max(1, len(code.sites)), SITE_WORDS), np.int64),
                frames=_aligned(code.frame_stride * self.shape.warps),
                states=np.zeros(self.shape.warps, np.int32),
                counters=np.zeros(max(1, code.counters), np.int64),
                shared=_aligned(shared_size),
            )
            self._workers[number] = worker
        if worker.shared.nbytes < shared_size:
            worker.shared = _aligned(shared_size)
        return worker


class Prepared:
    """A kernel's program with its executables by block shape."""

    def __init__(self, compiled: Compiled):
        module = ptx.parse(compiled.ptx, compiled.name)
        self.program = build_program(module, compiled.entry)
        function = next(f for f in module.functions if f.name == compiled.entry)
        self.directives = function.directives
        parameters = parameters_of(function)
        self.binder = Binder(compiled, parameters)
        self.symbols = Symbols({p.name: p.offset for p in parameters}, self.program.shared.offsets)
        self._structural = _structural_parameters(compiled, parameters)
        self._executables: dict[tuple[Dim3, Dim3 | None, tuple[tuple[int, int], ...]], Executable] = {}
        self.steps: dict[int, Step] = {
            step.number: step
            for block in self.program.blocks
            for step in (*block.steps, *([block.end.step] if hasattr(block.end, "step") else []))
        }

    def executable(self, block: Dim3, grid: Dim3, bound: Bound) -> Executable:
        """Machine code for a launch's block shape, grid and array layouts, compiled when first asked for."""
        if engine_mode() == "reference":
            key = (block, None, ())
        else:
            baked = tuple(
                (offset, value)
                for index, offset, usual in self._structural
                if (value := bound.values[index]) == usual
            )
            key = (block, grid_class(grid), baked)
        found = self._executables.get(key)
        if found is None:
            promises = None if key[1] is None else Promises(key[1], dict(key[2]))
            found = Executable(self.program, Shape(block), self.symbols, promises)
            self._executables[key] = found
        return found


def _structural_parameters(compiled: Compiled, parameters: tuple[Parameter, ...]) -> list[tuple[int, int, int]]:
    """Parameters that describe an array's layout: index, byte offset and the value of a contiguous array.

    Python kernels get the layout of every array as parameters; baked into the code, it makes their addresses
    as simple as C++ ones. Only the usual values are baked, so layouts do not multiply versions.
    """
    fields = [
        (argument, field) for argument in compiled.arguments or () for field in argument.fields
    ]
    found: list[tuple[int, int, int]] = []
    for index, (argument, field) in enumerate(fields):
        last = (argument.ndim or 0) - 1
        itemsize = argument.dtype.itemsize if argument.dtype is not None else 0
        usual = {
            "offset": 0,
            "null": 0,
            "itemsize": itemsize,
            f"stride:{last}": 1,
            f"byte_stride:{last}": itemsize,
        }.get(field)
        if usual is not None:
            found.append((index, parameters[index].offset, usual))
    return found


@lru_cache(maxsize=512)
def prepare(compiled: Compiled) -> Prepared:
    """The prepared kernel for a piece of PTX; kept for later launches."""
    return Prepared(compiled)


def _machine_code(ir: str) -> MachineCode:
    """Machine code for a module's IR: from the disk if this host has compiled the same text before."""
    key = digest(host_key(), ir)
    found = _OBJECTS.get(key)
    if found is None:
        found = compile_ir(ir)
        _OBJECTS.put(key, found)
    return load_object(found)


def _aligned(size: int) -> np.ndarray:
    """Zeroed bytes whose first address is a multiple of 128, with slack behind for wide loads."""
    raw = np.zeros(size + 128 + 4096, np.uint8)
    start = -raw.ctypes.data % 128
    return raw[start : start + size + 4096]
