"""Operations on Dask arrays against NumPy, with chunks of unequal sizes, and on memory-mapped files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass import ops

da: Any = pytest.importorskip("dask.array")
dask: Any = pytest.importorskip("dask")

pytestmark = pytest.mark.turns(2)


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(-9, 10, shape)


def test_sums() -> None:
    x = numbers(50, 33)
    lazy = da.from_array(x, chunks=(20, 12))
    for axis in (None, 0, 1, (0, 1)):
        found = ops.sum(lazy, axis)
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(), x.sum(axis))
    np.testing.assert_array_equal(ops.cumsum(lazy, 1).compute(), x.cumsum(1))
    np.testing.assert_array_equal(ops.cumsum(lazy[0]).compute(), x[0].cumsum())


def test_products() -> None:
    a, b = numbers(50, 33), numbers(33, 20)
    found = ops.matmul(da.from_array(a, chunks=(20, 12)), da.from_array(b, chunks=(33, 7)))
    np.testing.assert_array_equal(found.compute(), a @ b)
    x = numbers(99)
    assert ops.dot(da.from_array(x, chunks=40), da.from_array(x, chunks=30)).compute() == x @ x


@pytest.mark.parametrize("values", [1000, 3, 1])
def test_sorts(values: int) -> None:
    x = np.random.default_rng(0).integers(0, values, 3001)
    found = ops.sort(da.from_array(x, chunks=700))
    np.testing.assert_array_equal(found.compute(), np.sort(x))
    assert max(found.chunks[0]) < 1000


@pytest.mark.turns(3)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_orders(axis: int | None) -> None:
    x = np.random.default_rng(0).integers(0, 50, (3, 1000))
    found = ops.argsort(da.from_array(x, chunks=(2, 300)), axis)
    np.testing.assert_array_equal(found.compute(), np.argsort(x, axis, kind="stable"))


@pytest.mark.parametrize("kind", ["random", "sorted"])
def test_sorts_on_a_cluster(kind: str, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    x = np.random.default_rng(0).integers(0, 1000, 3001)
    x = np.sort(x) if kind == "sorted" else x
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options, local_directory=str(tmp_path)) as cluster,
        distributed.Client(cluster),
        dask.config.set(scheduler=None),
    ):
        lazy = da.from_array(x, chunks=700)
        found = ops.sort(lazy)
        assert any("rechunk-p2p" in name for name in found.dask.layers)
        np.testing.assert_array_equal(found.compute(), np.sort(x))


def test_histograms() -> None:
    x = numbers(2000)
    counts, edges = ops.histogram(da.from_array(x, chunks=600), 7)
    expected_counts, expected_edges = np.histogram(x, 7)
    np.testing.assert_array_equal(counts.compute(), expected_counts)
    np.testing.assert_array_equal(edges, expected_edges)


def test_convolutions() -> None:
    x, mask = numbers(30, 40), numbers(4, 3)
    lazy = da.from_array(x, chunks=(11, 17))
    np.testing.assert_array_equal(ops.convolve2d(lazy, mask).compute(), ops.convolve2d(x, mask))
    np.testing.assert_array_equal(
        ops.convolve1d(lazy, mask[:, 0], 0).compute(), ops.convolve1d(x, mask[:, 0], 0)
    )
    with pytest.raises(wg.ArgumentError, match="have the mode 'same'"):
        ops.convolve2d(lazy, mask, "full")


def test_files_larger_than_a_chunk(tmp_path: Path) -> None:
    x = numbers(10_000)
    np.save(tmp_path / "x.npy", x)
    lazy = da.from_array(np.load(tmp_path / "x.npy", mmap_mode="r"), chunks=3000)
    assert ops.sum(lazy).compute() == x.sum()


def test_what_chunks_do_not_allow() -> None:
    lazy = da.ones(5)
    with pytest.raises(wg.ArgumentError, match="transpose: no Dask arrays are taken; there is: sum"):
        ops.transpose(lazy)
    with pytest.raises(wg.ArgumentError, match="Dask arrays go without out"):
        ops.sum(lazy, out=np.zeros(()))
