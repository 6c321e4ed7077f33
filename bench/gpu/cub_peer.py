"""CUB itself as a contestant: its device-wide functions, compiled from cub_peer.cu, on our device arrays.

CuPy and PyTorch reach CUB through code of their own, with allocations and checks. Needs nvcc, or the library
that nvcc has made of cub_peer.cu elsewhere (`-shared -Xcompiler -fPIC --cudart static`).
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from warpglass import lab
from warpglass.engine.gpu.backend import GpuBackend
from warpglass.ladders import find_ladder
from warpglass.ladders.peer import LIBRARIES, Library
from warpglass.ladders.problem import Case, Peer, in_parts

_made: dict[Any, Any] = {}  # results and scratch memory, kept: CUB allocates nothing


def build(given: Path | None) -> ctypes.CDLL | None:
    """The compiled functions: those given, or made now; None where there is no nvcc."""
    if given is not None:
        return _declared(ctypes.CDLL(str(given.resolve())))
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return None
    target = Path(tempfile.mkdtemp()) / "libcub_peer.so"
    options = ("-O3", "-std=c++17", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "--cudart", "static")
    subprocess.run(
        [nvcc, *options, str(Path(__file__).with_name("cub_peer.cu")), "-o", str(target)], check=True
    )
    return _declared(ctypes.CDLL(str(target)))


def _declared(functions: ctypes.CDLL) -> ctypes.CDLL:
    for name in ("sum_float", "scan_float", "sort_float", "histogram_bytes", "histogram_bins"):
        function = getattr(functions, name)
        function.restype = ctypes.c_size_t
        function.argtypes = (
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_longlong,
        )
    return functions


def gpu() -> GpuBackend:
    """The GPU."""
    found = lab.backend("gpu")
    assert isinstance(found, GpuBackend)
    return found


def call(function: Any, x: Any, size: int, dtype: Any) -> Any:
    """Run one of CUB's functions on a device array; its result has so many elements of a type."""
    key = function.__name__, x.address, x.nbytes
    if key not in _made:
        _made.clear()
        needed = function(None, 0, x.address, x.address, x.nbytes // x.dtype.itemsize)
        _made[key] = (
            gpu().zeros(size, np.dtype(dtype)),
            gpu().zeros(max(1, needed), np.dtype(np.uint8)),
            needed,
        )
    result, scratch, needed = _made[key]
    if function(scratch.address, needed, x.address, result.address, x.nbytes // x.dtype.itemsize) != needed:
        raise RuntimeError(f"CUB's {function.__name__} failed")
    return result


def _timed(library: Any, work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    next(iter(result.values()))
    gpu().flush_caches()  # waits
    return time.perf_counter() - began, result


def enter(functions: ctypes.CDLL) -> None:
    """Let CUB race in the tables that it has a function for."""
    LIBRARIES["cub"] = Library(
        module=__name__,
        on_gpu=True,
        put=lambda library, array: gpu().to_device(array),
        share=lambda library, array: array,
        shares="fiu",
        get=lambda library, array: gpu().to_host(array),
        seconds=_timed,
        prepare=lambda library: None,
    )

    def peer(
        ladder: str, table: str, name: str, function: Any, kinds: str, results: Callable[[Case], Any]
    ) -> None:
        def compute(library: Any, case: Case, arrays: Mapping[str, Any]) -> Mapping[str, Any]:
            key, size, dtype = results(case)
            return {key: call(function, arrays["x"], size, dtype)}

        found = find_ladder(ladder)
        entered = Peer("cub", name, compute, table, in_parts, kinds)
        found.problem = replace(found.problem, peers=(*found.problem.peers, entered))

    peer("reduction", "beyond", "DeviceReduce::Sum", functions.sum_float, "f", lambda c: ("sum", 1, c.dtype))
    peer(
        "scan",
        "scan",
        "DeviceScan::InclusiveSum",
        functions.scan_float,
        "f",
        lambda c: ("y", c.size, c.dtype),
    )
    peer(
        "sort",
        "sort",
        "DeviceRadixSort::SortKeys",
        functions.sort_float,
        "f",
        lambda c: ("x", c.size, c.dtype),
    )
    for table, function, bins in (
        ("bytes", functions.histogram_bytes, 256),
        ("bins", functions.histogram_bins, 4096),
    ):
        name = "DeviceHistogram::HistogramEven"
        peer("histogram", table, name, function, "iu", lambda c, bins=bins: ("counts", bins, np.uint32))


if __name__ == "__main__":
    sys.exit("bench/gpu/page.py lets CUB race")
