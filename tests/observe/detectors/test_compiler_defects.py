"""What numba-cuda-mlir miscompiles is laid at its door, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpglass as wg

SOURCE = """
import numpy as np
from numba_cuda_mlir import cuda

def table(t, x, out):
    i = cuda.threadIdx.x
    out[i] = t[x[i]]

def below(t, x, out):
    i = cuda.threadIdx.x
    out[i] = t[i - 100]

def stepped(t, x, out):
    part = t[::2, :]
    for i in range(part.shape[0]):
        out[i] = part[i, 0]

def past(t, x, out):
    out[0] = t[cuda.threadIdx.x + 40]

@cuda.jit(device=True)
def count(bins, k):
    cuda.atomic.add(bins, k, 1)

def counted(t, x, out):
    bins = cuda.shared.array(8, np.int32)
    count(bins, x[cuda.threadIdx.x] & 7)
"""
BYTES = np.arange(200, 232, dtype=np.uint8)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("numba_cuda_mlir")
    path = tmp_path_factory.mktemp("defects") / "defects.py"
    path.write_text(SOURCE, "utf-8")
    return path


def hint(source: Path, name: str, table: np.ndarray, index: np.ndarray) -> str:
    found = wg.check(wg.load(source, name), 1, 32, (table, index, np.zeros(32, np.float32)))
    first = found.findings[0]
    assert first.kind == "out-of-bounds"
    return first.hint


@pytest.mark.parametrize(
    "index", [BYTES, np.full(32, 2**16 - 9, np.uint16), np.full(32, 2**32 - 9, np.uint32)]
)
def test_an_unsigned_index_that_became_negative(source: Path, index: np.ndarray) -> None:
    found = hint(source, "table", np.zeros(20, np.float32), index)
    assert f"takes what it reads from x ({index.dtype}) for signed" in found
    assert "table[np.int64(x[i])]" in found


def test_a_slice_with_a_step(source: Path) -> None:
    assert "t[::2, :]" in hint(source, "stepped", np.zeros((8, 6), np.float32), BYTES)


def test_an_atomic_operation_on_shared_memory_in_a_function(source: Path) -> None:
    found = hint(source, "counted", np.zeros(20, np.float32), BYTES)
    assert "it loses the address of the shared array" in found


@pytest.mark.parametrize(("name", "index"), [("table", BYTES.astype(np.int64)), ("below", BYTES)])
def test_an_index_of_the_kernels_own_is_its_own(source: Path, name: str, index: np.ndarray) -> None:
    found = hint(source, name, np.zeros(20, np.float32), index)
    guard = {"table": "with the array's size (if i < n:)", "below": "against indices below 0 (if i >= 0:)"}
    assert found.startswith(f"guard the access {guard[name]}")


def test_a_slice_of_another_array_is_none(source: Path) -> None:
    assert "defect" not in hint(source, "past", np.zeros(20, np.float32), BYTES)
