"""Texture and surface objects as the engine's memory holds them: what an instruction finds at its handle.

A handle is the address of such an object: 64-bit words, which `FIELDS` numbers, and behind them the words of
every mipmap level (`LEVEL_FIELDS`). Texels lie row by row, slice by slice (of three dimensions, or a layer or a
face each), level by level. Who makes objects (the virtual driver, `warpglass.texture`) packs them here; the
meanings of texture_unit.py read them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

MAGIC = 0x5754_6578_7475_7265  # tells an object from other memory
FIELDS = (
    "magic",
    "base",  # the address of the first texel
    "bytes",  # of all texels
    "bits",  # of a channel
    "channels",  # 1, 2 or 4
    "kind",  # of a channel, KINDS
    "as_float",  # integers are read as fractions of the largest
    "srgb",
    "mode_x",  # ADDRESS_MODES
    "mode_y",
    "mode_z",
    "linear",  # texels are filtered
    "normalized",  # coordinates are fractions of the extents
    "border_0",  # single precision, or integers
    "border_1",
    "border_2",
    "border_3",
    "layers",  # 0: none
    "levels",
    "linear_levels",  # levels are mixed
    "level_bias",  # single precision
    "lowest_level",
    "highest_level",
    "anisotropy",
    "seamless",
    "data_type",  # as txq and suq give it
    "order",
)
FIELD = {name: position for position, name in enumerate(FIELDS)}
LEVEL_FIELDS = ("offset", "width", "height", "depth", "row", "slice")  # offset, row and slice in bytes
LEVEL_FIELD = {name: position for position, name in enumerate(LEVEL_FIELDS)}
UNSIGNED, SIGNED, FLOAT = range(3)
KINDS = {"u": UNSIGNED, "s": SIGNED, "f": FLOAT}
WRAP, CLAMP, MIRROR, BORDER = range(4)  # as the driver numbers them
ADDRESS_MODES = {"wrap": WRAP, "clamp": CLAMP, "mirror": MIRROR, "border": BORDER}
# What txq and suq call a channel: OpenCL's numbers, as the hardware's driver gives them.
_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}
_DATA_TYPES = {
    ("s", 8, True): 0x10D0,
    ("s", 16, True): 0x10D1,
    ("u", 8, True): 0x10D2,
    ("u", 16, True): 0x10D3,
    ("s", 8, False): 0x10D7,
    ("s", 16, False): 0x10D8,
    ("s", 32, False): 0x10D9,
    ("u", 8, False): 0x10DA,
    ("u", 16, False): 0x10DB,
    ("u", 32, False): 0x10DC,
    ("f", 16, False): 0x10DD,
    ("f", 32, False): 0x10DE,
}


@dataclass(frozen=True, slots=True)
class ChannelFormat:
    """The type of a channel, "u", "s" or "f", its bits, and how many channels a texel has."""

    kind: str
    bits: int
    channels: int

    @property
    def size(self) -> int:
        """Bytes of a texel."""
        return self.bits // 8 * self.channels


@dataclass(frozen=True, slots=True)
class Level:
    """One mipmap level: where it begins (bytes), its extents in texels, 1 for what there is not, and how far
    rows and slices are apart (bytes)."""

    offset: int
    width: int
    height: int
    depth: int
    row: int
    slice: int


@dataclass(frozen=True, slots=True)
class Sampler:
    """How a texture is read; a surface has the default."""

    address_mode: tuple[str, str, str] = ("clamp", "clamp", "clamp")
    linear: bool = False
    normalized: bool = False
    as_float: bool = False  # of 8- and 16-bit integers
    srgb: bool = False
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    linear_levels: bool = False
    level_bias: float = 0.0
    level_range: tuple[float, float] = (0.0, 0.0)
    anisotropy: int = 0
    seamless: bool = False


def levels_of(
    format_: ChannelFormat, size: Sequence[int], count: int = 1, *, layered: bool = False
) -> tuple[Level, ...]:
    """The levels of an array of width, height and depth (0 for what there is not), packed tightly."""
    found: list[Level] = []
    offset = 0
    for number in range(count):
        width, height, depth = (max(one >> number, 1) for one in size)
        depth = max(size[2], 1) if layered else depth
        row = width * format_.size
        found.append(Level(offset, width, height, depth, row, row * height))
        offset += row * height * depth
    return tuple(found)


def extent_of(levels: Sequence[Level]) -> int:
    """Bytes of all levels."""
    last = levels[-1]
    return last.offset + last.slice * last.depth


def pack_object(
    base: int,
    size: int,
    format_: ChannelFormat,
    levels: Sequence[Level],
    sampler: Sampler = Sampler(),  # noqa: B008  # frozen
    layers: int = 0,
) -> bytes:
    """An object's bytes: texels of a format in `size` bytes from an address on."""
    integer = format_.kind != "f" and not sampler.as_float
    data_type = _DATA_TYPES[format_.kind, format_.bits, sampler.as_float and format_.kind != "f"]
    modes = (ADDRESS_MODES[mode] for mode in sampler.address_mode)
    words = {
        "magic": MAGIC,
        "base": base,
        "bytes": size,
        "bits": format_.bits,
        "channels": format_.channels,
        "kind": KINDS[format_.kind],
        "as_float": int(sampler.as_float),
        "srgb": int(sampler.srgb),
        **dict(zip(("mode_x", "mode_y", "mode_z"), modes, strict=True)),
        "linear": int(sampler.linear),
        "normalized": int(sampler.normalized),
        **{f"border_{k}": _border(one, integer, format_.kind) for k, one in enumerate(sampler.border)},
        "layers": layers,
        "levels": len(levels),
        "linear_levels": int(sampler.linear_levels),
        "level_bias": _pattern(sampler.level_bias),
        "lowest_level": _pattern(sampler.level_range[0]),
        "highest_level": _pattern(sampler.level_range[1]),
        "anisotropy": sampler.anisotropy,
        "seamless": int(sampler.seamless),
        "data_type": data_type,
        "order": _ORDERS[format_.channels],
    }
    rows = [[getattr(level, name) for name in LEVEL_FIELDS] for level in levels]
    flat = [words[name] for name in FIELDS] + [word for row in rows for word in row]
    return struct.pack(f"<{len(flat)}Q", *flat)


def _pattern(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def _border(value: float, integer: bool, kind: str) -> int:
    """A border colour's word; integers take the bits of what they were given."""
    return _pattern(value)
