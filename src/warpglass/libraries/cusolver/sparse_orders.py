"""Orders of sparse matrices (cusolverSp): symmetry, permutations that leave factors sparse, permuting."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..frame import Address, Handle, Int, Session
from ..lapack import scipy
from .library import CUSOLVER
from .sparse_steps import base_of


def _pattern(s: Session, n: int, nnz: int, base: int, rows: int, columns: int) -> Any:
    """The pattern of a matrix, with that of its transpose."""
    found = scipy(s, "sparse").csr_matrix(
        (np.ones(nnz), s.memory.flat(columns, nnz, "i4") - base, s.memory.flat(rows, n + 1, "i4") - base),
        shape=(n, n),
    )
    return found + found.T


@CUSOLVER.row("cusolverSpXcsrissymHost")
def symmetric(
    s: Session,
    handle: Handle,
    m: Int,
    nnz: Int,
    description: Handle,
    rows: Address,
    ends: Address,
    columns: Address,
    answer: Address,
) -> None:
    base = base_of(s, description)
    starts, stops = (s.memory.flat(one, m, "i4") - base for one in (rows, ends))
    indices = s.memory.flat(columns, nnz, "i4") - base
    pairs = {(row, int(column)) for row in range(m) for column in indices[starts[row] : stops[row]]}
    s.memory.put(answer, int(all((column, row) in pairs for row, column in pairs)), "i4")


@CUSOLVER.row("cusolverSpXcsrsymrcmHost")
def narrow(
    s: Session,
    handle: Handle,
    n: Int,
    nnz: Int,
    description: Handle,
    rows: Address,
    columns: Address,
    order: Address,
) -> None:
    """Reverse Cuthill-McKee."""
    pattern = _pattern(s, n, nnz, base_of(s, description), rows, columns)
    found = scipy(s, "sparse.csgraph").reverse_cuthill_mckee(pattern.tocsr(), symmetric_mode=True)
    s.memory.flat(order, n, "i4", written=True)[...] = found


@CUSOLVER.row("cusolverSpXcsrsymamdHost", also="cusolverSpXcsrsymmdqHost")
def least_degree(
    s: Session,
    handle: Handle,
    n: Int,
    nnz: Int,
    description: Handle,
    rows: Address,
    columns: Address,
    order: Address,
) -> None:
    """Minimum degree, as SuperLU finds it."""
    pattern = _pattern(s, n, nnz, base_of(s, description), rows, columns)
    full = (pattern + (nnz + n) * scipy(s, "sparse").identity(n)).tocsc()
    found = scipy(s, "sparse.linalg").splu(full, permc_spec="MMD_AT_PLUS_A").perm_c
    s.memory.flat(order, n, "i4", written=True)[...] = np.argsort(found)


@CUSOLVER.row("cusolverSpXcsrmetisndHost")
def dissected(
    s: Session,
    handle: Handle,
    n: Int,
    nnz: Int,
    description: Handle,
    rows: Address,
    columns: Address,
    options: Address,
    order: Address,
) -> None:
    """Any order that leaves factors sparse: that of minimum degree."""
    least_degree(s, handle, n, nnz, description, rows, columns, order)


CUSOLVER.sizes(
    "cusolverSpXcsrperm_bufferSizeHost",
    "",
    "Handle Int Int Int Handle Address Address Address Address >Address",
    ctypes.c_size_t,
)


@CUSOLVER.row("cusolverSpXcsrpermHost")
def permute(
    s: Session,
    handle: Handle,
    m: Int,
    n: Int,
    nnz: Int,
    description: Handle,
    rows: Address,
    columns: Address,
    p: Address,
    q: Address,
    places: Address,
    work: Address,
) -> None:
    """Element (i, j) of the result is element (p[i], q[j]); `places` tells where each value has been."""
    base = base_of(s, description)
    offsets = s.memory.flat(rows, m + 1, "i4", written=True)
    indices = s.memory.flat(columns, nnz, "i4", written=True)
    values = s.memory.flat(places, nnz, "i4", written=True)
    one = scipy(s, "sparse").csr_matrix((np.arange(nnz) + 1, indices - base, offsets - base), shape=(m, n))
    found = one[s.memory.flat(p, m, "i4")][:, s.memory.flat(q, n, "i4")].tocsr()
    found.sort_indices()
    values[...] = values.copy()[found.data - 1]
    offsets[...], indices[...] = found.indptr + base, found.indices + base
