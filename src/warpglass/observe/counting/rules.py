"""What one access of a warp to memory costs by its addresses alone: one function for each kind of access.

This is the only implementation. Generated code calls it where a pattern shows at run time, the code generator
where it knows one. So these are native functions (observe/natives/): `a[lane]` is the address of each lane,
in bytes within its space, `mask` has a bit for each acting lane, `size` is bytes per lane, a power of two of
which addresses are multiples, `work` has SLOTS + 1 words to work in.

Lanes are compared by bitmaps while what they touch is near, as for most warps, else by a hash table. Loops go
over all lanes, whether they act or not, so that they become a few vector instructions.

Source: Nsight Compute's documentation and measurements on hardware of compute capability 7.0 and later.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from enum import IntEnum

Addresses = Sequence[int]
Work = MutableSequence[int]
Cost = tuple[int, int, int, int]

LANES = 32
SECTOR_SHIFT, LINE_SHIFT = 5, 7  # sectors of 32 bytes, lines of 128
WORD = 4  # bytes of a bank of shared memory, and of what local memory is laid out in
BITS = 64  # of a bitmap
# The first bits of a bitmap's pieces, by their length's logarithm.
STARTS = (
    *(-1, 0x5555555555555555, 0x1111111111111111, 0x0101010101010101),
    *(0x0001000100010001, 0x0000000100000001, 1),
)
SLOTS, SLOT_SHIFT = 512, 54  # of a hash table in which lanes seldom meet; leaves its bits of a product
HIGHEST = (1 << 63) - 1


class Rule(IntEnum):
    """What decides the cost of an access; choice.py says which."""

    GLOBAL = 0
    LOCAL = 1
    SHARED_LOAD = 2
    SHARED_STORE = 3
    LDMATRIX_X1 = 4
    LDMATRIX_X2 = 5
    LDMATRIX_X4 = 6
    GLOBAL_ATOMIC = 7
    GLOBAL_CAS64 = 8
    SHARED_ATOMIC = 9
    SHARED_CAS = 10
    SHARED_CAS_LOOP = 11
    GLOBAL_SEGMENTS = 12
    GLOBAL_IN_ORDER = 13

    @property
    def is_global(self) -> bool:
        """Whether it is one of global memory."""
        return self in _GLOBAL

    @property
    def period(self) -> int:
        """Bytes within which an address's place makes a difference: lines are fixed, of banks only words."""
        return 128 if self.is_global else WORD


_GLOBAL = frozenset(
    (
        *(Rule.GLOBAL, Rule.GLOBAL_ATOMIC, Rule.GLOBAL_CAS64),
        *(Rule.GLOBAL_SEGMENTS, Rule.GLOBAL_IN_ORDER),
    )
)


def cost(rule: int, a: Addresses, mask: int, size: int, work: Work) -> Cost:
    """The four numbers of an access: those of `global_cost` or `shared_cost`, or as its rule says."""
    if Rule.LDMATRIX_X1 <= rule <= Rule.LDMATRIX_X4:
        mask &= (
            1 << (8 << (rule - Rule.LDMATRIX_X1))
        ) - 1  # eight lanes have the addresses of a matrix's rows
    if mask == 0:
        return 0, 0, 0, 0
    if rule == Rule.GLOBAL:
        return global_cost(a, mask, size, work)
    if rule == Rule.LOCAL:
        return local_cost(a, mask, size, work)
    if rule == Rule.GLOBAL_ATOMIC or rule == Rule.GLOBAL_CAS64:
        return global_atomic_cost(a, mask, size, 32 if rule == Rule.GLOBAL_ATOMIC else 8, work)
    if rule == Rule.GLOBAL_SEGMENTS or rule == Rule.GLOBAL_IN_ORDER:
        return half_warps_cost(a, mask, size, rule == Rule.GLOBAL_IN_ORDER, work)
    if rule == Rule.SHARED_ATOMIC or rule == Rule.SHARED_CAS:
        return shared_atomic_cost(a, mask, size, 1 if rule == Rule.SHARED_ATOMIC else 2, work)
    if rule == Rule.SHARED_CAS_LOOP:
        return shared_cas_loop_cost(a, mask, size, work)
    return shared_cost(a, mask, size, rule == Rule.SHARED_LOAD, work)


