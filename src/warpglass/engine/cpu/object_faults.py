"""What is wrong with a texture or surface instruction that stopped a kernel, in the author's own terms."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from ...isa.texture_object import FIELD, FIELDS, LEVEL_FIELD, MAGIC
from .address_space import Placed


def explain_object(handle: int, placed: Sequence[Placed]) -> tuple[str, str]:
    """The kind of a finding and the words for it: a handle that is none, texels that are no more, or
    coordinates outside a surface."""
    home = _home(handle, 8 * len(FIELDS), placed)
    words = None if home is None else _words(home, handle)
    if words is None or words[FIELD["magic"]] != MAGIC:
        return "out-of-bounds", f"the handle {handle:#x} is no texture or surface object"
    base, size = words[FIELD["base"]], words[FIELD["bytes"]]
    if _home(base, size, placed) is None:
        return "use-after-free", f"the texels of the texture or surface object {handle:#x} are in no memory"
    width, height, depth = (words[len(FIELDS) + LEVEL_FIELD[name]] for name in ("width", "height", "depth"))
    extents = " x ".join(str(one) for one in (width, height, depth)[: 1 + (height > 1) + (depth > 1)])
    return "out-of-bounds", (
        f"coordinates outside a surface of {extents} texels of {words[FIELD['size']]} bytes (x counts bytes; "
        "boundary mode cudaBoundaryModeTrap)"
    )


def texels_of(handle: int, placed: Sequence[Placed]) -> tuple[int, int] | None:
    """The address of an object's first texel, and the bytes of each; None for what is no object's handle."""
    home = _home(handle, 8 * len(FIELDS), placed)
    if home is None or home.base != handle:
        return None
    words = _words(home, handle)
    return (words[FIELD["base"]], words[FIELD["size"]]) if words[FIELD["magic"]] == MAGIC else None


def _home(address: int, size: int, placed: Sequence[Placed]) -> Placed | None:
    """The allocation that has all of some bytes."""
    return next((one for one in placed if one.base <= address and address + size <= one.end), None)


def _words(home: Placed, handle: int) -> Sequence[int]:
    """The words at a handle, those of the first level included."""
    count = min((home.end - handle) // 8, len(FIELDS) + 6)
    return tuple((ctypes.c_uint64 * count).from_address(home.allocation.address + handle - home.base))
