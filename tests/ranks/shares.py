"""Arrays in unequal shares, and every operation on them: run by each rank, wherever it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from warpglass import ranks

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES += ("float16", "float32", "float64")


def shared(array: np.ndarray[Any, Any], weights: tuple[int, ...]) -> list[np.ndarray[Any, Any]]:
    """The array in as many shares as there are weights, as long as these say; 0 is an empty share."""
    ends = np.cumsum(weights) * len(array) // max(1, sum(weights))
    return np.split(array, ends[:-1])


def numbers(dtype: str, *shape: int, most: int = 4) -> np.ndarray[Any, Any]:
    """Whole numbers small enough for sums of any type to be exact."""
    low = 0 if np.dtype(dtype).kind in "ub" else -most
    return np.random.default_rng(0).integers(low, most, shape).astype(dtype)


def check_all(here: ranks.Communicator, dtype: str, weights: tuple[int, ...]) -> list[str]:
    """Compare every operation with NumPy's; the names of those that were compared."""
    done: list[str] = []

    def same(name: str, found: Any, expected: Any) -> None:
        got = found.get() if hasattr(found, "get") else found
        np.testing.assert_array_equal(got, expected, err_msg=f"{name} {dtype} {weights} rank {here.rank}")
        assert got.dtype == expected.dtype, (name, got.dtype, expected.dtype)
        done.append(name)

    def mine(array: np.ndarray[Any, Any]) -> Any:
        return here.module.asarray(shared(array, weights)[here.rank])

    x, y = numbers(dtype, 301, most=3), numbers(dtype, 301, most=3)[::-1]
    same("sum", ranks.sum(here, mine(x)), x.sum())
    if dtype != "bool":
        same("dot", ranks.dot(here, mine(x), mine(y)), x.dot(y))
    same("cumsum", ranks.cumsum(here, mine(x)), shared(x.cumsum(), weights)[here.rank])
    if dtype != "bool":
        a, b = numbers(dtype, 23, 17, most=2), numbers(dtype, 17, 9, most=2)
        same("matmul", ranks.matmul(here, mine(a), mine(b)), shared(a @ b, weights)[here.rank])
        picture = numbers(dtype, 29, 40, most=2)
        for shape in ((1, 1), (3, 5), (4, 2), (9, 3)):
            mask = numbers(dtype, *shape, most=2)
            expected = shared(convolved(picture, mask), weights)[here.rank]
            same(
                f"convolve2d {shape}",
                ranks.convolve2d(here, mine(picture), here.module.asarray(mask)),
                expected,
            )
    for most in (2, 100):
        keys = numbers(dtype, 4001, most=most)
        part = ranks.sort(here, mine(keys))
        parts = ranks.communicator.gather_numbers(here, len(part))[:, 0]
        assert parts.sum() == keys.size
        assert parts.max() <= 1.3 * keys.size / here.size + 1, parts
        first = int(parts[: here.rank].sum())
        same(f"sort {most}", part, np.sort(keys)[first : first + len(part)])
    return done


def convolved(x: np.ndarray[Any, Any], mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Mode "same", with zeros beyond the picture."""
    rows, columns = mask.shape
    framed = np.zeros((x.shape[0] + rows - 1, x.shape[1] + columns - 1), x.dtype)
    framed[rows // 2 :, columns // 2 :][: x.shape[0], : x.shape[1]] = x
    found = np.zeros_like(x)
    for i in range(rows):
        for k in range(columns):
            part = framed[rows - 1 - i :, columns - 1 - k :][: x.shape[0], : x.shape[1]]
            found += mask[i, k] * part
    return found


def lone_failure(here: ranks.Communicator) -> None:
    """Rank 1 fails where the others wait for it."""
    if here.rank == 1:
        raise ZeroDivisionError("what went wrong")
    ranks.sum(here, here.module.ones(5))


def lone_exit(here: ranks.Communicator) -> None:
    """Rank 1's process ends."""
    if here.rank == 1:
        import os

        os._exit(3)
    ranks.sum(here, here.module.ones(5))


def differing(here: ranks.Communicator) -> None:
    """Shares of two types."""
    ranks.sort(here, here.module.ones(5, "f4" if here.rank else "f8"))


def nothing_shared(here: ranks.Communicator) -> list[Any]:
    """Arrays without an element."""
    x = here.module.zeros(0)
    return [float(ranks.sum(here, x)), float(ranks.dot(here, x, x)), len(ranks.sort(here, x))]


def hang(here: ranks.Communicator) -> None:
    """Rank 0 waits for an answer that rank 1 never gives."""
    if here.rank == 0:
        ranks.sum(here, here.module.ones(5))
    else:
        import time

        time.sleep(60)
