"""Lines of shadow memory: one word for 32 places, a palette, or a stamp for each (words: see layout.py).

A line gets a palette when a place of it gets a stamp that the others do not have, and 32 stamps when the
palette is full or when lanes of one instruction are scattered over lines (fast_path/scattered.py). Those stay
where they are.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import ask, load, load_byte, store, store_byte
from ..native import exported, native
from ..recorder import set_word, word

_STAMP = 8  # bytes
_EVERY_BYTE = 0x0101010101010101
_FIRST_LANES = 0x2726252423222120  # lanes 0 to 7 with the first stamp of a palette
_NEGATIVE = -1 << 63
_LOW_BITS = 0x7F7F7F7F7F7F7F7F
_GATHERED = 0x0102040810204080  # times a bit in each byte: these bits side by side in the highest byte


@native
def line_of(region, which, place):
    """The address of the word of a place's line."""
    return load(region + 8 * which) + ((place >> layout.LINE_SHIFT) << 3)


@native
def _lane_of_whole(line, number):
    """The lane that a whole line's stamp gives one of its places."""
    code = (line >> layout.LANE_SHIFT) & (layout.LANES - 1)
    log = 0
    while code >> (log + 1) != 0:
        log += 1
    return ((code - (1 << log)) * layout.LINE + number) >> log


@native
def _stamp_in(line, number):
    """What a line's word says of one of its places."""
    if line > 0:
        return (line & ~layout.LANE_MASK) | _lane_of_whole(line, number) << layout.LANE_SHIFT
    if line == 0:
        return 0
    room = line & layout.ADDRESS_MASK
    if line & layout.PALETTE == 0:
        return load(room + _STAMP * number)
    byte = load_byte(room + layout.ENTRY_BYTES + number)
    if byte == 0:
        return 0
    return load(room + 8 * (byte >> layout.ENTRY_SHIFT)) | (byte & (layout.LANES - 1)) << layout.LANE_SHIFT


@native
def stamp_at(region, which, place):
    """A place's stamp."""
    line = load(line_of(region, which, place))
    return 0 if line == 0 else _stamp_in(line, place & (layout.LINE - 1))


@native
def places_in(line):
    """A bit for each place that has a stamp, by the word of its line."""
    if line >= 0:
        return 0 if line == 0 else (1 << layout.LINE) - 1
    room, places = line & layout.ADDRESS_MASK, 0
    if line & layout.PALETTE == 0:
        for number in range(layout.LINE):
            places |= (load(room + _STAMP * number) != 0) << number
        return places
    for number in range(0, layout.LINE, 8):
        bytes_ = load(room + layout.ENTRY_BYTES + number)
        some = (((bytes_ & _LOW_BITS) + _LOW_BITS) | bytes_) & ~_LOW_BITS  # the highest bit of each byte
        places |= ((((some >> 7) & _EVERY_BYTE) * _GATHERED >> 56) & 255) << number
    return places


@native
def take(S, size):
    """Memory for stamps: so many bytes."""
    room = word(S, layout.ROOM)
    if room + size > word(S, layout.ROOM_END):
        ask(word(S, layout.FETCH), S, 0, 0)
        room = word(S, layout.ROOM)
    set_word(S, layout.ROOM, room + size)
    return room


@native
def spread(S, at):
    """Give each place of the line whose word is at an address a stamp of its own; returns where they are."""
    line = load(at)
    if line < 0 and line & layout.PALETTE == 0:
        return line & layout.ADDRESS_MASK
    room = take(S, layout.LINE * _STAMP)
    for number in range(layout.LINE):
        store(room + _STAMP * number, _stamp_in(line, number))
    store(at, room | _NEGATIVE)
    if line < 0:
        store(line & layout.ADDRESS_MASK, word(S, layout.SPARE))
        set_word(S, layout.SPARE, line & layout.ADDRESS_MASK)
    return room


@native
def _fill(room, line):
    """The bytes of a palette's places, eight at a time where they are nobody's or a lane's each."""
    if line == 0 or line & layout.LANE_MASK == layout.EACH_LANE << layout.LANE_SHIFT:
        for step in range(0, layout.LINE, 8):
            store(room + step, 0 if line == 0 else _FIRST_LANES + step * _EVERY_BYTE)
    else:
        for number in range(layout.LINE):
            store_byte(room + number, 1 << layout.ENTRY_SHIFT | _lane_of_whole(line, number))


