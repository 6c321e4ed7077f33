"""Vectors: sums, products, norms, the largest element, rotations (level 1)."""

from __future__ import annotations

import numpy as np

from ..frame import Address, Count, Device, Handle, Session
from ..memory import Array
from .context import CUBLAS

REAL, COMPLEX, ALL = "S D", "C Z", "S D C Z"
_NORMS = "S D Sc=C Dz=Z"
_PART = 1 << 16  # elements


def _taxicab(x: Array) -> Array:
    """|re| + |im| of each element: what BLAS sums and compares."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def product(x: Array, y: Array) -> complex:
    """The sum of products of elements, in double precision: a GPU adds in parts, nearly as exactly."""
    wide = np.result_type(x, y, np.float64)
    parts = (slice(start, start + _PART) for start in range(0, len(x), _PART))
    return sum(np.dot(x[part].astype(wide), y[part].astype(wide)) for part in parts)


@CUBLAS.row("cublas{T}copy_v2", ALL)
def copy(s: Session, handle: Handle, n: Count, x: Device, incx: Count, y: Device, incy: Count) -> None:
    s.memory.vector(y, n, incy, s.element, written=True)[...] = s.memory.vector(x, n, incx, s.element)


@CUBLAS.row("cublas{T}swap_v2", ALL)
def swap(s: Session, handle: Handle, n: Count, x: Device, incx: Count, y: Device, incy: Count) -> None:
    one, two = s.memory.vector(x, n, incx, s.element), s.memory.vector(y, n, incy, s.element)
    one[...], two[...] = two.copy(), one.copy()


@CUBLAS.row("cublas{T}scal_v2", ALL)
def scal(s: Session, handle: Handle, n: Count, alpha: Address, x: Device, incx: Count) -> None:
    vector = s.memory.vector(x, n, incx, s.element)
    vector *= s.memory.scalar(alpha, s.element)


@CUBLAS.row("cublas{T}scal_v2", "Cs=C Zd=Z")
def scal_real(s: Session, handle: Handle, n: Count, alpha: Address, x: Device, incx: Count) -> None:
    vector = s.memory.vector(x, n, incx, s.element)
    vector *= s.memory.scalar(alpha, s.real)


@CUBLAS.row("cublas{T}axpy_v2", ALL)
def axpy(
    s: Session, handle: Handle, n: Count, alpha: Address, x: Device, incx: Count, y: Device, incy: Count
) -> None:
    vector = s.memory.vector(y, n, incy, s.element)
    vector += s.memory.scalar(alpha, s.element) * s.memory.vector(x, n, incx, s.element)


@CUBLAS.row("cublas{T}dot_v2", REAL)
def dot(
    s: Session, handle: Handle, n: Count, x: Device, incx: Count, y: Device, incy: Count, result: Address
) -> None:
    found = product(s.memory.vector(x, n, incx, s.element), s.memory.vector(y, n, incy, s.element))
    s.memory.put(result, found, s.element)


CUBLAS.row("cublas{T}dotu_v2", COMPLEX)(dot)


@CUBLAS.row("cublas{T}dotc_v2", COMPLEX)
def dotc(
    s: Session, handle: Handle, n: Count, x: Device, incx: Count, y: Device, incy: Count, result: Address
) -> None:
    found = product(s.memory.vector(x, n, incx, s.element).conj(), s.memory.vector(y, n, incy, s.element))
    s.memory.put(result, found, s.element)


@CUBLAS.row("cublas{T}nrm2_v2", _NORMS)
def nrm2(s: Session, handle: Handle, n: Count, x: Device, incx: Count, result: Address) -> None:
    vector = s.memory.vector(x, n, incx, s.element)
    largest = np.abs(vector).max(initial=0)
    scale = largest if 0 < largest < np.inf else 1
    scaled = vector / scale
    s.memory.put(result, scale * product(scaled.conj(), scaled).real ** 0.5, s.real)


@CUBLAS.row("cublas{T}asum_v2", _NORMS)
def asum(s: Session, handle: Handle, n: Count, x: Device, incx: Count, result: Address) -> None:
    s.memory.put(result, _taxicab(s.memory.vector(x, n, incx, s.element)).sum(), s.real)


def _extreme(s: Session, n: int, x: int, incx: int, result: int, *, largest: bool) -> None:
    sizes = _taxicab(s.memory.vector(x, n, incx, s.element))
    place = 0 if n <= 0 or incx <= 0 else 1 + int((np.argmax if largest else np.argmin)(sizes))
    s.memory.put(result, place, "i4")


@CUBLAS.row("cublasI{t}amax_v2", ALL)
def amax(s: Session, handle: Handle, n: Count, x: Device, incx: Count, result: Address) -> None:
    _extreme(s, n, x, incx, result, largest=True)


@CUBLAS.row("cublasI{t}amin_v2", ALL)
def amin(s: Session, handle: Handle, n: Count, x: Device, incx: Count, result: Address) -> None:
    _extreme(s, n, x, incx, result, largest=False)


def _rotate(s: Session, n: int, x: int, incx: int, y: int, incy: int, cosine: float, sine: complex) -> None:
    one, two = s.memory.vector(x, n, incx, s.element), s.memory.vector(y, n, incy, s.element)
    one[...], two[...] = cosine * one + sine * two, cosine * two - np.conj(sine) * one


@CUBLAS.row("cublas{T}rot_v2", ALL)
def rot(
    s: Session,
    handle: Handle,
    n: Count,
    x: Device,
    incx: Count,
    y: Device,
    incy: Count,
    cosine: Address,
    sine: Address,
) -> None:
    factors = s.memory.scalar(cosine, s.real), s.memory.scalar(sine, s.element)
    _rotate(s, n, x, incx, y, incy, *factors)


@CUBLAS.row("cublas{T}rot_v2", "Cs=C Zd=Z")
def rot_real(
    s: Session,
    handle: Handle,
    n: Count,
    x: Device,
    incx: Count,
    y: Device,
    incy: Count,
    cosine: Address,
    sine: Address,
) -> None:
    _rotate(s, n, x, incx, y, incy, s.memory.scalar(cosine, s.real), s.memory.scalar(sine, s.real))


@CUBLAS.row("cublas{T}rotg_v2", REAL)
def rotg(s: Session, handle: Handle, a: Address, b: Address, cosine: Address, sine: Address) -> None:
    x, y = (float(s.memory.scalar(place, s.element)) for place in (a, b))
    sign = np.copysign(1.0, x if abs(x) > abs(y) else y)
    radius = sign * np.hypot(x, y)
    c, sn = (1.0, 0.0) if radius == 0 else (x / radius, y / radius)
    z = sn if abs(x) > abs(y) else 1 / c if c else 1.0
    for place, value in ((a, radius), (b, z if radius else 0.0), (cosine, c), (sine, sn)):
        s.memory.put(place, value, s.element)
