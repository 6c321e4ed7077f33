"""Stores along rows (row_stores.py): what is kept of them, and the function that puts it down."""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import Arg, Builder, constant_vector, vector
from ..context import SITE_WORDS
from ..values.value import Offsets, Value
from .neighbour_loads import NeighbourLoads
from .row_stores import RowStores
from .sites import Bounds
from .tile_loads import transposed
from .tiles import EMPTY, ROW

# What is kept: the address of the lowest lane's next element (EMPTY: nothing goes on), where that lane's
# row begins in host memory, how many bytes of each row there are, and where the array begins and ends.
_WORDS = ("next", "host", "bytes", "low", "high")


def declare_row_stores(rows: RowStores, width: int) -> list[str]:
    """The stack slots of what is kept, nothing, for a function's start."""
    if not rows.unit:
        return []
    slots = [("", f"[{ROW * width} x i8], align {ROW}"), (".lanes", f"i{width}"), (".places", "ptr")]
    slots += [(f".{word}", "i64") for word in _WORDS]
    lines = [f"  %kept{name} = alloca {type_}" for name, type_ in slots]
    return [*lines, f"  store i64 {EMPTY}, ptr %kept.next", "  store i64 0, ptr %kept.bytes"]


class RowStoreAccess(NeighbourLoads):
    """Emits accesses of every form; stores along rows so that they are put down by the row."""

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
        if self.step not in self.row_stores.steps:
            super()._store_pattern(site, low, places, bounds, address, type_, values, mask)
            return
        b, size = self.builder, BITS[type_] // 8
        begin, on = b.label("row"), b.label("along")
        expected = b.load("i64", "%kept.next")
        b.branch(b.value(f"icmp eq i64 {low}, {expected}"), on, begin)
        b.place(begin)
        self.put_rows()
        self._begin_rows(site, low, bounds, address, mask)
        b.jump(on)
        b.place(on)
        for k, value in enumerate(values):
            b.store("i64", b.value(f"add i64 {low}, {(k + 1) * size}"), "%kept.next")
            self._keep_column(type_, value)

    def _begin_rows(self, site: int, low: str, bounds: Bounds, address: Value, mask: str) -> None:
        b = self.builder
        assert address.offsets is not None
        distances = tuple(offset - min(address.offsets) for offset in address.offsets)
        number = self.row_places.setdefault(distances, len(self.row_places))
        end = b.value(f"mul i64 {bounds.limit}, {self.sites[self.finders.get(self.step, site)].size}")
        words = {
            "host": b.value(f"add i64 {low}, {bounds.delta}"),
            "low": bounds.low,
            "high": b.value(f"add i64 {bounds.low}, {end}"),
        }
        for word, value in words.items():
            b.store("i64", value, f"%kept.{word}")
        b.store(b.lanes, mask, "%kept.lanes")
        b.store("ptr", f"@wg_places_{number}", "%kept.places")

    def _keep_column(self, type_: str, value: str) -> None:
        """Keep what all lanes store next; whole rows are put down."""
        b, size = self.builder, BITS[type_] // 8
        before = b.load("i64", "%kept.bytes")
        if size < self.row_stores.unit:
            self._keep_part(type_, value, before)
        else:
            where = b.offset("%kept", b.value(f"mul i64 {before}, {b.width}"))
            b.store(b.vector(type_), value, where, f", align {ROW}")
        after = b.value(f"add i64 {before}, {size}")
        b.store("i64", after, "%kept.bytes")
        full, on = b.label("full"), b.label("some")
        b.branch(b.value(f"icmp eq i64 {after}, {ROW}"), full, on)
        b.place(full)
        self._put()
        b.jump(on)
        b.place(on)

    def _keep_part(self, type_: str, value: str, before: str) -> None:
        """Put narrow elements into the column of words that they are a part of."""
        b, narrow = self.builder, f"i{BITS[type_]}"
        words, parts = b.vector("i32"), b.vector(narrow)
        column = b.value(f"and i64 {before}, -4")
        where = b.offset("%kept", b.value(f"mul i64 {column}, {b.width}"))
        bits = b.value(f"shl i32 {b.value(f'trunc i64 {before} to i32')}, 3")
        shift = b.value(f"and i32 {bits}, 31")
        low = b.value(f"sub i32 {b.value(f'shl i32 1, {shift}')}, 1")
        old = b.value(f"and {words} {b.load(words, where, f', align {ROW}')}, {b.splat('i32', low)}")
        if type_ != narrow:
            value = b.value(f"bitcast {b.vector(type_)} {value} to {parts}")
        wide = b.value(f"zext {parts} {value} to {words}")
        moved = b.value(f"shl {words} {wide}, {b.splat('i32', shift)}")
        b.store(words, b.value(f"or {words} {old}, {moved}"), where, f", align {ROW}")

    def put_rows(self) -> None:
        """Store what is kept, if anything is; what comes next begins anew."""
        b = self.builder
        some, done = b.label("kept"), b.label("put")
        b.store("i64", str(EMPTY), "%kept.next")
        b.branch(b.value(f"icmp ne i64 {b.load('i64', '%kept.bytes')}, 0"), some, done, unlikely=True)
        b.place(some)
        self._put()
        b.jump(done)
        b.place(done)

    def _put(self) -> None:
        b = self.builder
        host, bytes_ = b.load("i64", "%kept.host"), b.load("i64", "%kept.bytes")
        args: list[Arg] = [("ptr", "%kept"), ("ptr", b.value(f"inttoptr i64 {host} to ptr"))]
        args += [("ptr", b.load("ptr", "%kept.places")), ("i64", bytes_)]
        args.append((b.lanes, b.load(b.lanes, "%kept.lanes")))
        b.call("void", "wg_put_rows", args)
        b.store("i64", b.value(f"add i64 {host}, {bytes_}"), "%kept.host")
        b.store("i64", "0", "%kept.bytes")

    def show_rows(self, site: int) -> None:
        """Put down what is kept in front of a load from the same array, as the load's site remembers it."""
        if self.step not in self.row_stores.loads:
            return
        b, found = self.builder, self.finders.get(self.step, site)
        where = b.offset("%sites", found * SITE_WORDS * 8)
        low, limit = b.load("i64", where), b.load("i64", b.offset(where, 8))
        end = b.value(f"add i64 {low}, {b.value(f'mul i64 {limit}, {self.sites[found].size}')}")
        above = b.value(f"icmp ult i64 {b.load('i64', '%kept.low')}, {end}")
        below = b.value(f"icmp ult i64 {low}, {b.load('i64', '%kept.high')}")
        same, on = b.label("same"), b.label("apart")
        b.branch(b.value(f"and i1 {above}, {below}"), same, on, unlikely=True)
        b.place(same)
        self.put_rows()
        b.jump(on)
        b.place(on)

    def _call_or_fault(self, helper: str, args: list[Arg], site: int | None = None) -> str:
        if self.step in self.row_stores.steps | self.row_stores.loads:
            self.put_rows()  # what serves lanes one by one may find it, or end the kernel
        return super()._call_or_fault(helper, args, site)


