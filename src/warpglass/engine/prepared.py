"""A kernel made ready for the CPU engine: parsed once, compiled once per block shape, buffers per worker."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import ptx
from ..codegen import KernelCode, MachineCode, Shape, Symbols, compile_ir, generate, grid_class
from ..codegen.context import SITE_WORDS, WORDS
from ..program import Program, Step, build_program
from ..source.compiled import Compiled
from .arguments import Binder, parameters_of
from .backend import Dim3


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

    def __init__(self, program: Program, shape: Shape, symbols: Symbols, grid: Dim3 | None):
        self.shape = shape
        self.code: KernelCode = generate(program, shape, symbols, grid=grid)
        self.machine: MachineCode = compile_ir(self.code.ir)
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
        self._executables: dict[tuple[Dim3, Dim3 | None], Executable] = {}
        self.steps: dict[int, Step] = {
            step.number: step
            for block in self.program.blocks
            for step in (*block.steps, *([block.end.step] if hasattr(block.end, "step") else []))
        }

    def executable(self, block: Dim3, grid: Dim3) -> Executable:
        """Machine code for a block shape and a grid, compiled the first time it is asked for."""
        bounds = None if engine_mode() == "reference" else grid_class(grid)
        found = self._executables.get((block, bounds))
        if found is None:
            found = Executable(self.program, Shape(block), self.symbols, bounds)
            self._executables[block, bounds] = found
        return found


@lru_cache(maxsize=512)
def prepare(compiled: Compiled) -> Prepared:
    """The prepared kernel for a piece of PTX; kept for later launches."""
    return Prepared(compiled)


def _aligned(size: int) -> np.ndarray:
    """Zeroed bytes whose first address is a multiple of 128, with slack behind for wide loads."""
    raw = np.zeros(size + 128 + 4096, np.uint8)
    start = -raw.ctypes.data % 128
    return raw[start : start + size + 4096]
