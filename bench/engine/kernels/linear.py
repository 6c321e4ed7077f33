"""Dense and sparse linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Arguments, Case, blocks

GESUMMV = 1024
GEMM = 320
ORDER, COLUMNS = 64, 8000
SMALL, BATCH = 32, 256
INT8, BYTES = 256, 512
CSR_ROWS = 30000
BSR_ROWS = 4 * 20000

Random = np.random.Generator
F = np.float32


def _gesummv_data(rng: Random) -> Arguments:
    a, b = rng.random((2, GESUMMV, GESUMMV), F)
    zeros = np.zeros(GESUMMV, F)
    return a, b, rng.random(GESUMMV, F), zeros, zeros.copy(), F(1.5), F(1.2), np.int32(GESUMMV)


def _gesummv(a: Any, b: Any, x: Any, y: Any, tmp: Any, alpha: Any, beta: Any, n: Any) -> None:
    tmp[:] = a @ x
    y[:] = alpha * tmp + beta * (b @ x)


def _gemm_data(rng: Random) -> Arguments:
    return *rng.random((3, GEMM, GEMM), F), F(0.75), F(1.25), np.int32(GEMM)


def _gemm(a: Any, b: Any, c: Any, alpha: Any, beta: Any, n: Any) -> None:
    c[:] = alpha * (a @ b) + beta * c


def _trsm_data(rng: Random) -> Arguments:
    # Nothing cancels: what is subtracted is negative.
    low = -np.tril(rng.random((ORDER, ORDER), F), -1) / F(ORDER)
    low += np.diag(1 + rng.random(ORDER, F))
    return low, rng.random((ORDER, COLUMNS), F), np.int32(COLUMNS)


def _trsm(low: Any, b: Any, columns: Any) -> None:
    b[:] = np.linalg.solve(low.astype(np.float64), b.astype(np.float64))


def _cholesky_data(rng: Random) -> Arguments:
    low = np.tril(0.1 + 0.4 * rng.random((BATCH, SMALL, SMALL)), -1) + (
        4 + rng.random((BATCH, SMALL, 1))
    ) * np.eye(SMALL)
    return (low @ low.transpose(0, 2, 1)).astype(F), np.zeros((BATCH, SMALL, SMALL), F)


def _cholesky(given: Any, out: Any) -> None:
    out[:] = np.linalg.cholesky(given.astype(np.float64))


def _int8_data(rng: Random) -> Arguments:
    a, b = rng.integers(-128, 128, (2, INT8, BYTES), np.int8)
    return a, b, np.zeros((INT8, INT8), np.int32), np.int32(INT8), np.int32(BYTES // 4)


def _int8(a: Any, b: Any, c: Any, n: Any, quads: Any) -> None:
    c[:] = a.astype(np.float64) @ b.astype(np.float64).T


def _sparse(rng: Random, rows: int, columns: int, mean: int) -> tuple[Any, Any]:
    counts = np.minimum(rng.geometric(1 / mean, rows), 12 * mean)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return starts, rng.integers(0, columns, starts[-1], np.int32)


def _csr_data(rng: Random) -> Arguments:
    starts, columns = _sparse(rng, CSR_ROWS, CSR_ROWS, 24)
    x, y = rng.random(CSR_ROWS, F), np.zeros(CSR_ROWS, F)
    return starts, columns, rng.random(len(columns), F), x, y, np.int32(CSR_ROWS)


def _csr(starts: Any, columns: Any, values: Any, x: Any, y: Any, rows: Any) -> None:
    y[:] = np.add.reduceat(values.astype(np.float64) * x[columns], starts[:-1])


def _bsr_data(rng: Random) -> Arguments:
    starts, columns = _sparse(rng, BSR_ROWS // 4, BSR_ROWS // 4, 10)
    x, y = rng.random(BSR_ROWS, F), np.zeros(BSR_ROWS, F)
    return starts, columns, rng.random((len(columns), 4, 4), F), x, y, np.int32(BSR_ROWS)


def _bsr(starts: Any, columns: Any, values: Any, x: Any, y: Any, rows: Any) -> None:
    products = np.einsum("bij,bj->bi", values, x.reshape(-1, 4)[columns])
    y[:] = np.add.reduceat(products, starts[:-1], axis=0).reshape(-1)


CASES = [
    Case(
        "gesummv",
        blocks(GESUMMV, 256),
        256,
        _gesummv_data,
        _gesummv,
        results=(3, 4),
        changes=(3, 4),
        python=False,
    ),
    Case(
        "gemm_registers",
        (GEMM // 64, GEMM // 64),
        (16, 16),
        _gemm_data,
        _gemm,
        results=(2,),
        changes=(2,),
        python=False,
    ),
    Case(
        "trsm_columns", blocks(COLUMNS, 128), 128, _trsm_data, _trsm, results=(1,), changes=(1,), python=False
    ),
    Case("cholesky_batch", (BATCH, 1), (16, 16), _cholesky_data, _cholesky, results=(1,), python=False),
    Case("int8_gemm", (INT8 // 16, INT8 // 16), (16, 16), _int8_data, _int8, results=(2,), python=False),
    Case("csr_vector", blocks(16 * CSR_ROWS, 128), 128, _csr_data, _csr, results=(4,), python=False),
    Case("bsr_spmv", blocks(BSR_ROWS, 128), 128, _bsr_data, _bsr, results=(4,), python=False),
]
