"""Loads through tiles (tiles.py): where a lane's row is in a tile, and the functions that fill one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..builder import Builder, constant_vector, vector
from ..values.value import Value
from .interval_checks import IntervalChecks
from .sites import Bounds
from .tiles import EMPTY, ROW, Tile, Tiles

# The table of places one row behind the other.
SIDE_BY_SIDE = "wg_rows_side_by_side"


def declare_tiles(tiles: Tiles, width: int) -> list[str]:
    """The stack slots of the tiles, empty, for a function's start."""
    lines: list[str] = []
    for tile in tiles.tiles:
        lines.append(f"  %tile{tile.number} = alloca [{ROW * width} x i8], align {ROW}")
        lines.append(f"  %tile{tile.number}.first = alloca i64")
        lines.append(f"  store i64 {EMPTY}, ptr %tile{tile.number}.first")
        for end in ("low", "high") if tiles.stores else ():
            lines.append(
                f"  %tile{tile.number}.{end} = alloca i64\n  store i64 0, ptr %tile{tile.number}.{end}"
            )
    return lines


def empty_tiles(b: Builder, tiles: Tiles) -> None:
    """Let nothing be found in tiles: memory may change."""
    for tile in tiles.tiles:
        b.store("i64", str(EMPTY), f"%tile{tile.number}.first")


