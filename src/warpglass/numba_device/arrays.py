"""CUDA arrays and the objects through which kernels read and write them.

Texels of an array lie packed in memory that no pointer leads to. A texture or surface object is memory as
well: its handle is its address (isa/texture_object.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..isa.texture_object import ChannelFormat, Level, Sampler, extent_of, levels_of, pack_object
from .device import VirtualDevice
from .memory import Block
from .results import Refusal, Result

LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8  # CUDA_ARRAY3D_*
_FLAGS = LAYERED | SURFACE | CUBEMAP | GATHER | 0x20  # and a colour attachment, which no kernel notices
# CUarray_format.
FORMATS: Mapping[int, tuple[str, int]] = {
    1: ("u", 8),
    2: ("u", 16),
    3: ("u", 32),
    8: ("s", 8),
    9: ("s", 16),
    10: ("s", 32),
    16: ("f", 16),
    32: ("f", 32),
}
_WIDEST, _WIDEST_3D = 1 << 17, 1 << 14  # texels along an axis


def format_of(kind: int, channels: int) -> ChannelFormat:
    """The format of a CUarray_format and a number of channels; Refusal if there is none such."""
    if kind not in FORMATS or channels not in (1, 2, 4):
        text = f"texels of {channels} channels of format {kind}: 1, 2 or 4 of 8, 16 or 32 bits can be had"
        raise Refusal(Result.INVALID_VALUE, text)
    return ChannelFormat(*FORMATS[kind], channels)


@dataclass(frozen=True, eq=False)
class Described:
    """What an array is created with: extents in texels, 0 for those that it has not, format and flags."""

    size: tuple[int, int, int]
    kind: int  # CUarray_format
    channels: int
    flags: int = 0

    @property
    def format(self) -> ChannelFormat:
        """The format of its texels."""
        return format_of(self.kind, self.channels)

    @property
    def layers(self) -> int:
        """Layers, or cubemaps of a layered cubemap; 0 for none."""
        if not self.flags & LAYERED:
            return 0
        return self.size[2] // 6 if self.flags & CUBEMAP else self.size[2]

    @property
    def stacked(self) -> bool:
        """Whether the third extent counts images and is no depth."""
        return bool(self.flags & (LAYERED | CUBEMAP))

    def check(self) -> None:
        """Raise Refusal for what is no array."""
        width, height, depth = self.size
        _ = self.format
        wrong = (
            (width == 0, "an array needs a width"),
            (depth and not height and not self.stacked, "an array with a depth needs a height"),
            (self.flags & ~_FLAGS, f"flags {self.flags:#x}"),
            (width > _WIDEST or height > _WIDEST or depth > _WIDEST_3D, f"an array of {self.size} texels"),
            (self.flags & LAYERED and not depth, "a layered array needs layers, its depth"),
            (self.flags & CUBEMAP and width != height, "the faces of a cubemap are square"),
            (self.flags & CUBEMAP and not self.flags & LAYERED and depth != 6, "a cubemap has 6 faces"),
            (self.flags & CUBEMAP and depth % 6, "layered cubemaps have 6 faces each"),
            (
                self.flags & GATHER and (not height or (depth and not self.stacked)),
                "gathers need two dimensions",
            ),
        )
        if words := [text for bad, text in wrong if bad]:
            raise Refusal(Result.INVALID_VALUE, "; ".join(words))


@dataclass(frozen=True, eq=False)
class Array:
    """A CUDA array, or one level of a mipmapped one, in the memory of a block."""

    block: Block
    described: Described
    level: Level
    part: bool = False  # of a mipmapped array, whose memory it is

    @property
    def base(self) -> int:
        """The address of its first texel."""
        return self.block.base + self.level.offset

    @property
    def levels(self) -> tuple[Level, ...]:
        """Its only level, counted from its first texel."""
        level = self.level
        return (Level(0, level.width, level.height, level.depth, level.row, level.slice),)


@dataclass(frozen=True, eq=False)
class MipmappedArray:
    """Arrays of halving extents in one block."""

    block: Block
    described: Described
    levels: tuple[Level, ...]
    handles: list[int] = field(default_factory=list[int])  # of its levels, as arrays

    @property
    def base(self) -> int:
        """The address of its first texel."""
        return self.block.base


@dataclass(frozen=True, eq=False)
class TextureObject:
    """A texture or surface object, with the bytes of the descriptions it was created with."""

    block: Block
    resource: bytes
    texture: bytes = b""  # empty for a surface
    view: bytes = b""


def create_array(device: VirtualDevice, described: Described) -> int:
    """The handle of a new array."""
    described.check()
    levels = levels_of(described.format, described.size, layered=described.stacked)
    return device.add(Array(device.memory.allocate(extent_of(levels)), described, levels[0]))


def create_mipmapped(device: VirtualDevice, described: Described, count: int) -> int:
    """The handle of a new mipmapped array; its levels are arrays."""
    described.check()
    most = max(described.size[: 2 if described.stacked else 3]).bit_length()
    levels = levels_of(described.format, described.size, max(1, min(count, most)), layered=described.stacked)
    found = MipmappedArray(device.memory.allocate(extent_of(levels)), described, levels)
    for number, level in enumerate(levels):
        size = tuple(max(one >> number, 1) if one else 0 for one in described.size[:2])
        depth = described.size[2] if described.stacked else described.size[2] and level.depth
        own = Described((size[0], size[1], depth), described.kind, described.channels, described.flags)
        found.handles.append(device.add(Array(found.block, own, level, part=True)))
    return device.add(found)


@dataclass(frozen=True)
class Texels:
    """What an object shows: texels from an address on, their format, and how they lie."""

    base: int
    format: ChannelFormat
    levels: tuple[Level, ...]
    layers: int = 0
    extents: tuple[int, int, int] = (0, 0, 0)  # 0 for those that there are not

    @property
    def size(self) -> int:
        """Bytes from the first texel to the end of the last."""
        last = self.levels[-1]
        rows = last.row * (last.height - 1) + last.width * self.format.size
        return last.offset + last.slice * (last.depth - 1) + rows


def create_object(
    device: VirtualDevice, texels: Texels, sampler: Sampler, queries: tuple[int, int, int], **told: bytes
) -> int:
    """The handle of an object, which is its address.

    `queries` are the extents that its instructions tell, `told` the descriptions.
    """
    parts = (texels.base, texels.size, texels.format, texels.levels, sampler, texels.layers, queries)
    content = pack_object(*parts)
    block = device.memory.allocate(len(content))
    device.memory.write(block, content)
    device.add_at(block.base, TextureObject(block, **told))
    return block.base


def destroy_object(device: VirtualDevice, handle: int) -> None:
    """Free an object."""
    device.memory.release(device.remove(handle, TextureObject).block.base, ("device",))
