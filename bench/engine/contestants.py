"""Who runs a case: the engine from C++ and from Python, PoCL from OpenCL C, NumPy.

Each has arguments of its own; `launch` runs the kernel once on them, without preparing the data.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

import warpglass as wg
from warpglass import lab, ptx
from warpglass.codegen import Probe
from warpglass.codegen.probes import Emission, WorkerWords
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.cpu.prepared import prepare
from warpglass.program import Block, Exit, Jump, Program, WarpBarrier

from .case import FOLDER, Arguments, Case, extents, module


class Contestant(Protocol):
    """Anything that runs a case."""

    args: Arguments

    def launch(self) -> None:
        """Run the kernel once on `args`."""
        ...

    def collect(self) -> None:
        """Make `args` hold the results."""


class Engine:
    """The kernel on warpglass's engine, from "C++" or "Python"."""

    def __init__(self, theme: str, case: Case, language: str):
        self.args = case.make()
        self._grid, self._block = case.grid, case.block
        started = time.perf_counter()
        if language == "C++":
            self.kernel = wg.load(FOLDER / f"{theme}.cu", case.function)
        else:
            self.kernel = wg.from_numba(getattr(module(theme), case.function))
        self.kernel.compile(self.args)
        self._source_seconds = time.perf_counter() - started

    def launch(self) -> None:
        wg.run(self.kernel, self._grid, self._block, self.args, device="cpu")

    def collect(self) -> None:
        pass

    def compile_seconds(self) -> dict[str, float]:
        """What comes before a kernel's first instruction: source to PTX, PTX to there, the same from disk."""
        found = {"source": self._source_seconds}
        for name in ("first", "again"):
            # All that is remembered of the kernel: a new process knows none of it.
            prepare.cache_clear()
            ptx.parse.cache_clear()
            wg.reset("cpu")
            started = time.perf_counter()
            ran = wg.run(self.kernel, self._grid, self._block, self.args, device="cpu")
            found[name] = time.perf_counter() - started - ran.seconds
        return found

    def instructions(self) -> int:
        """PTX instructions that the threads execute in one launch."""
        place = lab.backend("cpu")
        assert isinstance(place, CpuBackend)
        launch = lab.make_launch(
            self.kernel, self._grid, self._block, self.args, 0, 600.0, lab.backend("cpu")
        )
        return int(place.observe(launch, _Instructions())[1].totals[0])


@dataclass(frozen=True)
class _Instructions:
    """The instrument that counts thread instructions."""

    def probes(self, program: Program) -> Sequence[Probe]:
        return (_Counter(),)


class _Counter(Probe):
    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._word = words.take(1)

    def block(self, at: Emission, index: int, block: Block) -> None:
        b = at.builder
        lanes = "32" if at.mask == "-1" else b.call("i32", "llvm.ctpop.i32", [("i32", at.mask)])
        length = len(block.steps) + (not isinstance(block.end, Jump | WarpBarrier | Exit))
        wide = b.value(f"zext i32 {lanes} to i64")
        self.add(at, self._word, b.value(f"mul i64 {wide}, {length}"))


class Pocl:
    """The kernel on PoCL's CPU driver, on the host's own memory."""

    def __init__(self, theme: str, case: Case):
        import pyopencl as cl  # pyright: ignore[reportMissingImports]  # optional

        self._cl = cl
        self._context, self._queue = _opencl()
        self.args = case.make()
        program = _opencl_program(theme)
        self._kernel = cl.Kernel(program, case.function)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        self._buffers = [
            cl.Buffer(self._context, flags, hostbuf=one) if isinstance(one, np.ndarray) else None
            for one in self.args
        ]
        given = [a if b is None else b for a, b in zip(self.args, self._buffers, strict=True)]
        self._kernel.set_args(*given)
        block = (*extents(case.block), 1, 1)[: len(extents(case.grid))]
        self._global = tuple(g * b for g, b in zip(extents(case.grid), block, strict=True))
        self._local = block

    def launch(self) -> None:
        self._cl.enqueue_nd_range_kernel(self._queue, self._kernel, self._global, self._local)
        self._queue.finish()

    def collect(self) -> None:
        cl, queue = self._cl, self._queue
        for array, buffer in zip(self.args, self._buffers, strict=True):
            if buffer is not None:  # where the host's memory is used, mapping makes it current
                flags = cl.map_flags.READ | cl.map_flags.WRITE
                mapped, _ = cl.enqueue_map_buffer(queue, buffer, flags, 0, array.shape, array.dtype)
                mapped.base.release(queue)
        queue.finish()


@lru_cache(maxsize=1)
def _opencl() -> tuple[Any, Any]:
    import pyopencl as cl  # pyright: ignore[reportMissingImports]  # optional

    platforms = [one for one in cl.get_platforms() if "Portable" in one.name]
    if not platforms:
        raise SystemExit("no PoCL driver: apt-get install pocl-opencl-icd, or pass --no-pocl")
    context = cl.Context(platforms[0].get_devices())
    return context, cl.CommandQueue(context)


@lru_cache
def _opencl_program(theme: str) -> Any:
    import pyopencl as cl  # pyright: ignore[reportMissingImports]  # optional

    return cl.Program(_opencl()[0], (FOLDER / f"{theme}.cl").read_text()).build()


class NumPy:
    """The case's reference."""

    def __init__(self, case: Case):
        self.args = case.make()
        self._reference = case.reference

    def launch(self) -> None:
        self._reference(*self.args)

    def collect(self) -> None:
        pass


def contestants(theme: str, case: Case, pocl: bool) -> dict[str, Contestant]:
    """Everyone who can run a case, by name."""
    found: dict[str, Contestant] = {"C++": Engine(theme, case, "C++")}
    if case.python:
        found["Python"] = Engine(theme, case, "Python")
    if pocl:
        found["PoCL"] = Pocl(theme, case)
    if case.numpy:
        found["NumPy"] = NumPy(case)
    return found
