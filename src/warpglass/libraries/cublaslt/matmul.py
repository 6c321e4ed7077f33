"""Products: D = epilogue(alpha * op(A) * op(B) + beta * C), of batches, with scales of 8-bit floats.

Epilogues: bias, ReLU, GELU (by tanh, as cuBLASLt's), their gradients from what a forward pass kept of GELU's
argument, and gradients of the bias. There is one algorithm, which needs no workspace.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numba_device.calls import put, put_int
from ..cublas.context import op
from ..cublas.mixed import read, scalars, storage, write
from ..frame import Address, Device, Failed, Handle, Int, Session, Size, immediate
from ..memory import Array
from .descriptors import CUBLASLT, NOT_SUPPORTED, Layout, Product

_RELU, _BIAS, _MASK_OF_RELU, _BIAS_GRADIENT, _GELU, _GELU_GRADIENT, _AUX = 2, 4, 8, 16, 32, 64, 128
_GRADIENT_A, _GRADIENT_B = 256, 512
_DEVICE_VECTOR, _VECTOR_AND_ZERO, _VECTOR_AND_HOST = 2, 3, 4
_ALGORITHM, _RESULT = 64, 96  # bytes of cublasLtMatmulAlgo_t and of cublasLtMatmulHeuristicResult_t


@dataclass(frozen=True, slots=True)
class _Problem:
    """Copies of a product's descriptors, for work that is done later, and where its matrices lie."""

    product: Product
    layouts: tuple[Layout, Layout, Layout, Layout]  # of A, B, C, D
    places: tuple[int, int, int, int] = (0, 0, 0, 0)

    @property
    def kind(self) -> np.dtype[Any]:
        """In which type is summed: halves as single precision."""
        found = scalars(self.product.compute, self.layouts[3].kind)
        return np.dtype("f4") if found == np.dtype("f2") else found

    def check(self) -> None:
        """Raise Failed for what there is not."""
        product = self.product
        for layout in self.layouts:
            storage(layout.kind)
            if layout.order not in (0, 1) or layout.plane:
                raise Failed(NOT_SUPPORTED, f"matrices of order {layout.order} are not supported")
        if product.epilogue & _MASK_OF_RELU or product.epilogue & (_RELU | _AUX) == _RELU | _AUX:
            raise Failed(NOT_SUPPORTED, f"epilogue {product.epilogue} (masks of ReLU) is not supported")
        a, b, _, d = self.layouts
        m, k = (a.columns, a.rows) if product.transa else (a.rows, a.columns)
        right, n = (b.columns, b.rows) if product.transb else (b.rows, b.columns)
        if (m, n) != (d.rows, d.columns) or k != right:
            text = f"op(A) is {m} x {k}, op(B) {right} x {n}, and D {d.rows} x {d.columns}"
            raise Failed(CUBLASLT.statuses.invalid_value, text)


def _problem(product: int, *layouts: int, places: tuple[int, ...] = (0, 0, 0, 0)) -> _Problem:
    a, b, c, d = (Layout.from_buffer_copy(Layout.at(one)) for one in layouts)
    found = _Problem(Product.from_buffer_copy(Product.at(product)), (a, b, c, d), places)  # type: ignore[arg-type]
    found.check()
    return found


def _matrix(s: Session, layout: Layout, place: int, number: int, *, written: bool = False) -> Array:
    """One matrix of a batch, as it lies in memory."""
    kind = storage(layout.kind)
    steps = (1, layout.leading) if layout.order == 0 else (layout.leading, 1)
    start = place + number * layout.stride * kind.itemsize
    return s.memory.strided(start, (layout.rows, layout.columns), steps, kind, written=written)


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _gelu_slope(x: Array) -> Array:
    bend = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return 0.5 * (1 + bend) + 0.5 * x * (1 - bend**2) * np.sqrt(2 / np.pi) * (1 + 0.134145 * x**2)


