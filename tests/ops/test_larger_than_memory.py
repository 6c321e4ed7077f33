"""Operations on Dask arrays that are larger than what all workers may hold, from .npy files and from Zarr."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.levels import FULL
from warpglass import ArgumentError, ops

da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")
distributed: Any = pytest.importorskip("distributed")

ROWS, COLUMNS = (2**13, 2**14) if FULL else (64, 256)  # of float64: 1 GiB
CHUNK = ROWS // 128 if FULL else 20
LIMIT = "400MB"  # of each of two workers, half of which is Python with what it has imported
# Whole numbers, so that sums are exact in any order.
WEIGHTS = np.array([[1.0, 2, 0], [0, -1, 3], [2, 2, 1]])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "x.npy"
    made = np.lib.format.open_memmap(path, "w+", np.float64, (ROWS, COLUMNS))
    for row in range(0, ROWS, 64):
        made[row : row + 64] = np.random.default_rng(row).integers(-1000, 1000, (64, COLUMNS))
    del made
    return path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two workers with bounded memory at level `full`, else this process."""
    if not FULL:
        with dask.config.set(scheduler="synchronous"):
            yield
        return
    folder = str(tmp_path_factory.mktemp("workers"))
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": LIMIT, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options, local_directory=folder) as made,
        distributed.Client(made),
    ):
        yield


def equal(found: Any, expected: np.ndarray[Any, Any], folder: Path) -> bool:
    """Whether all elements are the same, compared where the chunks are."""
    np.save(folder / "expected.npy", expected)
    right = ops.from_npy(folder / "expected.npy", found.chunks)
    return bool((found == right).all().compute())


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("name", ["sum", "sums", "dot", "cumsum", "histogram", "line", "picture", "matmul"])
def test_files(name: str, file: Path, tmp_path: Path) -> None:
    x, mapped = ops.from_npy(file, (CHUNK, COLUMNS)), np.load(file, mmap_mode="r")
    flat, whole = x.ravel(), mapped.ravel()
    if name == "sum":
        assert ops.sum(x).compute() == whole.sum()
    elif name == "sums":
        np.testing.assert_array_equal(ops.sum(x, 0).compute(), mapped.sum(0))
    elif name == "dot":
        assert ops.dot(flat, flat).compute() == sum(float(row @ row) for row in mapped)
    elif name == "cumsum":
        assert equal(ops.cumsum(flat), np.cumsum(whole), tmp_path)
    elif name == "histogram":
        counts, edges = ops.histogram(x, 37)
        expected = np.histogram(whole, 37)
        np.testing.assert_array_equal(counts.compute(), expected[0])
        np.testing.assert_array_equal(edges, expected[1])
    elif name == "line":
        assert equal(ops.convolve1d(flat, WEIGHTS[2]), np.convolve(whole, WEIGHTS[2], "same"), tmp_path)
    elif name == "picture":
        assert equal(ops.convolve2d(x, WEIGHTS), convolved(mapped), tmp_path)
    else:
        b = np.random.default_rng(0).integers(-5, 5, (COLUMNS, 8)).astype(float)
        np.testing.assert_array_equal(ops.matmul(x, b).compute(), mapped @ b)


def convolved(x: Any) -> np.ndarray[Any, Any]:
    framed = np.pad(x, 1)
    found = np.zeros(x.shape)
    for i in range(3):
        for k in range(3):
            found += WEIGHTS[i, k] * framed[2 - i :, 2 - k :][: x.shape[0], : x.shape[1]]
    return found


@pytest.mark.usefixtures("cluster")
def test_sorting_spills(tmp_path: Path) -> None:
    """Workers that keep few chunks in memory: the pieces that a sort hands on wait on disk."""
    count = 2**23 if FULL else 2**12
    keys = np.random.default_rng(0).integers(-(2**15), 2**15, count).astype(np.int16)
    np.save(tmp_path / "keys.npy", keys)
    with dask.config.set({"distributed.worker.memory.target": 0.01, "distributed.worker.memory.spill": 0.02}):
        found = ops.sort(ops.from_npy(tmp_path / "keys.npy", count // 16))
        assert equal(found, np.sort(keys), tmp_path)
    assert max(found.chunks[0]) < 1.3 * count / 16


@pytest.mark.usefixtures("cluster")
def test_zarr(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    ops.from_npy(file, (CHUNK, COLUMNS)).to_zarr(str(tmp_path / "x.zarr"))
    x = da.from_zarr(str(tmp_path / "x.zarr"))
    mapped = np.load(file, mmap_mode="r")
    assert ops.sum(x).compute() == mapped.sum()
    ops.cumsum(x, 1).to_zarr(str(tmp_path / "y.zarr"))
    assert equal(da.from_zarr(str(tmp_path / "y.zarr")), np.cumsum(mapped, 1), tmp_path)


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "text.npy").write_text("no array")
    with pytest.raises(ArgumentError, match=r"from_npy: .*none\.npy: .*No such file"):
        ops.from_npy(tmp_path / "none.npy")
    with pytest.raises(ArgumentError, match=r"from_npy: .*text\.npy: "):
        ops.from_npy(tmp_path / "text.npy")
    np.save(tmp_path / "x.npy", np.ones(5))
    with pytest.raises(ArgumentError, match=r"from_npy: .*x\.npy: .*[Cc]hunks"):
        ops.from_npy(tmp_path / "x.npy", (2, 2))


def test_what_chunks_do_not_allow() -> None:
    x = da.ones((6, 6), chunks=3)
    for call, said in (
        (lambda: ops.sort(x, 2), "sort: axis 2: x has 2 dimensions"),
        (lambda: ops.cumsum(x, -3), "cumsum: axis -3: x has 2 dimensions"),
        (lambda: ops.sum(x, (0, 0)), "sum: axis .* names an axis twice"),
        (lambda: ops.sum(x.astype(complex)), "sum: x has the type complex128"),
        (lambda: ops.sort(x[x > 0]), r"sort: x has chunks of unknown sizes; call x\.compute_chunk_sizes"),
        (lambda: ops.convolve1d(x, [[1.0]]), "convolve1d: mask has shape"),
        (lambda: ops.histogram(x / 0, 3), "histogram: x has elements from inf to inf; pass a finite range"),
    ):
        with pytest.raises(ArgumentError, match=said):
            call()
