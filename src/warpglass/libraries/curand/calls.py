"""Generators, and what they generate: integers, uniform, normal, lognormal and Poisson numbers."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ...numba_device.calls import put, put_int
from ..frame import (
    Address,
    Context,
    Device,
    Double,
    Failed,
    Handle,
    Int,
    Int64,
    Session,
    Single,
    Size,
    UInt,
    immediate,
)
from ..memory import Array
from .library import CURAND, LENGTH_NOT_MULTIPLE, OUT_OF_RANGE, TYPE_ERROR
from .streams import PSEUDO, QUASI, Sobol, Stream, direction_vectors, pseudo

_VERSION = 10400
_SINGLE, _DOUBLE = np.dtype("f4"), np.dtype("f8")


@dataclass(eq=False)
class Generator(Context):
    """A generator with what the program has set; its stream begins when numbers are asked for."""

    kind: int = 100
    seed: int = 0
    offset: int = 0
    dimensions: int = 1
    host: bool = False
    begun: Any = None

    def words(self, s: Session, count: int) -> Array:
        """The next 32-bit numbers."""
        if self.begun is None:
            if self.kind in QUASI:
                self.begun = Sobol(s, self.kind, self.dimensions, self.offset)
            else:
                stream: Stream = pseudo(self.kind, self.seed)
                if self.offset:
                    stream.skip(self.offset)
                self.begun = stream
        return self.begun.words(count)

    def long_words(self, s: Session, count: int) -> Array:
        """Likewise 64-bit ones."""
        if self.kind in QUASI:
            return self.words(s, count).astype("u8") << np.uint64(32)
        pairs = self.words(s, 2 * count).astype("u8")
        return pairs[0::2] | pairs[1::2] << np.uint64(32)


def _create(s: Session, place: int, kind: int, *, host: bool) -> None:
    if kind not in PSEUDO and kind not in QUASI:
        raise Failed(TYPE_ERROR, f"there is no generator {kind}")
    put(place, s.add(Generator(kind=kind, host=host)))


@immediate
@CURAND.row("curandCreateGenerator")
def create(s: Session, place: Address, kind: Int) -> None:
    _create(s, place, kind, host=False)


@immediate
@CURAND.row("curandCreateGeneratorHost")
def create_host(s: Session, place: Address, kind: Int) -> None:
    _create(s, place, kind, host=True)


@immediate
@CURAND.row("curandDestroyGenerator")
def destroy(s: Session, handle: Handle) -> None:
    s.get(handle, Generator)
    s.remove(handle)


@immediate
@CURAND.row("curandGetVersion")
def version(s: Session, place: Address) -> None:
    put_int(place, _VERSION)


@immediate
@CURAND.row("curandGetProperty")
def get_property(s: Session, kind: Int, place: Address) -> None:
    put_int(place, (_VERSION // 1000, _VERSION // 100 % 10, _VERSION % 100)[kind])


@immediate
@CURAND.row("curandSetStream")
def set_stream(s: Session, handle: Handle, stream: Handle) -> None:
    s.get(handle, Generator).stream = stream


@immediate
@CURAND.row("curandSetPseudoRandomGeneratorSeed")
def set_seed(s: Session, handle: Handle, seed: Int64) -> None:
    one = s.get(handle, Generator)
    if one.kind in QUASI:
        raise Failed(TYPE_ERROR, "quasirandom generators have no seed")
    one.seed, one.begun = seed & 0xFFFFFFFFFFFFFFFF, None


@immediate
@CURAND.row("curandSetGeneratorOffset")
def set_offset(s: Session, handle: Handle, offset: Int64) -> None:
    one = s.get(handle, Generator)
    one.offset, one.begun = offset & 0xFFFFFFFFFFFFFFFF, None


@immediate
@CURAND.row("curandSetGeneratorOrdering")
def set_ordering(s: Session, handle: Handle, order: Int) -> None:
    s.get(handle, Generator).options["ordering"] = order


@immediate
@CURAND.row("curandSetQuasiRandomGeneratorDimensions")
def set_dimensions(s: Session, handle: Handle, count: UInt) -> None:
    one = s.get(handle, Generator)
    if one.kind not in QUASI:
        raise Failed(TYPE_ERROR, "only quasirandom generators have dimensions")
    if not 1 <= count <= 20000:
        raise Failed(OUT_OF_RANGE, f"{count} dimensions; there may be 1 to 20000")
    one.dimensions, one.begun = count, None


@immediate
@CURAND.row("curandGenerateSeeds")
def generate_seeds(s: Session, handle: Handle) -> None:
    s.get(handle, Generator)


@CURAND.row("curandGenerate")
def generate(s: Session, handle: Handle, place: Device, count: Size) -> None:
    s.memory.flat(place, count, "u4", written=True)[...] = s.get(handle, Generator).words(s, count)


@CURAND.row("curandGenerateLongLong")
def generate_long(s: Session, handle: Handle, place: Device, count: Size) -> None:
    one = s.get(handle, Generator)
    if QUASI.get(one.kind) == 32:
        raise Failed(TYPE_ERROR, "64-bit numbers are for generators of 64 bits")
    s.memory.flat(place, count, "u8", written=True)[...] = one.long_words(s, count)


def _uniform(s: Session, one: Generator, count: int, kind: np.dtype[Any]) -> Array:
    """Numbers above 0 and up to 1."""
    if kind == _SINGLE:
        return one.words(s, count).astype("f4") * np.float32(2**-32) + np.float32(2**-33)
    if one.kind in QUASI:
        return one.words(s, count) * 2.0**-32 + 2.0**-33
    pairs = one.words(s, 2 * count).astype("u8")
    return (pairs[0::2] ^ pairs[1::2] << np.uint64(21)) * 2.0**-53 + 2.0**-54


def _normal(s: Session, one: Generator, count: int, kind: np.dtype[Any]) -> Array:
    """Numbers of the standard normal distribution, by Box and Muller; quasirandom ones by its inverse."""
    if one.kind in QUASI:
        uniform = _uniform(s, one, count, _DOUBLE)
        return np.array([NormalDist().inv_cdf(min(x, 1 - 2**-33)) for x in uniform.tolist()], kind)
    if count % 2:
        raise Failed(LENGTH_NOT_MULTIPLE, f"{count} normal numbers: pseudorandom ones come in pairs")
    uniform = _uniform(s, one, count, kind)
    radius = np.sqrt(-2 * np.log(uniform[0::2]))
    angle = kind.type(2 * np.pi) * uniform[1::2]
    found = np.empty(count, kind)
    found[0::2], found[1::2] = radius * np.sin(angle), radius * np.cos(angle)
    return found


_KINDS = "=S Double=D"


@CURAND.row("curandGenerateUniform{T}", _KINDS)
def generate_uniform(s: Session, handle: Handle, place: Device, count: Size) -> None:
    found = _uniform(s, s.get(handle, Generator), count, s.element)
    s.memory.flat(place, count, s.element, written=True)[...] = found


def _put_normal(
    s: Session, handle: int, place: int, count: int, mean: float, deviation: float, log: bool
) -> None:
    found = _normal(s, s.get(handle, Generator), count, s.element) * s.element.type(deviation) + mean
    s.memory.flat(place, count, s.element, written=True)[...] = np.exp(found) if log else found


@CURAND.row("curandGenerateNormal")
def normal(s: Session, handle: Handle, place: Device, count: Size, mean: Single, deviation: Single) -> None:
    _put_normal(s.of("S"), handle, place, count, mean, deviation, False)


@CURAND.row("curandGenerateNormalDouble")
def normal_double(
    s: Session, handle: Handle, place: Device, count: Size, mean: Double, deviation: Double
) -> None:
    _put_normal(s.of("D"), handle, place, count, mean, deviation, False)


@CURAND.row("curandGenerateLogNormal")
def log_normal(
    s: Session, handle: Handle, place: Device, count: Size, mean: Single, deviation: Single
) -> None:
    _put_normal(s.of("S"), handle, place, count, mean, deviation, True)


@CURAND.row("curandGenerateLogNormalDouble")
def log_normal_double(
    s: Session, handle: Handle, place: Device, count: Size, mean: Double, deviation: Double
) -> None:
    _put_normal(s.of("D"), handle, place, count, mean, deviation, True)


@CURAND.row("curandGeneratePoisson")
def poisson(s: Session, handle: Handle, place: Device, count: Size, rate: Double) -> None:
    if not 0 < rate < 2**31:
        raise Failed(OUT_OF_RANGE, f"a rate of {rate}")
    seed = [int(word) for word in s.get(handle, Generator).words(s, 4)]
    found = np.random.Generator(np.random.PCG64(seed)).poisson(rate, count)
    s.memory.flat(place, count, "u4", written=True)[...] = found


_JOE_KUO = {101: 32, 103: 64}  # curandDirectionVectorSet
_vectors: dict[int, Array] = {}  # by bits; programs keep their addresses


@immediate
@CURAND.row("curandGetDirectionVectors{T}", "32 64")
def get_direction_vectors(s: Session, place: Address, kind: Int) -> None:
    bits = int(s.letter)
    if _JOE_KUO.get(kind) != bits:
        raise Failed(OUT_OF_RANGE, f"direction vectors {kind}: of {bits} bits there are the plain ones")
    if bits not in _vectors:
        _vectors[bits] = direction_vectors(s, bits)
    put(place, _vectors[bits].ctypes.data)
