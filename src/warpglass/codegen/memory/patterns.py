"""Accesses whose addresses follow a pattern that is known at compile time.

A uniform address is one scalar access. Affine addresses are checked as one interval; contiguous ones become
one (masked) vector access, other patterns within a small span one wide access and a shuffle, the rest a
gather.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...isa.types import BITS
from ..builder import constant_vector, vector
from ..context import SHARED_WINDOW
from ..machine.target import masks_bytes
from ..values.value import Offsets, Value, replace, signed
from .gather_scatter import irregular_name
from .indexed import IndexedAccess
from .prefetch import emit_prefetch
from .segments import (
    Segment,
    elements_of_a_register,
    find_segments,
    find_singles,
    load_each,
    load_segments,
    store_each,
    store_segments,
    worth_it,
)
from .sites import Bounds
from .streaming import RunType, fills_lines, load_run, store_streaming
from .tile_loads import TileLoads

# The widest access that a static pattern is served with: in elements a lane, in bytes if it is a load, and in
# bytes if it is a store of any of a register's bytes.
SPAN, _BYTES, _STORED = 4, 32, 16
# Distances, in bytes, of which two add up to one that 32 bits hold.
_NEAR = 1 << 29


class Patterns(TileLoads, IndexedAccess):
    """Emits accesses of every form."""

    # ------------------------------------------------------------------------------------ uniform
    def load_uniform(self, site: int, address: str, type_: str, count: int, mask: str) -> list[str]:
        """Scalars from one address for all lanes."""
        b, address = self.builder, self._placed(address)
        size = BITS[type_] // 8
        bad, bounds = self._check_interval(site, address, 1)

        def elements(first: str) -> list[str]:
            return [b.load(type_, b.offset(first, k * size), ", align 1") for k in range(count)]

        def careful() -> tuple[list[str], str]:
            label = self._serve(site, self._splat_address(address), mask)
            start = b.value(f"mul i64 {b.first_lane(mask)}, {size * count}")
            return elements(b.offset("%lane_buffer", start)), label

        return self.load_either(bad, type_, lambda: elements(self._host(address, bounds)), careful)

    def store_uniform(
        self, site: int, address: str, type_: str, values: list[str], uniform: list[bool], mask: str
    ) -> None:
        """One value to one address: that of the highest active lane."""
        b, address = self.builder, self._placed(address)
        size = BITS[type_] // 8
        active, done = b.label("active"), b.label("stored")
        b.branch(b.someone(mask), active, done)
        b.place(active)
        leading = b.call(b.lanes, f"llvm.ctlz.{b.lanes}", [(b.lanes, mask), ("i1", "false")])
        lane = b.value(f"sub {b.lanes} {b.width - 1}, {leading}")
        scalars = [
            value if same else b.value(f"extractelement {b.vector(type_)} {value}, {b.lanes} {lane}")
            for value, same in zip(values, uniform, strict=True)
        ]
        bad, bounds = self._check_interval(site, address, 1)
        fast, slow = b.label("fast"), b.label("slow")
        b.branch(bad, slow, fast, unlikely=True)
        b.place(fast)
        host = self._host(address, bounds)
        for k, scalar in enumerate(scalars):
            b.store(type_, scalar, b.offset(host, k * size), ", align 1")
        b.jump(done)
        b.place(slow)
        whole = [b.splat(type_, scalar) for scalar in scalars]
        self.store_slowly(site, self._splat_address(address), type_, whole, mask)
        b.jump(done)
        b.place(done)

    # ------------------------------------------------------------------------------------ affine
    def load_affine(self, site: int, address: Value, type_: str, count: int, mask: str) -> list[str]:
        """`count` neighbouring elements from addresses at known distances; inactive lanes get anything."""
        address = replace(address, ir=self._placed(address.ir))
        low, places = self._places(site, address)
        outside, bounds = self._check_interval(site, low, max(places) + 1)
        prefetch = self.prefetches.get(self.step)
        if prefetch is not None and places == tuple(range(self.builder.width)):
            emit_prefetch(self.builder, prefetch, self._host(low, bounds), self.sites[site].size)
        return self.load_either(
            self._or_guarded(outside, address),
            self.builder.vector(type_),
            lambda: self._load_pattern(site, low, places, bounds, address, type_, count, mask),
            lambda: self._load_apart(site, address, type_, count, mask),
        )

    def _load_apart(
        self, site: int, address: Value, type_: str, count: int, mask: str
    ) -> tuple[list[str], str]:
        """What lanes that have left their pattern load, and the label where control goes on."""
        where = self._splat_address(address)
        if count > 1 or not self._strays(site, address):
            return self.load_slowly(site, where, type_, count, mask)

        def one_by_one() -> tuple[list[str], str]:
            self.fetches.add(type_)
            label = self._reach(site, type_, where, "zeroinitializer", mask)
            return [self.builder.load(self.builder.vector(type_), "%lane_buffer", ", align 64")], label

        if not self._has_places(site, address):
            return one_by_one()
        outside, places = self._check_lanes(site, address, mask)
        found = self.load_either(
            outside,
            self.builder.vector(type_),
            lambda: [self.gather_by("%shared", places, 0, type_, mask)],
            one_by_one,
        )
        return found, self.builder.block

    def _store_apart(self, site: int, address: Value, type_: str, values: list[str], mask: str) -> None:
        """Store what lanes that have left their pattern have."""
        where = self._splat_address(address)
        if len(values) > 1 or not self._strays(site, address):
            self.store_slowly(site, where, type_, values, mask)
            return

        def one_by_one() -> None:
            self.scatters.add(type_)
            self._reach(site, type_, where, values[0], mask)

        if not self._has_places(site, address):
            one_by_one()
            return
        outside, places = self._check_lanes(site, address, mask)
        self.store_either(
            outside,
            lambda: self.scatter_by("%shared", places, 0, type_, values[0], mask),
            one_by_one,
        )

    def _has_places(self, site: int, address: Value) -> bool:
        """Whether lanes' addresses are places in shared memory at distances that fit into 32 bits."""
        if self.sites[site].space != "shared" or address.ok is not None or self.step in self.apart:
            return False
        return all(-_NEAR < signed(offset, 64) < _NEAR for offset in address.offsets or ())

    def _check_lanes(self, site: int, address: Value, mask: str) -> tuple[str, str]:
        """An i1 that holds if an active lane is outside shared memory; the lanes' places, a vector of i32."""
        b, size, bounds = self.builder, self.sites[site].size, self.bounds(site)
        far = b.value(f"icmp uge i64 {b.value(f'add i64 {address.ir}, {_NEAR}')}, {2 * _NEAR}")
        whole, offsets = b.vector("i32"), address.offsets or ()
        distances = constant_vector("i32", (signed(offset, 64) for offset in offsets))
        base = b.splat("i32", b.value(f"trunc i64 {address.ir} to i32"))
        places = b.value(f"add {whole} {base}, {distances}")
        shift = b.splat("i32", str(size.bit_length() - 1))
        numbers = b.intrinsic("fshr", "i32", places, places, shift, lanes=b.width)
        limit = b.splat("i32", b.value(f"trunc i64 {bounds.limit} to i32"))
        outside = b.votes(b.value(f"icmp uge {whole} {numbers}, {limit}"), mask)
        return b.value(f"or i1 {far}, {b.someone(outside)}"), places

    def _strays(self, site: int, address: Value) -> bool:
        """Whether lanes leave their pattern, or those that do not act its range, without any going wrong.

        Shared memory is often as large as what the lanes that act reach: a triangle of a square tile.
        """
        return address.ok is not None or self.step in self.apart or self.sites[site].space == "shared"

    def _reach(self, site: int, type_: str, address: str, value: str, mask: str) -> str:
        """Call the function that tries the site's range for each lane before it searches all ranges."""
        b, bounds, info = self.builder, self.bounds(site), self.sites[site]
        self.reaches.add((type_, info.write))
        args = [
            ("ptr", "%context"),
            ("i64", str(site)),
            ("i64", self.behind(site)),
            ("i1", "false" if info.space == "global" else "true"),
            (b.lanes, mask),
            *(("i64", word) for word in (bounds.low, bounds.limit, bounds.delta)),
            ("i64", str(SHARED_WINDOW if info.space == "shared" else 0)),
            (b.vector("i64"), address),
            (b.vector(type_), value),
            ("ptr", "%lane_addresses"),
            ("ptr", "%lane_buffer"),
        ]
        return self._call_or_fault(irregular_name(type_, info.write), args, site)

    def _load_pattern(
        self,
        site: int,
        low: str,
        places: Offsets,
        bounds: Bounds,
        address: Value,
        type_: str,
        count: int,
        mask: str,
    ) -> list[str]:
        # The whole interval is inside the allocation, so lanes that are not active may be read too.
        b = self.builder
        span = (max(places) + 1) * count
        if count == 1 and places == tuple(range(b.width)):
            return [load_run(b, self._host(low, bounds), type_, b.width)]
        elements = [[place * count + k for place in places] for k in range(count)]
        singles = find_singles(elements) if self.by_segments else None
        if singles is not None and self.spells_segments():
            host = self._host(low, bounds)
            return [
                load_segments(b, host, type_, own, of_one)
                for own, of_one in zip(singles, elements, strict=True)
            ]
        far = span > SPAN * b.width
        each = elements_of_a_register(type_)
        segments = find_segments([e for of_one in elements for e in of_one], each)
        if segments and worth_it(segments, type_, span, SPAN * b.width) and self.spells_segments():
            host = self._host(low, bounds)
            return [load_segments(b, host, type_, segments, of_one) for of_one in elements]
        tile = self.tiles.by_step.get(self.step)
        if far and tile is not None:
            return self.load_tiled(tile, site, low, bounds, address, type_, count)
        if far and count == 1 and self.step in self.words:
            return [self._load_part(bounds, address, type_)]
        far = far and span * BITS[type_] // 8 > _BYTES * b.width
        if far and count == 1 and self.spells_out():
            return [load_each(b, self._host(low, bounds), type_, places)]
        if far:
            return self.gather(self._splat_address(address), bounds.delta, type_, count, mask)
        wide = max(2, 1 << (span - 1).bit_length())
        host = self._host(low, bounds)
        present = {place * count + k for place in places for k in range(count)}
        if len(present) == wide:
            loaded = load_run(b, host, type_, wide)
        else:
            picks = constant_vector("i1", (str(k in present).lower() for k in range(wide)))
            loaded = b.masked_load(type_, wide, host, picks)
        return [b.shuffle(type_, wide, loaded, (place * count + k for place in places)) for k in range(count)]

    def _load_part(self, bounds: Bounds, address: Value, type_: str) -> str:
        """A narrow element of a word that each lane loads once for several of its loads."""
        b = self.builder
        assert address.offsets is not None
        start, own = self.placed[self.step]
        place, era = self.words[self.step]
        word = self.loaded_words.get((start, place, era))
        if word is None:
            first = b.value(f"add i64 {start}, {place + min(address.offsets)}")
            distances = [offset - min(address.offsets) for offset in address.offsets]
            word = load_each(b, self._host(first, bounds), "i32", distances, 1)
            self.loaded_words[start, place, era] = word
        return self.cut_out("i32", word, type_, own - place)

    def store_affine(self, site: int, address: Value, type_: str, values: list[str], mask: str) -> None:
        """Vectors of neighbouring elements to addresses at known distances."""
        address = replace(address, ir=self._placed(address.ir))
        low, places = self._places(site, address)
        outside, bounds = self._check_interval(site, low, max(places) + 1)
        self.store_either(
            self._or_guarded(outside, address),
            lambda: self._store_pattern(site, low, places, bounds, address, type_, values, mask),
            lambda: self._store_apart(site, address, type_, values, mask),
        )

    def _store_pattern(
        self,
        site: int,
        low: str,
        places: Offsets,
        bounds: Bounds,
        address: Value,
        type_: str,
        values: list[str],
        mask: str,
    ) -> None:
        b = self.builder
        count = len(values)
        span, most = (max(places) + 1) * count, SPAN * b.width
        if masks_bytes():
            most = max(most, _STORED * b.width * 8 // BITS[type_])
        if count == 1 and places == tuple(range(b.width)):
            self._store_run(site, type_, values[0], self._host(low, bounds), mask, b.width)
            return
        apart = len(set(places)) == b.width
        each = elements_of_a_register(type_)
        segments = find_segments(places, each) if count == 1 and apart else None
        if segments and worth_it(segments, type_, span, most) and self.spells_segments():
            self._store_segments(site, self._host(low, bounds), type_, segments, places, values[0], mask)
            return
        if span > most and count == 1 and mask == "-1" and self.spells_out():
            store_each(b, self._host(low, bounds), type_, places, values[0])
            return
        if span > most or not apart:
            self.scatter(self._splat_address(address), bounds.delta, type_, values, mask)
            return
        wide = max(b.width, 1 << (span - 1).bit_length())
        lane_of = {place: lane for lane, place in enumerate(places)}
        owners = [lane_of.get(k // count) for k in range(wide)]
        spread = self._spread(type_, values, owners)
        if places == tuple(range(b.width)):
            self._store_run(site, type_, spread, self._host(low, bounds), mask, wide)
            return
        b.masked_store(type_, wide, spread, self._host(low, bounds), b.owned(mask, BITS[type_], owners))

    def _spread(self, type_: str, values: list[str], owners: list[int | None]) -> str:
        """The elements of several vectors where they lie in memory: each place has the lane that owns it."""
        count, width = len(values), self.builder.width
        whole = self.builder.joined(type_, values, width)
        picks = ((lane or 0) + width * (k % count) for k, lane in enumerate(owners))
        return self.builder.shuffle(type_, width * count, whole, picks)

    def _places(self, site: int, address: Value) -> tuple[str, Offsets]:
        """The lowest lane's address, and every lane's distance from it in units of the access's size."""
        assert address.offsets is not None
        size = self.sites[site].size
        lowest = min(address.offsets)
        low = self.builder.value(f"add i64 {address.ir}, {lowest}") if lowest else address.ir
        return low, tuple((offset - lowest) // size for offset in address.offsets)

    def _store_run(self, site: int, type_: str, value: str, host: str, mask: str, width: int) -> None:
        """Elements side by side, as many of each lane: mostly all lanes have come."""
        b = self.builder
        if mask == "-1":
            self._store_whole(site, type_, value, host, width)
            return
        full, part, done = b.label("full"), b.label("part"), b.label("stored")
        b.branch(b.value(f"icmp ne {b.lanes} {mask}, -1"), part, full, unlikely=True)
        b.place(full)
        self._store_whole(site, type_, value, host, width)
        b.jump(done)
        b.place(part)
        owners = [place * b.width // width for place in range(width)]
        lanes = b.mask_vector(mask) if width == b.width else b.owned(mask, BITS[type_], owners)
        if self.sites[site].space == "shared":
            # Nobody else works on it, and loads that follow have to wait for what is stored under a mask.
            whole = vector(type_, width)
            others = b.load(whole, host, ", align 1")
            value = b.value(f"select {vector('i1', width)} {lanes}, {whole} {value}, {whole} {others}")
            b.store(whole, value, host, ", align 1")
        else:
            b.masked_store(type_, width, value, host, lanes)
        b.jump(done)
        b.place(done)

    def _store_segments(
        self,
        site: int,
        host: str,
        type_: str,
        segments: Sequence[Segment],
        places: Offsets,
        value: str,
        mask: str,
    ) -> None:
        """An access for each row of a tile, whose lanes mostly all come."""

        def store(mask: str, how: str = "align 1") -> None:
            store_segments(self.builder, host, type_, segments, places, value, mask, how)

        extents = [extent for segment in segments for extent in (segment.start, segment.width)]
        lines = fills_lines(type_, *extents) and all(segment.full for segment in segments)
        some = "false" if mask == "-1" else self.builder.value(f"icmp ne {self.builder.lanes} {mask}, -1")
        self.store_either(
            some,
            lambda: self.store_lines(site, host, lambda how: store("-1", how), lines=lines),
            lambda: store(mask),
        )

    def _store_whole(self, site: int, type_: str, value: str, host: str, width: int) -> None:
        """Elements side by side of all lanes."""
        self.store_run(site, host, RunType(type_, width), [value])

    def store_run(self, site: int, host: str, run: RunType, parts: Sequence[str]) -> None:
        """A run that all lanes have."""
        b, whole = self.builder, vector(run.element, run.width)

        def between() -> None:
            self.runs.add(run)
            b.call("void", run.function, [("ptr", host), *((whole, part) for part in parts)])

        lines = fills_lines(run.element, run.width)
        way = between if run.long else None
        self.store_lines(site, host, lambda how: run.store(b, parts, host, how), lines=lines, between=way)

    def store_lines(
        self,
        site: int,
        host: str,
        store: Callable[[str], None],
        *,
        lines: bool,
        between: Callable[[], object] | None = None,
    ) -> None:
        """What all lanes have, past the caches if the step may and they are whole `lines`."""
        if self.step in self.streaming and self.sites[site].space != "shared" and lines:
            self.uses_streaming = True
            finder = self.finders.get(self.step, site)  # it knows how large the array is
            store_streaming(self.builder, finder, host, store, between)
        else:
            store("align 1")