# ---------------------------------------------------------------------------------------- the rules
def global_cost(a: Addresses, mask: int, size: int, work: Work) -> Cost:
    """Requests, distinct 32-byte sectors, distinct 128-byte lines, distinct bytes."""
    low, high = span(a, mask)
    element = unit = log2(size)
    first = low >> LINE_SHIFT << LINE_SHIFT
    if high - first >= BITS << unit:
        unit = SECTOR_SHIFT
    if high - first >= BITS << unit:
        sectors = lanes_of(firsts(a, mask, SECTOR_SHIFT, work))
        lines = lanes_of(firsts(a, mask, LINE_SHIFT, work))
    else:
        touched = bitmap(a, mask, unit, first)
        sector, line = SECTOR_SHIFT - unit, min(LINE_SHIFT - unit, 6)  # logarithms of their bits
        within = spread(touched, 0, sector)
        sectors = lanes_of(within & STARTS[sector])
        lines = lanes_of(spread(within, sector, line) & STARTS[line])
        if unit == element:
            return 1, sectors, lines, size * lanes_of(touched)
    elements = lanes_of(mask)
    if sectors < elements:
        elements = distinct(a, mask, element, low, high, work)
    return 1, sectors, lines, size * elements


def shared_cost(a: Addresses, mask: int, size: int, fuses: bool, work: Work) -> Cost:
    """Ideal wavefronts, wavefronts, wavefronts without any bank conflict, distinct bytes.

    The lanes are served in groups: all, halves for 8 bytes, quarters for 16. Without conflicts, each group
    takes one wavefront; ideally, each takes 128 bytes whatever lanes they go to. Loads of 8 and 16 bytes may
    fuse neighbouring groups, `fuses`.
    """
    low, high = span(a, mask)
    shift, banks = log2(max(size, WORD)), LANES // max(1, size // WORD)
    if size == WORD:  # the same in fewer steps: elements are words, and all lanes are one group
        if (high >> shift) - (low >> shift) < BITS:
            words = bitmap(a, mask, shift, low)
            return 1, fullest(words, banks), 1, size * lanes_of(words)
        served = firsts(a, mask, shift, work)
        return 1, busiest(a, served, shift, banks, work), 1, size * lanes_of(served)
    wavefronts, least, _ = passes(a, mask, shift, banks, banks, work)
    if fuses and size > WORD and (mirrored(a, mask, 1) or mirrored(a, mask, 2)):
        fused, least, most = passes(a, mask, shift, banks, 2 * banks, work)
        if most == 1:
            wavefronts = fused
    ideal = min(wavefronts, (lanes_of(mask) * size + 127) >> LINE_SHIFT)
    return ideal, wavefronts, least, size * distinct(a, mask, log2(size), low, high, work)


