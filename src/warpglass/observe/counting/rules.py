"""What one warp access costs by its address vector alone, as plain Python: the definition, lane by lane.

Access patterns that are known at compile time are counted here, once; helpers.py computes the same numbers in
generated code for those that are not, and the tests hold the two together. Addresses are those of the acting
lanes by lane number, in bytes within their space; `size` is bytes per lane. Each rule returns four numbers.

Source: Nsight Compute's documentation and measurements on hardware of compute capability 7.0 and later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

Row = tuple[int, int, int, int]
Rule = Callable[[Mapping[int, int], int], Row]
NOTHING: Row = (0, 0, 0, 0)

SECTOR, LINE, WORD = 32, 128, 4  # bytes


def global_row(addresses: Mapping[int, int], size: int) -> Row:
    """Requests, distinct 32-byte sectors, distinct 128-byte lines, distinct bytes."""
    if not addresses:
        return NOTHING
    elements = set(addresses.values())
    sectors = {address // SECTOR for address in elements}
    return 1, len(sectors), len({sector * SECTOR // LINE for sector in sectors}), size * len(elements)


def shared_store_row(addresses: Mapping[int, int], size: int) -> Row:
    """Requests, wavefronts, wavefronts without any bank conflict, distinct bytes."""
    if not addresses:
        return NOTHING
    passes = [_passes(addresses, size, lanes) for lanes in _groups(size)]
    least = sum(count > 0 for count in passes)
    return 1, sum(passes), least, size * len(set(addresses.values()))


def shared_load_row(addresses: Mapping[int, int], size: int) -> Row:
    """The same for loads: 8 and 16 byte ones may fuse neighbouring groups of lanes."""
    row = shared_store_row(addresses, size)
    if size < 8 or not addresses or not (_mirrored(addresses, 1) or _mirrored(addresses, 2)):
        return row
    groups = _groups(size)
    fused = [
        _passes(addresses, size, range(one.start, two.stop))
        for one, two in zip(groups[::2], groups[1::2], strict=True)
    ]
    if max(fused) > 1:
        return row
    return 1, sum(fused), sum(fused), row[3]


def local_row(addresses: Mapping[int, int], size: int) -> Row:
    """Requests, sectors, lines, bytes: word w of lane i lies at 128 w + 4 i of the warp's local memory."""
    if not addresses:
        return NOTHING
    words = max(1, size // WORD)
    rows = {(address // WORD // words, lane) for lane, address in addresses.items()}
    sectors = {(row, lane * WORD // SECTOR) for row, lane in rows}
    return 1, words * len(sectors), words * len({row for row, _ in rows}), size * len(addresses)


def _groups(size: int) -> list[range]:
    """The lanes that are served together: all, halves for 8 bytes, quarters for 16."""
    count = max(1, size // WORD)
    return [range(start, start + 32 // count) for start in range(0, 32, 32 // count)]


def _passes(addresses: Mapping[int, int], size: int, lanes: range) -> int:
    """The most distinct words that any bank must give to these lanes."""
    words = {
        (addresses[lane] + byte) // WORD
        for lane in lanes
        if lane in addresses
        for byte in range(0, size, WORD)
    }
    return max(Counter(word % 32 for word in words).values(), default=0)


def _mirrored(addresses: Mapping[int, int], distance: int) -> bool:
    """Whether lanes at a distance (1 or 2, by exclusive or) read the same address."""
    return all(addresses.get(lane ^ distance, address) == address for lane, address in addresses.items())


RULES: dict[str, Rule] = {
    "global": global_row,
    "shared_load": shared_load_row,
    "shared_store": shared_store_row,
    "local": local_row,
}