@exported
def mix(S, at):
    """Give the line whose word is at an address a palette with a number left, or 32 stamps."""
    line = load(at)
    if line >= 0:
        room = word(S, layout.SPARE)
        if room != 0:
            set_word(S, layout.SPARE, load(room))
        else:
            room = take(S, layout.PALETTE_BYTES)
        for entry in range(layout.ENTRIES):
            store(room + 8 * entry, 0)
        store(room, 1 if line == 0 else 2)
        store(room + 8, line & ~layout.LANE_MASK)
        _fill(room + layout.ENTRY_BYTES, line)
        store(at, room | _NEGATIVE | layout.PALETTE)
    elif line & layout.PALETTE != 0 and load(line & layout.ADDRESS_MASK) == layout.ENTRIES:
        _drop_unused(line & layout.ADDRESS_MASK)
        if load(line & layout.ADDRESS_MASK) == layout.ENTRIES:
            spread(S, at)


@native
def _drop_unused(room):
    """Leave those stamps in a palette that places have, in their order."""
    used = 0
    for number in range(layout.LINE):
        used |= 1 << (load_byte(room + layout.ENTRY_BYTES + number) >> layout.ENTRY_SHIFT)
    count = 1
    for entry in range(1, layout.ENTRIES):
        if (used >> entry) & 1 == 0:
            continue
        if entry != count:
            store(room + 8 * count, load(room + 8 * entry))
            for number in range(layout.LINE):
                byte = load_byte(room + layout.ENTRY_BYTES + number)
                if byte >> layout.ENTRY_SHIFT == entry:
                    store_byte(
                        room + layout.ENTRY_BYTES + number,
                        count << layout.ENTRY_SHIFT | byte & (layout.LANES - 1),
                    )
        count += 1
    for entry in range(count, layout.ENTRIES):
        store(room + 8 * entry, 0)
    store(room, count)


@native
def where(S, region, which, place):
    """The address of a place's stamp, which is its own from now on."""
    return spread(S, line_of(region, which, place)) + _STAMP * (place & (layout.LINE - 1))


@native
def _entry_of(line, bare):
    """The number of a stamp in the palette of a line's word, 0 if it has none or not that one."""
    if line >= 0 or line & layout.PALETTE == 0:
        return 0
    room = line & layout.ADDRESS_MASK
    entry = load(room) - 1
    while entry > 0 and load(room + 8 * entry) != bare:
        entry -= 1
    return entry


@native
def _put(S, at, number, stamp):
    bare = stamp & ~layout.LANE_MASK
    entry = _entry_of(load(at), bare)
    if entry == 0:
        mix(S, at)
    line = load(at)
    room = line & layout.ADDRESS_MASK
    if line & layout.PALETTE == 0:
        store(room + _STAMP * number, stamp)
        return
    if stamp == 0:
        store_byte(room + layout.ENTRY_BYTES + number, 0)
        return
    if entry == 0:
        entry = load(room)
        store(room + 8 * entry, bare)
        store(room, entry + 1)
    store_byte(
        room + layout.ENTRY_BYTES + number,
        entry << layout.ENTRY_SHIFT | (stamp >> layout.LANE_SHIFT) & (layout.LANES - 1),
    )


@native
def put(S, region, which, place, stamp):
    """Set a place's stamp."""
    if stamp_at(region, which, place) != stamp:
        _put(S, line_of(region, which, place), place & (layout.LINE - 1), stamp)


@native
def forget_line(S, at):
    """Empty the line whose word is at an address."""
    line = load(at)
    store(at, 0)
    if line < 0 and line & layout.PALETTE != 0:
        store(line & layout.ADDRESS_MASK, word(S, layout.SPARE))
        set_word(S, layout.SPARE, line & layout.ADDRESS_MASK)


@exported
def spread_line(S, at):
    """`spread` for generated code."""
    spread(S, at)


@exported
def spread_lanes(S, mask, words):
    """`spread` the lines of the lanes of a mask; `words` has the address of each one's word."""
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 != 0:
            spread(S, load(words + 8 * lane))
