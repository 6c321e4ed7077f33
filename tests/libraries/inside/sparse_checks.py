"""Sparse solutions in steps, orders, incomplete factors, and what else takes memory of the host."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from .support import Array, OnDevice, call, library

sparse: Any = pytest.importorskip("scipy.sparse")
N = 12


def system() -> tuple[Any, Array]:
    """A positive definite matrix in compressed rows, and a right side."""
    generator = np.random.default_rng(3)
    part = sparse.random(N, N, 0.2, format="csr", random_state=4)
    matrix = (part + part.T + 8 * sparse.identity(N)).tocsr()
    matrix.sort_indices()
    return matrix, generator.random(N)


def parts(matrix: Any) -> tuple[Array, Array, Array]:
    return matrix.data.copy(), matrix.indptr.astype("i4"), matrix.indices.astype("i4")


def made(function: Any) -> ctypes.c_void_p:
    handle = ctypes.c_void_p()
    assert function(ctypes.byref(handle)) == 0
    return handle


def solver() -> tuple[Any, Any, Any]:
    """cuSOLVER, its handle, and the description of a matrix."""
    description = made(library("libcusparse.so.12").cusparseCreateMatDescr)
    found = library("libcusolver.so.12")
    return found, made(found.cusolverSpCreate), description


@pytest.mark.parametrize("how", ["qr", "chol"])
def test_a_system_is_solved_in_steps_on_the_device(how: str) -> None:
    found, handle, description = solver()
    matrix, right = system()
    on, b, x = [OnDevice(one) for one in parts(matrix)], OnDevice(right), OnDevice(np.zeros(N))
    info = made(getattr(found, f"cusolverSpCreateCsr{how}Info"))
    extents = (N, N, matrix.nnz) if how == "qr" else (N, matrix.nnz)
    given = handle, *extents, description
    assert call(getattr(found, f"cusolverSpXcsr{how}Analysis"), *given, *on[1:], info) == 0
    sizes = np.zeros(2, "u8")
    room = getattr(found, f"cusolverSpDcsr{how}BufferInfo")
    assert call(room, *given, *on, info, sizes[:1], sizes[1:]) == 0
    if how == "qr":
        zero = ctypes.c_double(0)
        assert call(found.cusolverSpDcsrqrSetup, *given, *on, zero, info) == 0
        assert call(found.cusolverSpDcsrqrFactor, handle, *extents, 0, 0, info, b) == 0
        assert call(found.cusolverSpDcsrqrSolve, handle, N, N, b, x, info, b) == 0
    else:
        assert call(found.cusolverSpDcsrcholFactor, *given, *on, info, b) == 0
        assert call(found.cusolverSpDcsrcholSolve, handle, N, b, x, info, b) == 0
    pivot = ctypes.c_int(7)
    zero_pivot = getattr(found, f"cusolverSpDcsr{how}ZeroPivot")
    assert zero_pivot(handle, info, ctypes.c_double(1e-14), ctypes.byref(pivot)) == 0
    assert pivot.value == -1
    np.testing.assert_allclose(matrix @ x.now, right)


def test_lu_factors_of_the_host_are_those_of_the_permuted_matrix_and_serve_again() -> None:
    found, handle, description = solver()
    matrix, right = system()
    values, offsets, indices = parts(matrix)
    info = made(found.cusolverSpCreateCsrluInfoHost)
    given = [handle, N, matrix.nnz, description, *map(pointer, (values, offsets, indices)), info]
    assert found.cusolverSpDcsrluFactorHost(*given, ctypes.c_double(1), None) == 0
    counts = np.zeros(2, "i4")
    assert found.cusolverSpXcsrluNnzHost(handle, pointer(counts), pointer(counts[1:]), info) == 0
    p, q = np.zeros(N, "i4"), np.zeros(N, "i4")
    sides = [(np.zeros(count), np.zeros(N + 1, "i4"), np.zeros(count, "i4")) for count in counts]
    told = [word for side in sides for word in (description, *map(pointer, side))]
    assert found.cusolverSpDcsrluExtractHost(handle, pointer(p), pointer(q), *told, info, None) == 0
    lower, upper = (
        sparse.csr_matrix((data, columns, starts), (N, N)).toarray() for data, starts, columns in sides
    )
    np.testing.assert_allclose(lower @ upper, matrix.toarray()[p][:, q], atol=1e-12)

    refactoring = made(found.cusolverRfCreate)
    spread = [word for side in sides for word in (len(side[0]), *map(pointer, (side[1], side[2], side[0])))]
    setup = found.cusolverRfSetupHost
    own = map(pointer, (offsets, indices, values))
    assert setup(N, matrix.nnz, *own, *spread, pointer(p), pointer(q), refactoring) == 0
    on = [OnDevice(one) for one in (offsets, indices, 2 * values, p, q)]
    assert call(found.cusolverRfResetValues, N, matrix.nnz, *on, refactoring) == 0
    assert found.cusolverRfRefactor(refactoring) == 0
    x = OnDevice(right)
    assert call(found.cusolverRfSolve, refactoring, on[3], on[4], 1, x, N, x, N) == 0
    np.testing.assert_allclose(2 * (matrix @ x.now), right)


def pointer(content: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(content.ctypes.data)


@pytest.mark.parametrize("order", ["symrcm", "symamd"])
def test_matrices_are_permuted(order: str) -> None:
    found, handle, description = solver()
    matrix, _ = system()
    _, offsets, indices = parts(matrix)
    p, places = np.zeros(N, "i4"), np.arange(matrix.nnz, dtype="i4")
    given = handle, N, matrix.nnz, description, pointer(offsets)
    answer = ctypes.c_int(0)
    ends = pointer(offsets[1:])
    assert found.cusolverSpXcsrissymHost(*given, ends, pointer(indices), ctypes.byref(answer)) == 0
    assert answer.value == 1
    assert getattr(found, f"cusolverSpXcsr{order}Host")(*given, pointer(indices), pointer(p)) == 0
    assert sorted(p) == list(range(N))
    told = pointer(offsets), pointer(indices), pointer(p), pointer(p), pointer(places)
    assert found.cusolverSpXcsrpermHost(handle, N, N, matrix.nnz, description, *told, None) == 0
    result = sparse.csr_matrix((matrix.data[places], indices, offsets), (N, N)).toarray()
    np.testing.assert_array_equal(result, matrix.toarray()[p][:, p])


def test_incomplete_factors_of_a_band_are_whole() -> None:
    found = library("libcusparse.so.12")
    handle, description = made(found.cusparseCreate), made(found.cusparseCreateMatDescr)
    info = made(found.cusparseCreateCsrilu02Info)
    assert found.cusparseSetMatFillMode(description, 1) == 0
    assert (found.cusparseGetMatFillMode(description), found.cusparseGetMatIndexBase(description)) == (1, 0)
    band = sparse.diags([1.0, 4.0, 2.0], [-1, 0, 1], (N, N), format="csr")
    on = [OnDevice(one) for one in parts(band)]
    given = handle, N, band.nnz, description, *on, info
    assert call(found.cusparseDcsrilu02_analysis, *given, 0, 0) == 0
    assert call(found.cusparseDcsrilu02, *given, 0, 0) == 0
    both = sparse.csr_matrix((on[0].now, band.indices, band.indptr), (N, N)).toarray()
    np.testing.assert_allclose((np.tril(both, -1) + np.eye(N)) @ np.triu(both), band.toarray())
    pivot = ctypes.c_int(7)
    assert found.cusparseXcsrilu02_zeroPivot(handle, info, ctypes.byref(pivot)) == 0
    assert pivot.value == -1


def test_products_of_the_hosts_matrices_and_direction_vectors() -> None:
    blas = library("libcublas.so.13")
    handle = made(blas.cublasXtCreate)
    a, b = (np.asfortranarray(np.random.default_rng(n).random((3, 3), "f4")) for n in (1, 2))
    c, one, zero = np.zeros((3, 3), "f4", order="F"), np.array([1], "f4"), np.array([0], "f4")
    three = ctypes.c_size_t(3)
    multiply = blas.cublasXtSgemm
    left, right = (pointer(a), three), (pointer(b), three)
    shape = handle, 0, 0, three, three, three
    assert multiply(*shape, pointer(one), *left, *right, pointer(zero), pointer(c), three) == 0
    np.testing.assert_allclose(c, a @ b, rtol=1e-6)

    place: Any = ctypes.POINTER(ctypes.c_uint32 * 32)()
    assert library("libcurand.so.10").curandGetDirectionVectors32(ctypes.byref(place), 101) == 0
    assert list(place[0]) == [1 << bit for bit in reversed(range(32))]
    assert [place[1][bit] >> 28 for bit in range(3)] == [0b1000, 0b1100, 0b1010]


@pytest.mark.parametrize("form", ["Csr", "Coo"])
def test_dense_products_at_the_places_of_a_batch_of_sparse_matrices(form: str) -> None:
    found, rng = library("libcusparse.so.12"), np.random.default_rng(8)
    handle = made(found.cusparseCreate)
    matrices = [sparse.random(6, 4, 0.5, format="csr", random_state=seed) for seed in (1, 2)]
    left, right = rng.random((2, 3, 6)), rng.random((2, 4, 3))  # each is stored by columns, 6x3 and 3x4
    a, b = OnDevice(left.ravel()), OnDevice(right.ravel())
    firsts = [one.indptr if form == "Csr" else one.tocoo().row for one in matrices]
    parts = [np.concatenate(ones).astype("i4") for ones in (firsts, [one.indices for one in matrices])]
    values = OnDevice(np.concatenate([one.data for one in matrices]))
    on, nnz = [OnDevice(one) for one in parts], matrices[0].nnz
    descriptors = [ctypes.c_void_p() for _ in range(3)]
    types = (2, 2) if form == "Csr" else (2,)
    for place, shape, dense in zip(descriptors, ((6, 3), (3, 4)), (a, b), strict=False):
        assert call(found.cusparseCreateDnMat, ctypes.byref(place), *shape, shape[0], dense, 1, 1) == 0
        assert call(found.cusparseDnMatSetStridedBatch, place, 2, shape[0] * shape[1]) == 0
    create, target = getattr(found, f"cusparseCreate{form}"), descriptors[2]
    assert call(create, ctypes.byref(target), 6, 4, nnz, *on, values, *types, 0, 1) == 0
    steps = (7, nnz) if form == "Csr" else (nnz,)
    assert call(getattr(found, f"cusparse{form}SetStridedBatch"), target, 2, *steps) == 0
    two, half = np.float64(2), np.float64(0.5)
    given = handle, 0, 0, two, *descriptors[:2], half, target, 1, 0
    assert call(found.cusparseSDDMM_preprocess, *given, 0) == 0
    assert call(found.cusparseSDDMM, *given, 0) == 0
    for number, one in enumerate(matrices):
        wanted = 2 * (left[number].T @ right[number].T)[one.nonzero()] + one.data / 2
        np.testing.assert_allclose(values.now[number * nnz :][:nnz], wanted)


def test_a_zero_on_the_diagonal_is_divided_by() -> None:
    found = library("libcusparse.so.12")
    handle = made(found.cusparseCreate)
    lower = sparse.csr_matrix(np.array([[2.0, 0, 0], [1, 0, 0], [0, 0, 4]]))
    right, out = OnDevice(np.array([2.0, 3, 8])), OnDevice(np.zeros(3))
    on = [OnDevice(one) for one in (lower.indptr, lower.indices, lower.data)]
    a, x, y = (ctypes.c_void_p() for _ in range(3))
    assert call(found.cusparseCreateCsr, ctypes.byref(a), 3, 3, lower.nnz, *on, 2, 2, 0, 1) == 0
    for place, content in ((x, right), (y, out)):
        assert call(found.cusparseCreateDnVec, ctypes.byref(place), 3, content, 1) == 0
    solution = made(found.cusparseSpSV_createDescr)
    given = handle, 0, np.float64(1), a, x, y, 1, 0, solution
    assert call(found.cusparseSpSV_analysis, *given, 0) == 0
    assert call(found.cusparseSpSV_solve, *given) == 0
    np.testing.assert_array_equal(out.now, [1, np.inf, 2])
