"""What textures are asked, on a GPU and on the engine: a `Case` is a question, rows of words are its answer.

Inputs come from a hash of the case's name, so that they are the same everywhere.
"""

from __future__ import annotations

import ctypes
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import driver as d

Array = np.ndarray[Any, Any]


def words(name: str, count: int) -> Array:
    """32-bit words from a name."""
    seed = zlib.crc32(name.encode())
    with np.errstate(over="ignore"):
        z = (np.arange(count, dtype=np.uint64) + np.uint64(seed << 20)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(32)).astype(np.uint32)


def uniform(name: str, count: int, low: float = 0.0, high: float = 1.0) -> Array:
    """Numbers of single precision."""
    return (low + words(name, count) / 2.0**32 * (high - low)).astype(np.float32)


# Geometry: axes of the array, what tex is called for it, whether a layer comes first.
GEOMETRIES = {
    "1d": (1, False),
    "2d": (2, False),
    "3d": (3, False),
    "a1d": (1, True),
    "a2d": (2, True),
    "cube": (3, False),
    "acube": (3, True),
}


@dataclass(frozen=True)
class Case:
    """One texture, one instruction, and coordinates."""

    name: str
    geometry: str = "2d"
    kind: str = "f32"
    channels: int = 1
    size: tuple[int, int, int] = (19, 13, 0)
    modes: tuple[str, ...] = ("clamp", "clamp", "clamp")
    linear: bool = False
    flags: int = 0
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    instruction: str = ""  # what follows the opcode's geometry; plain tex if empty
    coordinates: str = "mixed"
    count: int = 256
    resource: str = "array"
    levels: int = 1
    mipmap: tuple[bool, float, float, float] = (False, 0.0, 0.0, 0.0)
    texels: str = "random"
    anisotropy: int = 0
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def normalized(self) -> bool:
        return bool(self.flags & d.NORMALIZED)


def texels_of(case: Case, level: int = 0) -> Array:
    """The texels, [depth or layers][height][width][channel]."""
    width, height, depth = (max(one >> level, 1) if one else 0 for one in case.size)
    if GEOMETRIES[case.geometry][1] or case.geometry == "cube":
        depth = case.size[2]
    shape = (max(depth, 1), max(height, 1), max(width, 1), case.channels)
    count = int(np.prod(shape))
    dtype = np.dtype(d.FORMATS[case.kind][1])
    if case.texels == "index":
        return np.arange(count).reshape(shape).astype(dtype)
    if case.texels.startswith("corner"):  # channel k is 1 at one of the eight corners of a cube of two
        found = np.zeros((8, 4), dtype)
        found[np.arange(4) + 4 * int(case.texels[-1]), np.arange(4)] = 1
        return found.reshape(shape)
    if case.texels == "step":
        return (np.arange(count) % 2).reshape(shape).astype(dtype)
    raw = words(f"{case.texels}{level}{case.kind}{shape}", count)
    if dtype.kind == "f":
        exponent = (raw % 5).astype(np.float64) - 2 if case.texels == "random" else 0.0
        value = (raw / 2.0**31 - 1) * 2.0**exponent
        return value.astype(dtype).reshape(shape)
    return (
        raw.astype(np.uint32).astype(dtype).reshape(shape)
        if dtype.itemsize == 4
        else ((raw >> np.uint32(7)).astype(dtype).reshape(shape))
    )


SPECIAL = np.array(
    [
        *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e10, -1e10, 3e38, -3e38, 2.0**31, -(2.0**31)),
        *(
            2.0**23 + 1,
            2.0**24,
            65536.0,
            -65536.0,
            32768.5,
            1e-8,
            -1e-8,
            0.5,
            1.0,
            1 - 2.0**-24,
            1 + 2.0**-23,
        ),
        *(0.99609375, 0.998046875, 0.001953125, 0.0009765625, -0.001953125, 2.0, -1.0, 127.99999, 3.4999998),
    ],
    np.float32,
)


def axis_of(case: Case, axis: int, extent: int) -> Array:
    """Coordinates along one axis."""
    name, count = f"{case.name}/{axis}", case.count
    scale = np.float32(extent)
    if case.coordinates == "sweep":  # fine steps between two texels
        low, high = case.more.get("span", (1.0, 3.0))
        found = (low + np.arange(count) * ((high - low) / count)).astype(np.float32)
        return (found / scale).astype(np.float32) if case.normalized else found
    if case.coordinates == "middle":
        return uniform(f"corners/{axis}", count, 0.5, 1.5)
    if case.coordinates == "inside":
        return uniform(name, count, 0, 1 if case.normalized else extent)
    wide = uniform(name, count, -1.6, 2.6) * scale
    kind = words(name + "k", count) % np.uint32(8)
    whole = np.floor(wide)
    near = (
        whole
        + (words(name + "n", count) % np.uint32(513)).astype(np.float32) / np.float32(256)
        - np.float32(1)
    )
    edge = np.nextafter(whole, np.where(words(name + "e", count) & 1, np.inf, -np.inf).astype(np.float32))
    found = np.where(kind < 4, wide, np.where(kind < 5, whole, np.where(kind < 6, near, edge))).astype(
        np.float32
    )
    if case.normalized:
        found = (found / scale).astype(np.float32)
    number = words(name + "s", count)
    special = (kind == 7) & (number % np.uint32(3) == 0)
    return np.where(special, SPECIAL[number % np.uint32(len(SPECIAL))], found).astype(np.float32)


