"""Texture and surface instructions, as LLVM IR: one outlined function each, which serves lane after lane.

A lane's handle is the address of an object (isa/texture_object.py), which is looked up once for all lanes
that share it, with the memory of its texels: a handle that is none, or memory that is no more, is a fault.
Coordinates are brought within the texture before anything is read, so texels need no checks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...isa.lanes import ObjectLane, Outline
from ...isa.texture_object import FIELD, FIELDS, LEVEL_FIELD, LEVEL_FIELDS, MAGIC
from ...isa.types import BITS
from ..builder import WIDTH, Builder
from ..context import READ, WRITE
from ..lanes.fast import FastLanes
from ..runtime import endings
from ..shape import BlockShape, Promises
from ..values.value import UNIFORM, Value
from .local import LocalMemory
from .textures import VISITED, Requested
from .warp_atomics import WarpAtomics

_HELPER = """
define internal i1 @{name}(ptr %context, i64 %site, i32 %mask, ptr %buffer) noinline #0 {{
entry:
  %known.p = alloca i64
  %object.p = alloca ptr
  %texels.p = alloca ptr
  store i64 0, ptr %known.p
  store ptr null, ptr %object.p
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %done, label %lanes
lanes:
  %rest = phi i32 [ %mask, %entry ], [ %rest.next, %acted ]
  %known = load i64, ptr %known.p
  %object.known = load ptr, ptr %object.p
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %lane.wide = zext i32 %lane to i64
  %address.p = getelementptr i64, ptr %buffer, i64 %lane.wide
  %address = load i64, ptr %address.p
  %seen = getelementptr i8, ptr %address.p, i64 {visited}
{clear}  %same = icmp eq i64 %address, %known
  %served = icmp ne ptr %object.known, null
  %ready = and i1 %same, %served
  br i1 %ready, label %act, label %search
search:
  %range = call ptr @wg_find_range(ptr %context, i64 %address, i64 8, i64 {read}, i1 false)
  %missing = icmp eq ptr %range, null
  br i1 %missing, label %fault, label %found
found:
  %delta.p = getelementptr i64, ptr %range, i64 2
  %delta = load i64, ptr %delta.p
  %host = add i64 %address, %delta
  %object.new = inttoptr i64 %host to ptr
  %mark = load i64, ptr %object.new
  %is.object = icmp eq i64 %mark, {magic}
  br i1 %is.object, label %memory, label %fault
memory:
  %base.p = getelementptr i64, ptr %object.new, i64 {base}
  %base = load i64, ptr %base.p
  %bytes.p = getelementptr i64, ptr %object.new, i64 {bytes}
  %bytes = load i64, ptr %bytes.p
  %data = call ptr @wg_find_range(ptr %context, i64 %base, i64 1, i64 {need}, i1 false)
  %gone = icmp eq ptr %data, null
  br i1 %gone, label %fault, label %check
check:
  %first = load i64, ptr %data
  %size.p = getelementptr i64, ptr %data, i64 1
  %size = load i64, ptr %size.p
  %distance = sub i64 %base, %first
  %end = add i64 %distance, %bytes
  %inside = icmp ule i64 %end, %size
  br i1 %inside, label %use, label %fault
use:
  %data.delta.p = getelementptr i64, ptr %data, i64 2
  %data.delta = load i64, ptr %data.delta.p
  %data.host = add i64 %base, %data.delta
  %texels.new = inttoptr i64 %data.host to ptr
  store i64 %address, ptr %known.p
  store ptr %object.new, ptr %object.p
  store ptr %texels.new, ptr %texels.p
  br label %act
act:
  %object = load ptr, ptr %object.p
  %texels = load ptr, ptr %texels.p
{act}
  br label %acted
acted:
  %minus = sub i32 %rest, 1
  %rest.next = and i32 %rest, %minus
  %last = icmp eq i32 %rest.next, 0
  br i1 %last, label %done, label %lanes
done:
{done}
fault:
{fault}}}
"""
_PART = """
define internal {whole} @{name}(ptr %object, ptr %texels, ptr %seen{operands}) noinline #0 {{
entry:
{lines}
  ret {whole} {result}
}}
"""


def fetch_helpers(fetches: Iterable[Requested], declarations: set[str], *, refusing: bool) -> list[str]:
    """The functions of all fetches of a kernel, and of their parts; true after a fault.

    `refusing` says that a lane that may not be served is left out.
    """
    parts: dict[str, str] = {}
    found = [_helper(one, parts, declarations, refusing=refusing) for one in fetches]
    return [*parts.values(), *found]


def _helper(one: Requested, parts: dict[str, str], declarations: set[str], *, refusing: bool) -> str:
    builder, fetch = Builder(declarations), one.fetch
    unit = _Unit(builder, parts, traced=one.traced)
    given = [
        Value(type_, builder.load(type_, _of_lane(builder, type_, place)), UNIFORM)
        for type_, place in list(zip(one.types, one.operand_places, strict=True))[1:]
    ]
    if one.traced:
        unit.tell_size(fetch.texels)
    results = fetch.make(unit, *given)
    for place, type_, value in zip(one.result_places, fetch.results, results, strict=True):
        builder.store(type_, unit.exact(value).ir, _of_lane(builder, type_, place))
    clear = [f"  {line}\n" for line in _clear(fetch.texels)] if one.traced else []
    return _HELPER.format(
        name=one.function,
        visited=VISITED,
        clear="".join(clear),
        read=READ,
        magic=MAGIC,
        base=FIELD["base"],
        bytes=FIELD["bytes"],
        need=READ | WRITE if fetch.writes else READ,
        act="\n".join(builder.lines),
        **endings("acted" if refusing else ""),
    )


def _of_lane(b: Builder, type_: str, place: int) -> str:
    """A pointer to the lane's element of a vector in the buffer."""
    return b.value(f"getelementptr {type_}, ptr {b.offset('%buffer', place)}, i64 %lane.wide")