class TileLoads(IntervalChecks):
    """Emits loads through tiles."""

    def load_tiled(
        self, tile: Tile, site: int, low: str, bounds: Bounds, address: Value, type_: str, count: int
    ) -> list[str]:
        """Elements from rows of which the lowest has the address `low`; all those addresses may be read."""
        known = self.placed.get(self.step)
        start = known[0] if known is not None else ""
        together = known is not None and all(
            self.placed.get(step, ("", 0))[0] == start for step in tile.steps
        )
        whole = tile.whole and (together or tile.unit == tile.size)
        at = self.found_tiles.get((tile.number, start)) if together else None
        if at is None:
            at = self._find(tile, site, low, bounds, address, whole=whole, together=together)
        if together:
            self.found_tiles[tile.number, start] = at
        distances = range(tile.steps[self.step], tile.steps[self.step] + count * tile.size, tile.size)
        return [self._element(tile, at, distance, type_, whole=whole) for distance in distances]

    def _find(
        self, tile: Tile, site: int, low: str, bounds: Bounds, address: Value, *, whole: bool, together: bool
    ) -> str:
        """How far behind a tile's beginning (i64) its loads begin in this round; fills it if they do not."""
        b, distance = self.builder, tile.steps[self.step]
        filled, first_of = f"%tile{tile.number}", f"%tile{tile.number}.first"
        look, missed, full, partly, found = (b.label(f"tile_{x}") for x in ("", "miss", "full", "part", "at"))
        first = b.value(f"sub i64 {low}, {distance}") if distance else low
        b.jump(look)
        b.place(look)
        at = b.value(f"sub i64 {first}, {b.load('i64', first_of)}")
        grain = tile.unit if whole else tile.size
        near = b.elements(at, grain)
        b.branch(b.value(f"icmp ult i64 {near}, {(ROW - tile.span) // grain + 1}"), found, missed)
        b.place(missed)
        assert address.offsets is not None
        places = tuple(offset - min(address.offsets) for offset in address.offsets)
        room = b.value(f"shl i64 {bounds.limit}, {self._log2_size(site)}")
        room = b.intrinsic("usub.sat", "i64", room, str(max(places) + ROW - 1))
        inside = b.value(f"sub i64 {first}, {bounds.low}")
        b.branch(b.value(f"icmp uge i64 {inside}, {room}"), partly, full, unlikely=True)
        self.tile_units.add(tile.unit)
        table = ("ptr", f"@wg_places_{self.row_places.setdefault(places, len(self.row_places))}")
        b.place(full)
        args = [("ptr", self._host(first, bounds)), table, ("ptr", filled)]
        b.call("void", f"wg_fill_tile_{tile.unit}", args)
        b.store("i64", first, first_of)
        if self.tiles.stores:
            size = b.value(f"shl i64 {bounds.limit}, {self._log2_size(site)}")
            b.store("i64", bounds.low, f"{filled}.low")
            b.store("i64", b.value(f"add i64 {bounds.low}, {size}"), f"{filled}.high")
        b.jump(found)
        b.place(partly)  # what is known to be inside serves this round alone
        start, bytes_, here = (first, tile.span, 0) if together else (low, self.sites[site].size, -distance)
        args = [("ptr", self._host(start, bounds)), table, ("i64", str(bytes_)), ("ptr", filled)]
        b.call("void", f"wg_fill_tile_{tile.unit}_partly", args)
        b.store("i64", str(EMPTY), first_of)
        b.jump(found)
        b.place(found)
        return b.phi("i64", (at, look), ("0", full), (str(here), partly))

    def _log2_size(self, site: int) -> int:
        """How many bytes the elements have, as a power of two, that the limit of an access is counted in."""
        return self.sites[self.finders.get(self.step, site)].size.bit_length() - 1

    def spoil_tiles(self, address: Value, vector_of: Callable[[], str], size: int, mask: str) -> None:
        """Empty the tiles of arrays into which some lanes store so many bytes.

        `vector_of` emits the address as a vector.
        """
        if self.step not in self.tiles.stores:
            return
        b, self.found_tiles = self.builder, {}
        for tile in self.tiles.tiles:
            name = f"%tile{tile.number}"
            low, high = (b.load("i64", f"{name}.{end}") for end in ("low", "high"))
            if address.offsets is not None and address.ok is None:
                reach = max(address.offsets) - min(address.offsets) + size
                start = b.value(f"add i64 {address.ir}, {min(address.offsets)}")
                # From the last byte before the array on, by how far its elements reach back.
                distance = b.value(f"sub i64 {start}, {b.value(f'sub i64 {low}, {reach - 1}')}")
                length = b.value(f"add i64 {b.value(f'sub i64 {high}, {low}')}, {reach - 1}")
                inside = b.value(f"icmp ult i64 {distance}, {length}")
            else:
                whole, before = b.vector("i64"), b.value(f"sub i64 {low}, {size - 1}")
                distance = b.value(f"sub {whole} {vector_of()}, {b.splat('i64', before)}")
                length = b.value(f"add i64 {b.value(f'sub i64 {high}, {low}')}, {size - 1}")
                lanes = b.value(f"icmp ult {whole} {distance}, {b.splat('i64', length)}")
                inside = b.someone(b.votes(lanes, mask))
            first = b.load("i64", f"{name}.first")
            b.store("i64", b.value(f"select i1 {inside}, i64 {EMPTY}, i64 {first}"), f"{name}.first")

    def _column(self, tile: Tile, at: str, column: int) -> str:
        """What all lanes have in a column, so many bytes behind the tile's loads' beginning."""
        b, place = self.builder, (tile.number, at, column)
        if place not in self.loaded_columns:
            tile_at = b.offset(f"%tile{tile.number}", b.value(f"mul i64 {at}, {b.width}"))
            where = b.offset(tile_at, column * b.width)
            self.loaded_columns[place] = b.load(b.vector(tile.type), where, f", align {ROW}")
        return self.loaded_columns[place]

    def _element(self, tile: Tile, at: str, distance: int, type_: str, *, whole: bool) -> str:
        """What all lanes find so many bytes behind the tile's loads' beginning."""
        b, unit = self.builder, tile.unit
        part: int | str = distance % unit
        column = distance - distance % unit
        if not whole and tile.size < unit:
            place = b.value(f"add i64 {at}, {distance}")
            part, column = b.value(f"and i64 {place}, {unit - 1}"), 0
            at = b.value(f"and i64 {place}, {-unit}")
        found, wide, bits = self._column(tile, at, column), b.vector(tile.type), 8 * tile.size
        if isinstance(part, int) and tile.size < unit:
            return self.cut_out(tile.type, found, type_, part)
        if isinstance(part, str):
            shift = b.value(f"trunc i64 {b.value(f'shl i64 {part}, 3')} to {tile.type}")
            found = b.value(f"lshr {wide} {found}, {b.splat(tile.type, shift)}")
            found = b.value(f"trunc {wide} {found} to {b.vector(f'i{bits}')}")
        if type_ == f"i{bits}":
            return found
        return b.value(f"bitcast {b.vector(f'i{bits}')} {found} to {b.vector(type_)}")