def inputs_of(case: Case) -> Array:
    """Rows of eight words: layer or first coordinate first; further operands follow."""
    axes, layered = GEOMETRIES[case.geometry]
    rows = np.zeros((case.count, d.ROW), np.uint32)
    place = 0
    if layered:
        layer = (words(case.name + "layer", case.count) % np.uint32(9)).astype(np.int64) - 2
        rows[:, 0] = layer.astype(np.int32).view(np.uint32)
        place = 1
    for axis in range(axes):
        if case.coordinates == "integers":
            extent = case.size[axis]
            values = (words(f"{case.name}/{axis}", case.count) % np.uint32(extent + 6)).astype(np.int32) - 3
            rows[:, place] = values.view(np.uint32)
        elif "cube" in case.geometry:
            raw = uniform(f"{case.name}/{axis}", case.count, -1, 1)
            ties = words(case.name + "t", case.count) % np.uint32(8) == 0
            rows[:, place] = np.where(ties, np.round(raw), raw).astype(np.float32).view(np.uint32)
        else:
            rows[:, place] = axis_of(case, axis, case.size[axis]).view(np.uint32)
        place += 1
    if ".level" in case.instruction:
        rows[:, place] = uniform(case.name + "lod", case.count, -1.5, case.levels + 1).view(np.uint32)
    if ".grad" in case.instruction:
        for k in range(2 * axes):
            small = uniform(f"{case.name}grad{k}", case.count, -1, 1)
            power = (words(f"{case.name}power{k}", case.count) % np.uint32(5)).astype(
                np.float32
            ) - np.float32(3)
            scale = 1 if not case.normalized else 1 / case.size[k % axes]
            rows[:, place + k] = (small * np.exp2(power) * scale).astype(np.float32).view(np.uint32)
    return rows


def instruction_of(case: Case) -> str:
    """The PTX of a case."""
    axes, layered = GEOMETRIES[case.geometry]
    names = [f"%a{k}" for k in range(axes + layered)]
    after = axes + layered
    if case.instruction.startswith(("txq", "suq")):
        return f"{case.instruction} %r0, [%obj];"
    padded = [*names, *[names[-1]] * ((4 if len(names) == 3 else len(names)) - len(names))]
    coordinates = padded[0] if len(padded) == 1 else "{" + ", ".join(padded) + "}"
    results = "{%r0, %r1, %r2, %r3}"
    if case.instruction.startswith("tld4"):
        return f"{case.instruction}.{case.geometry}.v4.f32.f32 {results}, [%obj, {coordinates}];"
    of = "s32" if case.coordinates == "integers" else "f32"
    result = {"u": "u32", "s": "s32", "f": "f32"}[case.kind[0]] if case.flags & d.AS_INTEGER else "f32"
    more = ""
    if ".level" in case.instruction:
        more = f", %a{after}"
    if ".grad" in case.instruction:
        parts = [[f"%a{after + g * axes + k}" for k in range(axes)] for g in range(2)]
        texts = [(*one, one[-1]) if axes == 3 else one for one in parts]
        more = "".join(f", {{{', '.join(one)}}}" for one in texts)
    return f"tex{case.instruction}.{case.geometry}.v4.{result}.{of} {results}, [%obj, {coordinates}]{more};"


def object_of(case: Case) -> int:
    """The case's texture object."""
    resource = d.ResourceDescriptor()
    values = texels_of(case)
    kind, channels = d.FORMATS[case.kind][0], case.channels
    if case.resource == "linear":
        resource.type = 2
        resource.of.linear = d._Linear(d.put(values), kind, channels, values.nbytes, 0, 0)
    elif case.resource == "pitch2D":
        width, height = case.size[:2]
        row = width * channels * values.itemsize
        pitch = -(-row // 512) * 512
        padded = np.zeros((height, pitch), np.uint8)
        padded[:, :row] = values.view(np.uint8).reshape(height, row)
        resource.type = 3
        resource.of.linear = d._Linear(d.put(padded), kind, channels, width, height, pitch)
    else:
        flags = d.LAYERED * GEOMETRIES[case.geometry][1] | d.CUBEMAP * ("cube" in case.geometry)
        flags |= d.GATHER * case.instruction.startswith("tld4") | case.more.get("array_flags", 0)
        if case.levels > 1:
            levels = [texels_of(case, level) for level in range(case.levels)]
            resource.type = 1
            resource.of.array = d.mipmapped(levels, case.kind, case.size, flags)
        else:
            resource.type = 0
            resource.of.array = d.array_of(values, case.kind, case.size, flags)
    description = d.TextureDescriptor(
        address_mode=(ctypes.c_int * 3)(*(d.MODES[mode] for mode in case.modes)),
        filter_mode=int(case.linear),
        flags=case.flags,
        max_anisotropy=case.anisotropy,
        mipmap_filter_mode=int(case.mipmap[0]),
        mipmap_level_bias=case.mipmap[1],
        min_mipmap_level=case.mipmap[2],
        max_mipmap_level=case.mipmap[3],
        border=(ctypes.c_float * 4)(*case.border),
    )
    return d.texture(resource, description)


def ask(case: Case) -> Array:
    """What the device answers."""
    return d.run(instruction_of(case), object_of(case), inputs_of(case))
