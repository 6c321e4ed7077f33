"""What one warp access costs by its address vector alone, as plain Python: the definition, lane by lane.

Access patterns that are known at compile time are counted here, once; helpers.py computes the same numbers in
generated code for those that are not, and the tests hold the two together. Addresses are those of the acting
lanes by lane number, in bytes within their space; `size` is bytes per lane. Each rule returns four numbers.

Source: Nsight Compute's documentation and measurements on hardware of compute capability 7.0 and later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

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
    """Ideal wavefronts, wavefronts, wavefronts without any bank conflict, distinct bytes.

    Without conflicts, each group of lanes takes one; ideally, each takes 128 bytes whatever lanes they go to.
    """
    if not addresses:
        return NOTHING
    passes = [_passes(addresses, size, lanes) for lanes in _groups(size)]
    least = sum(count > 0 for count in passes)
    return _ideal(addresses, size, sum(passes)), sum(passes), least, size * len(set(addresses.values()))


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
    waves = sum(fused) if max(fused) == 1 else row[1]
    return _ideal(addresses, size, waves), waves, sum(count > 0 for count in fused), row[3]


def local_row(addresses: Mapping[int, int], size: int) -> Row:
    """Requests, sectors, lines, distinct bytes; word w of lane i lies at 128 w + 4 i of the warp's memory.

    Each word is a request.
    """
    if not addresses:
        return NOTHING
    words = max(1, size // WORD)
    rows = {(address // WORD // words, lane) for lane, address in addresses.items()}
    sectors = {(row, lane * WORD // SECTOR) for row, lane in rows}
    distinct = len(set(addresses.values()))
    return words, words * len(sectors), words * len({row for row, _ in rows}), size * distinct


def global_atomic_row(addresses: Mapping[int, int], size: int, lanes: int = 32) -> Row:
    """As for other accesses, but in rounds: the k-th takes the k-th lane of each address.

    `lanes` of the warp are taken together: eight for exchanges of 8 bytes that compare.
    """
    if not addresses:
        return NOTHING
    rounds = Counter[tuple[int, int]]()
    sectors: set[tuple[int, ...]] = set()
    for lane, address in sorted(addresses.items()):
        group = lane // lanes
        sectors.add((group, rounds[group, address], address // SECTOR))
        rounds[group, address] += 1
    lines = {(group, number, sector * SECTOR // LINE) for group, number, sector in sectors}
    return 1, len(sectors), len(lines), size * len(set(addresses.values()))


def shared_atomic_row(addresses: Mapping[int, int], size: int, passes: int = 1) -> Row:
    """As for stores, but lanes that want the same word take turns; exchanges that compare pass twice."""
    if not addresses:
        return NOTHING
    unit = max(size, WORD)
    turns = [
        max(
            Counter(addresses[lane] // unit % len(lanes) for lane in lanes if lane in addresses).values(),
            default=0,
        )
        for lanes in _groups(size)
    ]
    least = sum(count > 0 for count in turns)
    return passes * least, passes * sum(turns), passes * least, size * len(set(addresses.values()))


def shared_tries_row(addresses: Mapping[int, int], size: int) -> Row:
    """Rounds, lanes in them, wavefronts of their loads, distinct bytes of each round.

    For operations that machine code makes of a load and an exchange, which it tries again until nobody has
    interfered: each round, one lane of every bank succeeds.
    """
    unit = max(size, WORD)
    banks = LINE // unit
    left = dict(addresses)
    rounds = lanes = wavefronts = touched = 0
    while left:
        rounds += 1
        lanes += len(left)
        touched += size * len(set(left.values()))
        words = Counter(word % banks for word in {address // unit for address in left.values()})
        wavefronts += max(words.values())
        taken: dict[int, int] = {}
        for lane, address in sorted(left.items()):
            taken.setdefault(address // unit % banks, lane)
        for lane in taken.values():
            del left[lane]
    return rounds, lanes, wavefronts, touched


def shared_matrix_row(addresses: Mapping[int, int], size: int, count: int) -> Row:
    """Matrices of eight rows of 16 bytes, one after the other: their addresses are those of as many lanes."""
    return shared_store_row({lane: a for lane, a in addresses.items() if lane < 8 * count}, size)


def _ideal(addresses: Mapping[int, int], size: int, wavefronts: int) -> int:
    """The wavefronts that as many bytes need, 128 each, if they are fewer."""
    return min(wavefronts, -(-len(addresses) * size // LINE))


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
    "shared_matrix1": partial(shared_matrix_row, count=1),
    "shared_matrix2": partial(shared_matrix_row, count=2),
    "shared_matrix4": partial(shared_matrix_row, count=4),
    "local": local_row,
    "global_atomic": global_atomic_row,
    "global_swap": partial(global_atomic_row, lanes=8),
    "shared_atomic": shared_atomic_row,
    "shared_swap": partial(shared_atomic_row, passes=2),
    "shared_tries": shared_tries_row,
}
