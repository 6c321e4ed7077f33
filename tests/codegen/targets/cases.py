"""The kernels of kernels.cu with their arguments: what must come out the same on every processor.

    python -m tests.codegen.targets.cases FILE

runs them in this process, with its settings, and writes the arrays as they are after each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import warpglass as wg

FOLDER = Path(__file__).parent
N = 384
GRID, BLOCK = (N // 96, 1, 1), (96, 1, 1)

Array = np.ndarray[Any, Any]


def _singles(rng: np.random.Generator) -> list[Any]:
    x, y = (_bits(rng, np.float32, N) for _ in range(2))
    return [np.zeros(6 * N, np.float32), x, y, np.int32(N)]


def _doubles(rng: np.random.Generator) -> list[Any]:
    x, y = (_bits(rng, np.float64, N) for _ in range(2))
    return [np.zeros(5 * N), x, y, np.int32(N)]


def _halves(rng: np.random.Generator) -> list[Any]:
    x, y = (rng.integers(0, 1 << 16, N, np.uint16) for _ in range(2))
    return [np.zeros(4 * N, np.uint16), x, y, np.int32(N)]


def _integers(rng: np.random.Generator) -> list[Any]:
    x, y = (_bits(rng, np.uint32, N) for _ in range(2))
    return [np.zeros(4 * N, np.uint32), x, y, np.int32(N)]


def _bytes(rng: np.random.Generator) -> list[Any]:
    x, at = rng.integers(0, 256, N, np.uint8), rng.permutation(N).astype(np.int32)
    return [np.zeros(2 * N, np.uint8), x, at, np.int32(N)]


def _together(rng: np.random.Generator) -> list[Any]:
    return [np.zeros(N + 8, np.int32), rng.integers(-50, 1000, N, np.int32), np.int32(N)]


def _divergent(rng: np.random.Generator) -> list[Any]:
    x = rng.integers(0, 1 << 32, N, np.uint32)
    return [np.zeros(N, np.uint64), x, np.zeros(1, np.float32), np.int32(N)]


def _ragged(rng: np.random.Generator) -> list[Any]:
    at = rng.permutation(N).astype(np.int32)
    return [np.zeros(N), np.zeros(N, np.float32), rng.random(N), at, np.int32(N)]


def _bits(rng: np.random.Generator, type_: Any, count: int) -> Array:
    """Any patterns, small numbers and zeros."""
    size = np.dtype(type_).itemsize
    found = rng.integers(0, 256, count * size, np.uint8).view(type_)
    found[::3] = rng.integers(-5, 100, found[::3].size).astype(type_)
    return found


CASES: dict[str, Callable[[np.random.Generator], list[Any]]] = {
    "singles": _singles,
    "doubles": _doubles,
    "halves": _halves,
    "integers": _integers,
    "bytes": _bytes,
    "together": _together,
    "divergent": _divergent,
    "ragged": _ragged,
}


def arguments(name: str) -> list[Any]:
    """A case's arguments, the same in every call."""
    return CASES[name](np.random.default_rng(11))


def kernel(name: str) -> wg.Kernel:
    """A case's kernel."""
    return wg.load(FOLDER / "kernels.cu", name)


def results() -> dict[str, list[Array]]:
    """The arrays of every case after its launch."""
    found: dict[str, list[Array]] = {}
    for name in CASES:
        args = arguments(name)
        wg.run(kernel(name), GRID, BLOCK, args, device="cpu")
        found[name] = [one for one in args if isinstance(one, np.ndarray)]
    return found


def main() -> None:
    """Write the arrays, one after the other."""
    np.savez(sys.argv[1], *(one for arrays in results().values() for one in arrays))


if __name__ == "__main__":
    main()