def row_store_helper(rows: RowStores, declarations: set[str], width: int) -> str:
    """`@wg_put_rows`: so many bytes of what is kept, column by column, to the rows of some lanes."""
    b = Builder(declarations, width)
    type_, columns = f"i{8 * rows.unit}", ROW // rows.unit
    grain = 1 if rows.narrow else rows.unit  # bytes of what there is of a row, or is not
    grains, part = ROW // grain, f"i{8 * grain}"
    filled = b.value(f"trunc i64 {b.value(f'udiv i64 %bytes, {grain}')} to i8")
    one = b.value(f"insertelement {vector('i8', grains)} poison, i8 {filled}, i32 0")
    most, numbers = b.shuffle("i8", grains, one, [0] * grains), constant_vector("i8", range(grains))
    present = b.value(f"icmp ugt {vector('i8', grains)} {most}, {numbers}")
    everything = b.value(
        f"and i1 {b.value(f'icmp eq i64 %bytes, {ROW}')}, {b.value(f'icmp eq {b.lanes} %mask, -1')}"
    )
    b.jump("lanes")
    b.place("lanes")
    first = b.phi("i64", ("0", "entry"), ("%next", "further"))
    places, kept = b.offset("%places", b.value(f"mul i64 {first}, 8")), b.name("kept")
    b.emit(f"{kept} = getelementptr {type_}, ptr %kept, i64 {first}")
    registers = [
        b.load(vector(type_, columns), b.offset(kept, column * width * rows.unit), ", align 8")
        for column in range(columns)
    ]
    lanes = transposed(b, type_, registers)

    def host(lane: int) -> str:
        place = b.load("i64", b.offset(places, 8 * lane))
        return b.value(f"getelementptr i8, ptr %host, i64 {place}")

    b.branch(everything, "all", "part")
    b.place("all")
    for k, row in enumerate(lanes):
        b.store(vector(type_, columns), row, host(k), ", align 1")
    b.jump("further")
    b.place("part")
    shift = first if width == 64 else b.value(f"{'trunc' if width < 64 else 'zext'} i64 {first} to {b.lanes}")
    mask = b.value(f"lshr {b.lanes} %mask, {shift}")
    for k, row in enumerate(lanes):
        acts, on = b.label("acts"), b.label("on")
        bit = b.value(f"and {b.lanes} {mask}, {1 << k}")
        b.branch(b.value(f"icmp ne {b.lanes} {bit}, 0"), acts, on)
        b.place(acts)
        whole, parts = vector(type_, columns), vector(part, grains)
        grained = row if part == type_ else b.value(f"bitcast {whole} {row} to {parts}")
        b.masked_store(part, grains, grained, host(k), present)
        b.jump(on)
        b.place(on)
    b.jump("further")
    b.place("further")
    b.emit(f"%next = add i64 {first}, {columns}")
    b.branch(b.value(f"icmp ult i64 %next, {width}"), "lanes", "done")
    body = "\n".join(b.lines)
    return f"""
define internal void @wg_put_rows(
  ptr %kept, ptr %host, ptr %places, i64 %bytes, {b.lanes} %mask
) noinline #0 {{
entry:
{body}
done:
  ret void
}}
"""