@dataclass(frozen=True, slots=True)
class _Epilogue:
    """What is done to each product of a batch before it is stored."""

    s: Session
    problem: _Problem
    number: int

    def applied(self, total: Array, left: Array, right: Array) -> Array:
        """The result; vectors and matrices beside it are written."""
        wanted = self.problem.product.epilogue
        if wanted & _BIAS:
            total = total + self._bias(len(total), written=False)[:, None]
        if wanted & _GELU and wanted & _AUX:
            write(self._aux(written=True), total, self._aux_type)
        if wanted & _RELU:
            total = np.maximum(total, 0)
        if wanted & _GELU:
            total = _gelu(total)
        if wanted & _GELU_GRADIENT:
            total = total * _gelu_slope(read(self.s, self._aux(), self._aux_type).astype(total.dtype))
        gradients = {_BIAS_GRADIENT: (total, 1), _GRADIENT_A: (left, 1), _GRADIENT_B: (right, 0)}
        for which, (summed, axis) in gradients.items():
            if wanted & which:
                found = summed.sum(axis)
                write(self._raw_bias(len(found), written=True), found, self._bias_type)
        return total

    @property
    def _aux_type(self) -> int:
        given = self.problem.product.aux_type
        return self.problem.layouts[3].kind if given < 0 else given

    @property
    def _bias_type(self) -> int:
        given = self.problem.product.bias_type
        return self.problem.layouts[3].kind if given < 0 else given

    def _raw_bias(self, length: int, *, written: bool) -> Array:
        product, kind = self.problem.product, storage(self._bias_type)
        start = product.bias + self.number * product.bias_stride * kind.itemsize
        return self.s.memory.flat(start, length, kind, written=written)

    def _bias(self, length: int, *, written: bool) -> Array:
        found = read(self.s, self._raw_bias(length, written=written), self._bias_type)
        return found.astype(self.problem.kind)

    def _aux(self, *, written: bool = False) -> Array:
        product, result, kind = self.problem.product, self.problem.layouts[3], storage(self._aux_type)
        start = product.aux + self.number * product.aux_stride * kind.itemsize
        return self.s.memory.matrix(start, result.rows, result.columns, product.aux_ld, kind, written=written)


def _multiply(s: Session, problem: _Problem, factors: Callable[[int], tuple[Any, Any]]) -> None:
    """All products of a batch; factors are alpha and beta of one."""
    product, (a, b, c, d), kind = problem.product, problem.layouts, problem.kind
    scales = [_scale(s, place) for place in (product.a_scale, product.b_scale, product.c_scale)]
    largest = 0.0
    for number in range(max(d.count, 1)):
        alpha, beta = factors(number)
        left, right = (
            op(read(s, _matrix(s, layout, place, number), layout.kind).astype(kind), how) * kind.type(scale)
            for layout, place, how, scale in zip(
                (a, b), problem.places[:2], (product.transa, product.transb), scales[:2], strict=True
            )
        )
        total = alpha * (left @ right)
        if np.any(beta):
            added = read(s, _matrix(s, c, problem.places[2], number), c.kind).astype(kind)
            total = total + beta * kind.type(scales[2]) * added
        total = _Epilogue(s, problem, number).applied(total, left, right)
        if product.amax:
            largest = max(largest, float(np.abs(total).max(initial=0)))
        total = total * kind.type(_scale(s, product.d_scale))
        write(_matrix(s, d, problem.places[3], number, written=True), total, d.kind)
    s.memory.put(product.amax, largest, kind)


def _scale(s: Session, place: int) -> float:
    return float(s.memory.scalar(place, "f4")) if place else 1.0