def local_cost(a: Addresses, mask: int, size: int, work: Work) -> Cost:
    """Requests, sectors, lines, distinct bytes; word w of lane i lies at 128 w + 4 i of the warp's memory.

    Each word is a request. Eight lanes share a sector where they are in the same row.
    """
    low, high = span(a, mask)
    shift, words = log2(max(size, WORD)), max(1, size // WORD)
    sectors = 0
    for start in range(0, LANES, 8):
        sectors += distinct(a, mask & (0xFF << start), shift, low, high, work)
    lines = distinct(a, mask, shift, low, high, work)
    return words, words * sectors, words * lines, size * distinct(a, mask, log2(size), low, high, work)


def global_atomic_cost(a: Addresses, mask: int, size: int, lanes: int, work: Work) -> Cost:
    """As for other accesses, but in rounds: the k-th takes the k-th lane of each address.

    `lanes` of the warp are taken together: eight for exchanges of 8 bytes that compare.
    """
    low, high = span(a, mask)
    sectors = lines = 0
    for start in range(0, LANES, lanes):
        left = mask & (((1 << lanes) - 1) << start)
        while left:
            served = firsts(a, left, 0, work)
            sectors += distinct(a, served, SECTOR_SHIFT, low, high, work)
            lines += distinct(a, served, LINE_SHIFT, low, high, work)
            left &= ~served
    return 1, sectors, lines, size * distinct(a, mask, log2(size), low, high, work)


def shared_atomic_cost(a: Addresses, mask: int, size: int, times: int, work: Work) -> Cost:
    """As for stores, but lanes that want the same word take turns; exchanges that compare pass twice."""
    shift, banks = log2(max(size, WORD)), LANES // max(1, size // WORD)
    low, high = span(a, mask)
    turns = least = 0
    for start in range(0, LANES, banks):
        group = mask & (((1 << banks) - 1) << start)
        turns += busiest(a, group, shift, banks, work)
        least += group != 0
    elements = distinct(a, mask, log2(size), low, high, work)
    return times * least, times * turns, times * least, size * elements


def shared_cas_loop_cost(a: Addresses, mask: int, size: int, work: Work) -> Cost:
    """Rounds, lanes in them, wavefronts of their loads, distinct bytes of each round.

    For operations that machine code makes of a load and an exchange that compares, which it tries again until
    nobody has interfered: each round, one lane of every bank succeeds.
    """
    shift, banks = log2(max(size, WORD)), LANES // max(1, size // WORD)
    low, high = span(a, mask)
    rounds = lanes = wavefronts = elements = 0
    left = mask
    while left:
        rounds += 1
        lanes += lanes_of(left)
        wavefronts += wavefronts_of(a, left, shift, banks, work)
        elements += distinct(a, left, log2(size), low, high, work)
        left &= ~first_of_banks(a, left, shift, banks)
    return rounds, lanes, wavefronts, size * elements


def half_warps_cost(a: Addresses, mask: int, size: int, strict: bool, work: Work) -> Cost:
    """Of GPUs before 2.0: requests, 32-byte parts of transactions, transactions, distinct bytes.

    Each half-warp has transactions of its own: of 1.2 and 1.3 by segments, of older ones, `strict`, in one
    piece where its threads have the words of an aligned segment in their order, else one for each thread.
    """
    low, high = span(a, mask)
    sectors = transactions = 0
    for start in range(0, LANES, 16):
        left = mask & (0xFFFF << start)
        if strict and left != 0:
            whole = in_order(a, left, start, size)
            sectors += (size * 16) >> SECTOR_SHIFT if whole else lanes_of(left)
            transactions += max(1, (size * 16) >> LINE_SHIFT) if whole else lanes_of(left)
            left = 0
        while left:
            parts, served = segment(a, left, size)
            sectors, transactions = sectors + parts, transactions + 1
            left &= ~served
    return 1, sectors, transactions, size * distinct(a, mask, log2(size), low, high, work)


def in_order(a: Addresses, mask: int, start: int, size: int) -> int:
    """Whether thread k of the half-warp from `start` on has word k of an aligned segment."""
    base, same = HIGHEST, 1
    for lane in range(LANES):
        own = a[lane] - (lane - start) * size
        if (mask >> lane) & 1:
            base = own if base == HIGHEST else base
            if own != base:
                same = 0
    return same & (base & (min(16 * size, 128) - 1) == 0) & (size >= WORD)


def segment(a: Addresses, mask: int, size: int) -> tuple[int, int]:
    """The 32-byte parts that are moved of the first lane's segment, and the lanes that it serves.

    Segments have 32 bytes for bytes, 64 for pairs of them, 128 for larger words; halves and quarters that
    nobody wants are not moved.
    """
    shift = SECTOR_SHIFT + min(2, log2(size))
    number = HIGHEST
    served = touched = 0
    for lane in range(LANES):
        if (mask >> lane) & 1:
            number = a[lane] >> shift if number == HIGHEST else number
            if a[lane] >> shift == number:
                served |= 1 << lane
                touched |= 1 << ((a[lane] >> SECTOR_SHIFT) & 3)
    if touched & (touched - 1) == 0:
        return 1, served
    return 2 if touched & 3 == 0 or touched & 12 == 0 else 4, served


# ---------------------------------------------------------------------------------------- of shared memory
def passes(a: Addresses, mask: int, shift: int, banks: int, lanes: int, work: Work) -> tuple[int, int, int]:
    """Wavefronts of groups of so many lanes: their sum, how many groups act, and the most of a group."""
    total = acting = most = 0
    for start in range(0, LANES, lanes):
        group = mask & (((1 << lanes) - 1) << start)
        if group != 0:
            own = wavefronts_of(a, group, shift, banks, work)
            total, acting, most = total + own, acting + 1, max(most, own)
    return total, acting, most


def wavefronts_of(a: Addresses, mask: int, shift: int, banks: int, work: Work) -> int:
    """The most distinct words that any bank must give to these lanes, of which there is one at least."""
    low, high = span(a, mask)
    if (high >> shift) - (low >> shift) < banks:
        return 1
    if (high >> shift) - (low >> shift) < BITS:
        return fullest(bitmap(a, mask, shift, low), banks)
    return busiest(a, firsts(a, mask, shift, work), shift, banks, work)


def fullest(words: int, banks: int) -> int:
    """The most words of a bitmap that any bank has."""
    most = own = 0
    for start in range(0, BITS, banks):
        own |= 1 << start
    for bank in range(banks):
        most = max(most, lanes_of((words >> bank) & own))
    return most


def busiest(a: Addresses, mask: int, shift: int, banks: int, work: Work) -> int:
    """The most lanes that want the same bank."""
    for bank in range(LANES):
        work[bank] = 0
    for lane in range(LANES):
        work[(a[lane] >> shift) & (banks - 1)] += (mask >> lane) & 1
    most = 0
    for bank in range(LANES):
        most = max(most, work[bank])
    return most


def first_of_banks(a: Addresses, mask: int, shift: int, banks: int) -> int:
    """The lanes whose bank no lower one wants."""
    found = met = 0
    for lane in range(LANES):
        bit = ((mask >> lane) & 1) << ((a[lane] >> shift) & (banks - 1))
        found |= (bit & ~met != 0) << lane
        met |= bit
    return found


def mirrored(a: Addresses, mask: int, distance: int) -> int:
    """Whether lanes at a distance (1 or 2, by exclusive or) read the same address."""
    same = 1
    for lane in range(LANES):
        other = lane ^ distance
        if (mask >> lane) & (mask >> other) & 1 and a[lane] != a[other]:
            same = 0
    return same


# ---------------------------------------------------------------------------------------- sets of lanes
def distinct(a: Addresses, mask: int, shift: int, low: int, high: int, work: Work) -> int:
    """How many different values the lanes have, whose addresses are not below `low` nor above `high`."""
    if (high >> shift) - (low >> shift) < BITS:
        return lanes_of(bitmap(a, mask, shift, low))
    return lanes_of(firsts(a, mask, shift, work))


def bitmap(a: Addresses, mask: int, shift: int, low: int) -> int:
    """The values of the lanes, the one of `low` as bit 0."""
    found, start = 0, low >> shift
    for lane in range(LANES):
        found |= ((mask >> lane) & 1) << (((a[lane] >> shift) - start) & (BITS - 1))
    return found


def spread(bits: int, start: int, end: int) -> int:
    """The bitmap whose pieces of 2**end bits say by their first if any is set, from that for 2**start."""
    for k in range(start, end):
        bits |= (bits >> (1 << k)) & (HIGHEST >> ((1 << k) - 1))
    return bits


def firsts(a: Addresses, mask: int, shift: int, work: Work) -> int:
    """The lanes whose value no lower one has.

    The lowest lane of each place of a hash table tells those of its value, which are done; others go on with
    another hash.
    """
    found, factor = 0, 0x1E3779B97F4A7C15
    while mask:
        for lane in range(LANES - 1, -1, -1):
            slot = (((a[lane] >> shift) * factor) >> SLOT_SHIFT) & (SLOTS - 1)
            work[slot if (mask >> lane) & 1 else SLOTS] = lane
        left = 0
        for lane in range(LANES):
            slot = (((a[lane] >> shift) * factor) >> SLOT_SHIFT) & (SLOTS - 1)
            acts, winner = (mask >> lane) & 1, work[slot] & (LANES - 1)
            found |= (acts & (winner == lane)) << lane
            left |= (acts & (a[winner] >> shift != a[lane] >> shift)) << lane
        mask, factor = left, factor * 5
    return found


def span(a: Addresses, mask: int) -> tuple[int, int]:
    """The least and the greatest address of lanes that act."""
    low, high = HIGHEST, 0
    for lane in range(LANES):
        address = a[lane]
        if (mask >> lane) & 1:
            low, high = min(low, address), max(high, address)
    return low, high


def log2(size: int) -> int:
    """Of a power of two."""
    return lanes_of(size - 1)


def lanes_of(mask: int) -> int:
    """How many bits of 64 are set: LLVM knows this way of counting them, and takes one instruction."""
    pairs = mask - ((mask >> 1) & 0x5555555555555555)
    fours = (pairs & 0x3333333333333333) + ((pairs >> 2) & 0x3333333333333333)
    bytes_ = (fours + (fours >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((bytes_ * 0x0101010101010101) >> 56) & 0xFF
