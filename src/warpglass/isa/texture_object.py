"""Texture and surface objects as the engine's memory holds them: what an instruction finds at its handle.

A handle is the address of such an object: 64-bit words, which `FIELDS` numbers, and behind them the words of
every mipmap level (`LEVEL_FIELDS`). Texels lie row by row, slice by slice (of three dimensions, or a layer
or a face each), level by level. Who makes objects (the virtual driver) packs them here;
the meanings of texture_unit.py read them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

MAGIC = 0x5754_6578_7475_7265  # tells an object from other memory
FIELDS = (
    "magic",
    "base",  # the address of the first texel
    "bytes",  # of all texels
    "bits",  # of a channel
    "channels",  # 1, 2 or 4
    "size",  # bytes of a texel
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
    "mixed_border_0",  # as filters take it
    "mixed_border_1",
    "mixed_border_2",
    "mixed_border_3",
    "layers",  # 0: none
    "layered",
    "in_memory",  # texels are the program's own, one behind the other
    "levels",
    "linear_levels",  # levels are mixed
    "level_bias",  # single precision
    "lowest_level",
    "highest_level",
    "anisotropy",
    "seamless",
    "query_width",  # what txq, or suq of a surface, answers: the number of layers follows the extents
    "query_height",
    "query_depth",
)
FIELD = {name: position for position, name in enumerate(FIELDS)}
LEVEL_FIELDS = ("offset", "width", "height", "depth", "row", "slice")  # offset, row and slice in bytes
LEVEL_FIELD = {name: position for position, name in enumerate(LEVEL_FIELDS)}
UNSIGNED, SIGNED, FLOAT = range(3)
KINDS = {"u": UNSIGNED, "s": SIGNED, "f": FLOAT}
WRAP, CLAMP, MIRROR, BORDER = range(4)  # as the driver numbers them
ADDRESS_MODES = {"wrap": WRAP, "clamp": CLAMP, "mirror": MIRROR, "border": BORDER}


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
    in_memory: bool = False  # linear memory, of which whole coordinates number the texels


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
    sampler: Sampler,
    layers: int = 0,
    queries: tuple[int, int, int] = (0, 0, 0),
) -> bytes:
    """An object's bytes: texels of a format in `size` bytes from an address on.

    `queries` are the extents that the object's own instructions tell.
    """
    borders = [_border(one, format_, as_float=sampler.as_float) for one in sampler.border]
    modes = (ADDRESS_MODES[mode] for mode in sampler.address_mode)
    words = {
        "magic": MAGIC,
        "base": base,
        "bytes": size,
        "bits": format_.bits,
        "channels": format_.channels,
        "size": format_.size,
        "kind": KINDS[format_.kind],
        "as_float": int(sampler.as_float),
        "srgb": int(sampler.srgb),
        **dict(zip(("mode_x", "mode_y", "mode_z"), modes, strict=True)),
        "linear": int(sampler.linear),
        "normalized": int(sampler.normalized),
        **{f"border_{k}": one for k, (one, _) in enumerate(borders)},
        **{f"mixed_border_{k}": one for k, (_, one) in enumerate(borders)},
        "layers": layers,
        "layered": int(layers > 0),
        "in_memory": int(sampler.in_memory),
        "levels": len(levels),
        "linear_levels": int(sampler.linear_levels),
        "level_bias": _pattern(sampler.level_bias),
        "lowest_level": _pattern(sampler.level_range[0]),
        "highest_level": _pattern(sampler.level_range[1]),
        "anisotropy": sampler.anisotropy,
        "seamless": int(sampler.seamless),
        **dict(zip(("query_width", "query_height", "query_depth"), queries, strict=True)),
    }
    rows = [[getattr(level, name) for name in LEVEL_FIELDS] for level in levels]
    flat = [words[name] for name in FIELDS] + [word for row in rows for word in row]
    return struct.pack(f"<{len(flat)}Q", *flat)


def _pattern(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def _border(value: float, format_: ChannelFormat, *, as_float: bool) -> tuple[int, int]:
    """A border colour as an instruction gives it, and as filters take it: brought into the format first.

    Integers take its lowest bits.
    """
    bits, signed = format_.bits, format_.kind == "s"
    if format_.kind == "f" or bits == 32:
        return _pattern(value), _pattern(value)
    if not as_float:
        low = _pattern(value) & ((1 << bits) - 1)
        return (low - (1 << bits) if signed and low >> (bits - 1) else low) & 0xFFFFFFFF, 0
    most = (1 << (bits - signed)) - 1
    whole = floor(min(max(value, -1.0 if signed else 0.0), 1.0) * most + 0.5)
    return _pattern(whole / most), fraction_of_16(whole, bits, signed=signed) & 0xFFFFFFFF


def fraction_of_16(value: int, bits: int, *, signed: bool) -> int:
    """A fraction of 8 or 16 bits in 16, as filters take it: its bits repeated."""
    if bits == 16:
        return max(value, -0x7FFF)
    if not signed:
        return value * 0x101
    repeated = abs(value) * 0x102 + abs(value) // 64
    return -repeated if value < 0 else repeated