def _factors(s: Session, problem: _Problem, alpha: int, beta: int) -> Callable[[int], tuple[Any, Any]]:
    """Alpha and beta by the number in the batch; those on the host are read now."""
    product, rows = problem.product, problem.layouts[3].rows
    given, wide, mode = scalars(product.compute, product.scale), problem.kind, product.pointer_mode

    def vector(place: int, number: int) -> Array:
        start = place + number * product.alpha_stride * given.itemsize
        return s.memory.flat(start, rows, given).astype(wide)[:, None]

    def number_at(place: int) -> Any:
        return wide.type(s.memory.scalar(place, given))

    if mode in (_DEVICE_VECTOR, _VECTOR_AND_ZERO, _VECTOR_AND_HOST):
        still = number_at(beta) if mode == _VECTOR_AND_HOST else wide.type(0)
        return lambda number: (
            vector(alpha, number),
            vector(beta, number) if mode == _DEVICE_VECTOR else still,
        )
    if mode == 1:
        return lambda number: (number_at(alpha), number_at(beta))
    pair = number_at(alpha), number_at(beta)
    return lambda number: pair


@immediate
@CUBLASLT.row("cublasLtMatmul")
def multiply(
    s: Session,
    handle: Handle,
    product: Address,
    alpha: Address,
    a: Device,
    adesc: Address,
    b: Device,
    bdesc: Address,
    beta: Address,
    c: Device,
    cdesc: Address,
    d: Device,
    ddesc: Address,
    algorithm: Address,
    workspace: Device,
    size: Size,
    stream: Handle,
) -> None:
    _initialised(handle)
    problem = _problem(product, adesc, bdesc, cdesc or ddesc, ddesc, places=(a, b, c, d))
    factors = _factors(s, problem, alpha, beta)
    s.enqueue(stream, lambda: _multiply(s, problem, factors))


@immediate
@CUBLASLT.row("cublasLtMatmulAlgoGetHeuristic")
def heuristic(
    s: Session,
    handle: Handle,
    product: Address,
    adesc: Address,
    bdesc: Address,
    cdesc: Address,
    ddesc: Address,
    preference: Address,
    most: Int,
    results: Address,
    count: Address,
) -> None:
    _initialised(handle)
    put_int(count, 0)
    _problem(product, adesc, bdesc, cdesc, ddesc)
    if most > 0:
        _describe(results)
        put_int(count, 1)


@immediate
@CUBLASLT.row("cublasLtMatmulAlgoCheck")
def check(
    s: Session,
    handle: Handle,
    product: Address,
    adesc: Address,
    bdesc: Address,
    cdesc: Address,
    ddesc: Address,
    algorithm: Address,
    result: Address,
) -> None:
    _initialised(handle)
    _problem(product, adesc, bdesc, cdesc, ddesc)
    if result:
        _describe(result)


@immediate
@CUBLASLT.row("cublasLtMatmulAlgoGetIds")
def identities(
    s: Session,
    handle: Handle,
    compute: Int,
    scale: Int,
    atype: Int,
    btype: Int,
    ctype: Int,
    dtype: Int,
    most: Int,
    found: Address,
    count: Address,
) -> None:
    _initialised(handle)
    if most > 0:
        put_int(found, 0)
    put_int(count, min(most, 1))


@immediate
@CUBLASLT.row("cublasLtMatmulAlgoInit")
def init_algorithm(
    s: Session,
    handle: Handle,
    compute: Int,
    scale: Int,
    atype: Int,
    btype: Int,
    ctype: Int,
    dtype: Int,
    identity: Int,
    algorithm: Address,
) -> None:
    _initialised(handle)
    ctypes.memset(algorithm, 0, _ALGORITHM)


@immediate
@CUBLASLT.row("cublasLtMatmulAlgoConfigSetAttribute")
def configure(s: Session, algorithm: Address, attribute: Int, value: Address, size: Size) -> None:
    """Tiles and stages make no difference here."""


def _initialised(handle: int) -> None:
    if not handle:
        raise Failed(CUBLASLT.statuses.not_initialized, "the handle is null")


def _describe(result: int) -> None:
    """A cublasLtMatmulHeuristicResult_t: the one algorithm, no workspace, success, one wave."""
    ctypes.memset(result, 0, _RESULT)
    put(result + _ALGORITHM + 12, 1.0, ctypes.c_float)  # type: ignore[arg-type]