def _clear(texels: int) -> Iterable[str]:
    """Forget which texels were visited before."""
    for number in range(texels):
        yield f"%clear{number} = getelementptr i8, ptr %seen, i64 {8 * WIDTH * number}"
        yield f"store i64 0, ptr %clear{number}"


class _Unit(FastLanes, ObjectLane[Value]):
    """The vocabulary for one lane at an object: all values are scalars."""

    def __init__(self, builder: Builder, parts: dict[str, str], *, traced: bool):
        access = WarpAtomics(builder)
        super().__init__(access, LocalMemory(access, 0), BlockShape((1, 1, 1)), Promises((1, 1, 1)))
        self._made_parts = parts
        self._traced = traced

    def field(self, name: str, type_: str = "i32") -> Value:
        return self._word("%object", FIELD[name], type_)

    def level_field(self, level: Value, name: str, type_: str = "i32") -> Value:
        number = self.extend(level, "i64", signed=False)
        row = self.mul(number, self.constant("i64", 8 * len(LEVEL_FIELDS)))
        place = self.builder.offset(self.builder.offset("%object", 8 * len(FIELDS)), row.ir)
        return self._word(place, LEVEL_FIELD[name], type_)

    def _word(self, start: str, number: int, type_: str) -> Value:
        place = self.builder.offset(start, 8 * number)
        return Value(type_, self.builder.load(type_, place, ", align 8"), UNIFORM)

    def read(self, offset: Value, type_: str) -> Value:
        place = self.builder.offset("%texels", offset.ir)
        return Value(type_, self.builder.load(type_, place, ", align 1"), UNIFORM)

    def write(self, offset: Value, value: Value) -> None:
        value = self.exact(value)
        self.builder.store(value.type, value.ir, self.builder.offset("%texels", offset.ir), ", align 1")

    def change(self, operation: str, offset: Value, value: Value) -> None:
        place = self.builder.offset("%texels", offset.ir)
        size = BITS[value.type] // 8
        self.builder.value(
            f"atomicrmw {operation} ptr {place}, {value.type} {value.ir} seq_cst, align {size}"
        )

    def visit(self, wanted: Value, offset: Value, number: Value) -> None:
        if not self._traced:
            return
        b = self.builder
        address = self.add(self.field("base", "i64"), offset)
        address = self.select(wanted, address, self.constant("i64", 0))
        distance = self.mul(self.extend(number, "i64", signed=False), self.constant("i64", 8 * WIDTH))
        b.store("i64", address.ir, b.offset("%seen", distance.ir))

    def tell_size(self, place: int) -> None:
        """Tell observers how many bytes a texel has."""
        size = self.mul(self.field("bits", "i64"), self.field("channels", "i64"))
        size = self.apply("lshr", size, self.constant("i64", 3))
        self.builder.store("i64", size.ir, self.builder.offset("%seen", 8 * WIDTH * place))

    def fail(self, condition: Value) -> None:
        b = self.builder
        on = b.label("inside")
        b.branch(condition.ir, "fault", on, unlikely=True)
        b.place(on)

    def function(self, part: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        given = [self.exact(one) for one in operands]
        name, b = f"wg_part_{part.name}", self.builder
        whole = "{ " + ", ".join(part.results) + " }" if part.results else "void"
        if name not in self._made_parts:
            self._made_parts[name] = ""  # so that it is made once
            self._made_parts[name] = self._part(name, part, [value.type for value in given], whole)
        args = [("ptr", place) for place in ("%object", "%texels", "%seen")]
        found = b.call(whole, name, [*args, *((value.type, value.ir) for value in given)])
        return tuple(
            Value(type_, b.value(f"extractvalue {whole} {found}, {k}"), UNIFORM)
            for k, type_ in enumerate(part.results)
        )

    def _part(self, name: str, part: Outline, types: Sequence[str], whole: str) -> str:
        builder = Builder(self.builder.declarations)
        unit = _Unit(builder, self._made_parts, traced=self._traced)
        given = [Value(type_, f"%operand{k}", UNIFORM) for k, type_ in enumerate(types)]
        result = "poison" if part.results else ""
        for k, value in enumerate(part.make(unit, *given)):
            value = unit.exact(value)
            result = builder.value(f"insertvalue {whole} {result}, {value.type} {value.ir}, {k}")
        operands = "".join(f", {type_} %operand{k}" for k, type_ in enumerate(types))
        return _PART.format(
            whole=whole, name=name, operands=operands, lines="\n".join(builder.lines), result=result
        )

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(outline.make(self, *self.all_exact(tuple(operands))))

    def either(
        self, condition: Value, yes: Callable[[], Sequence[Value]], no: Callable[[], Sequence[Value]]
    ) -> tuple[Value, ...]:
        b = self.builder
        here, there, join = b.label("yes"), b.label("no"), b.label("join")
        b.branch(condition.ir, here, there)
        sides = [self._side(here, yes, join), self._side(there, no, join)]
        b.place(join)
        (first, came), (second, other) = sides
        return tuple(
            Value(x.type, b.phi(x.type, (x.ir, came), (y.ir, other)), UNIFORM)
            for x, y in zip(first, second, strict=True)
        )

    def _side(self, label: str, make: Callable[[], Sequence[Value]], join: str) -> tuple[list[Value], str]:
        """The values of a branch, and the label that they come from."""
        b = self.builder
        b.place(label)
        values = [self.exact(value) for value in make()]
        last = b.label("made")
        b.jump(last)
        b.place(last)
        b.jump(join)
        return values, last