# ------------------------------------------------------------------------------------ functions
def tile_functions(access: TileLoads, declared: set[str], width: int) -> list[str]:
    """What fills the tiles of some loads, and the places of rows."""
    if not access.row_places:
        return []
    tables = {f"wg_places_{number}": places for places, number in access.row_places.items()}
    tables[SIDE_BY_SIDE] = tuple(range(0, ROW * width, ROW))
    return [
        *(_place_table(name, places) for name, places in tables.items()),
        *(fill_helper(unit, declared, width) for unit in sorted(access.tile_units)),
    ]


def fill_helper(unit: int, declared: set[str], width: int) -> str:
    """`@wg_fill_tile_N`: 64 bytes from each lane's place, so many bytes from a host address, by columns.

    The next ones of each row are asked for: processors do not foresee what is walked along in so many places.
    """
    b = Builder(declared, width)
    type_, columns = f"i{8 * unit}", ROW // unit
    at_once = min(columns, width)
    b.emit("br label %lanes")
    b.place("lanes")
    first = b.phi("i64", ("0", "entry"), ("%next", "lanes"))
    places = b.value(f"getelementptr i64, ptr %places, i64 {first}")
    tile = b.value(f"getelementptr {type_}, ptr %tile, i64 {first}")
    rows: list[str] = []
    for lane in range(at_once):
        place = b.load("i64", b.offset(places, 8 * lane))
        row = b.offset("%host", place)
        rows.append(b.load(vector(type_, columns), row, ", align 1"))
        b.call("void", "llvm.prefetch.p0", [("ptr", b.offset(row, ROW)), *(("i32", n) for n in "031")])
    rows += ["poison"] * (columns - at_once)
    aligned = f", align {at_once * unit}"
    for column, whole in enumerate(transposed(b, type_, rows)):
        lanes = whole if at_once == columns else b.shuffle(type_, columns, whole, range(at_once))
        b.store(vector(type_, at_once), lanes, b.offset(tile, column * width * unit), aligned)
    b.emit(f"%next = add i64 {first}, {at_once}")
    b.branch(b.value(f"icmp ult i64 %next, {width}"), "lanes", "done")
    body = "\n".join(b.lines)
    return f"""
define internal void @wg_fill_tile_{unit}(ptr %host, ptr %places, ptr %tile) noinline #0 {{
entry:
{body}
done:
  ret void
}}
define internal void @wg_fill_tile_{unit}_partly(
  ptr %host, ptr %places, i64 %bytes, ptr %tile
) noinline cold #0 {{
entry:
  %rows = alloca [{ROW * width} x i8], align 64
  br label %lanes
lanes:
  %lane = phi i64 [ 0, %entry ], [ %lane.next, %row ]
  %place.p = getelementptr i64, ptr %places, i64 %lane
  %place = load i64, ptr %place.p
  %from = getelementptr i8, ptr %host, i64 %place
  %start = mul i64 %lane, {ROW}
  %to = getelementptr i8, ptr %rows, i64 %start
  br label %copy
copy:
  %k = phi i64 [ 0, %lanes ], [ %k.next, %copy ]
  %from.k = getelementptr i8, ptr %from, i64 %k
  %one = load i8, ptr %from.k
  %to.k = getelementptr i8, ptr %to, i64 %k
  store i8 %one, ptr %to.k
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, %bytes
  br i1 %more, label %copy, label %row
row:
  %lane.next = add i64 %lane, 1
  %others = icmp ult i64 %lane.next, {width}
  br i1 %others, label %lanes, label %fill
fill:
  call void @wg_fill_tile_{unit}(ptr %rows, ptr @{SIDE_BY_SIDE}, ptr %tile)
  ret void
}}
"""


def transposed(b: Builder, type_: str, rows: Sequence[str]) -> list[str]:
    """The columns of a square of rows: neighbours change places, then pairs of them, and so on.

    These are the steps that processors have instructions for: within 16 bytes, then of those.
    """
    size = len(rows)
    rows = list(rows)
    step = 1
    while step < size:
        for one in (k for k in range(size) if not k & step):
            a, c = rows[one], rows[one + step]
            low = [k if not k & step else size + k - step for k in range(size)]
            high = [k + step if not k & step else size + k for k in range(size)]
            rows[one] = b.shuffle(type_, size, a, low, c)
            rows[one + step] = b.shuffle(type_, size, a, high, c)
        step *= 2
    return rows


def _place_table(name: str, places: Iterable[int]) -> str:
    """A table of lanes' places in bytes."""
    places = tuple(places)
    return f"@{name} = internal constant <{len(places)} x i64> {constant_vector('i64', places)}\n"
