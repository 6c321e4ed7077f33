"""Kernels of foreign libraries: all compile in proportion to their length, and both engines agree on them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.foreign.corpus import SOURCES, Kernel, available, kernels
from tests.levels import FULL
from warpglass.codegen import BlockShape, Promises, compile_ir, generate, grid_class
from warpglass.engine.cpu.prepared import Prepared
from warpglass.errors import WarpglassError
from warpglass.source.compiled import Compiled

# Lines of IR that quick code may have for an instruction, and for a kernel besides: what LLVM takes is in
# proportion to them.
_LINES, _BESIDES = 100, 3000
_GRID, _BYTES = 2, 1 << 16
_PLAIN = {"u64": "pointer", "u32": "integer", "s32": "integer", "b32": "integer", "f32": "f4", "f64": "f8"}


def _compile(kernel: Kernel) -> int:
    """Quick code of any launch; returns the lines of its IR."""
    prepared = Prepared(Compiled(kernel.ptx, kernel.entry, kernel.entry, "cuda"))
    shape = BlockShape(kernel.block, prepared.facts.shared.static)
    code = generate(prepared.program, shape, prepared.symbols, (), Promises(grid_class((1000, 1, 1)), {}))
    ir = code.text(quick=True)
    compile_ir(ir, quick=True)
    return ir.count("\n")


def _chosen(source: Path) -> Iterator[Kernel]:
    """All kernels at level `full`, below it one in a hundred."""
    for kernel in kernels(source):
        if FULL or zlib.crc32(kernel.entry.encode()) % 100 == 0:
            yield kernel


@pytest.mark.least("full")
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_code_is_in_proportion_to_the_kernel(source: Path):
    if not available(source):
        pytest.skip("no nvcc, no host compiler or not the library's headers")
    long = [
        f"{kernel.entry}: {lines} lines for {kernel.instructions} instructions"
        for kernel in _chosen(source)
        if (lines := _compile(kernel)) > _BESIDES + _LINES * kernel.instructions
    ]
    assert not long, "\n".join(long)


def _arguments(kernel: Kernel) -> list[object] | None:
    """Arguments of random bits for a kernel whose parameters are plain; None for others."""
    prepared = Prepared(Compiled(kernel.ptx, kernel.entry, kernel.entry, "ptx"))
    rng = np.random.default_rng(zlib.crc32(kernel.entry.encode()))
    given: list[object] = []
    for parameter in prepared.binder.layout.parameters:
        match _PLAIN.get(parameter.type) if not parameter.aggregate else None:
            case "pointer":
                # Small integers, of which any are also addresses and indices within bounds or clearly not.
                given.append(rng.integers(0, 100, _BYTES // 4, np.uint32))
            case "integer":
                given.append(int(rng.integers(1, 5)))
            case "f4" | "f8":
                given.append(float(rng.random()))
            case _:
                return None
    return given


def _run(kernel: Kernel, engine: str, given: list[object]) -> tuple[str, list[bytes]]:
    """How a launch ends, and the bytes of its arrays."""
    args = [one.copy() if isinstance(one, np.ndarray) else one for one in given]
    error = ""
    try:
        run_ptx(kernel.ptx, _GRID, kernel.block, args, engine=engine, name=kernel.entry, timeout=60.0)
    except WarpglassError as problem:
        error = str(problem)
    return error, [one.tobytes() for one in args if isinstance(one, np.ndarray)]


# Look-back needs its tile states made ready by another kernel and waits for ever without.
_DRIVEN = ("block_primitives", "cuda_std", "groups", "matrices", "random_numbers", "small_floats")


@pytest.mark.least("full")
@pytest.mark.parametrize(
    "source", [one for one in SOURCES if one.stem in _DRIVEN], ids=lambda path: path.stem
)
def test_engines_agree(source: Path):
    if not available(source):
        pytest.skip("no nvcc, no host compiler or not the library's headers")
    driven = 0
    for kernel in _chosen(source):
        given = _arguments(kernel)
        if given is None or "%envreg" in kernel.ptx:  # a grid that meets needs a cooperative launch
            continue
        reference, fast = (_run(kernel, engine, given) for engine in CPU_ENGINES)
        assert fast == reference, kernel.entry
        driven += 1
    assert driven or not FULL
