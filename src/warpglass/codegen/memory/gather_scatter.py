"""Gathers and scatters, as LLVM IR: the check of all lanes, and functions that a kernel has once.

Loads of narrow types and stores are functions because hosts lack instructions for them, as any x86 does: LLVM
makes two basic blocks a lane, and dozens in one function take its register allocator seconds. What sorts out
irregular lanes is one because it is long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...isa.types import BITS
from ..builder import Arg, Builder, constant_vector, suffix, vector
from ..machine.target import gathers_quickly

HALF = 16  # lanes of half a warp
_GREATEST_SCALE = 3  # the power of two that an index is multiplied by at most
_FEW = 8  # lanes that have a store each sooner than a scatter has all


def outside_range(b: Builder, address: str, low: str, limit: str, size: int, mask: str) -> str:
    """An i1 that holds if the address (vectors of i64) of some active lane is not one of a range."""
    distance, whole = address, b.vector("i64")
    if low != "0":
        distance = b.value(f"sub {whole} {address}, {b.splat('i64', low)}")
    distance = b.elements(distance, size, b.width)
    outside = b.value(f"icmp uge {whole} {distance}, {b.splat('i64', limit)}")
    return b.someone(b.votes(outside, mask))


def gather_through(b: Builder, pointers: str, type_: str, mask: str) -> str:
    """A load through a checked host pointer for each lane; inactive lanes get zero."""
    return b.call(b.vector(type_), f"wg_fetch_{type_}", [(b.vector("ptr"), pointers), (b.lanes, mask)])


def pointers_of(b: Builder, host: str, index: str, shift: int) -> str:
    """Host pointers by an index, of one lane or of all, that is given with its type."""
    return b.value(f"getelementptr [{1 << shift} x i8], ptr {host}, {index}")


def pick_name(type_: str, shift: int) -> str:
    """The name of the function that loads by indices."""
    return f"wg_pick_{type_}_{1 << shift}"


def fetch_helper(type_: str, declarations: set[str], width: int) -> str:
    """`@wg_fetch_T`: loads from checked host addresses; inactive lanes get zero.

    If all lanes load, each has a load of its own, as a gather is dozens of a processor's operations, so fewer
    loads would be under way at once; where gathers are quick, narrow elements are parts of gathered words.
    The addresses go through memory, as LLVM would take them out of the vectors one by one. Words of
    neighbours may begin anywhere.
    """
    b = Builder(declarations, width)
    whole, pointers = b.vector(type_), b.vector("ptr")
    b.emit(f"%places = alloca [{width} x ptr], align 64")
    if gathers_quickly() and BITS[type_] < 32:
        _return_parts_of_words(b, "%at", type_, "%mask", "alone")
    else:
        b.jump("alone")
    b.place("alone")
    b.branch(b.value(f"icmp eq {b.lanes} %mask, -1"), "every", "some")
    b.place("every")
    b.store_for_lanes("ptr", "%at", "%places")
    places = [b.offset("%places", 8 * lane) for lane in range(width)]
    loads = [b.load(type_, b.load("volatile ptr", place), ", align 1") for place in places]
    found = "poison"
    for lane, one in enumerate(loads):
        found = b.value(f"insertelement {whole} {found}, {type_} {one}, i32 {lane}")
    b.emit(f"ret {whole} {found}")
    b.place("some")
    some = gather_at_once if BITS[type_] >= 32 else gather_bytes
    b.emit(f"ret {whole} {some(b, '%at', type_, '%mask')}")
    body = "\n".join(b.lines)
    return f"""
define internal {whole} @wg_fetch_{type_}({pointers} %at, {b.lanes} %mask) noinline #0 {{
{body}
}}
"""


def gather_at_once(b: Builder, pointers: str, type_: str, mask: str) -> str:
    """The processor's gather of elements of 32 bits or more; inactive lanes get zero."""
    whole = b.vector(type_)
    at = f"align {BITS[type_] // 8} {pointers}"
    args = [(b.vector("ptr"), at), (b.vector("i1"), b.mask_vector(mask)), (whole, "zeroinitializer")]
    return b.call(whole, f"llvm.masked.gather.{b.suffix(type_)}.{b.suffix('ptr')}", args)


def scatter_at_once(b: Builder, pointers: str, type_: str, value: str, mask: str) -> None:
    """The processor's scatter, the highest lane last."""
    at = f"align {BITS[type_] // 8} {pointers}"
    args = [(b.vector(type_), value), (b.vector("ptr"), at), (b.vector("i1"), b.mask_vector(mask))]
    b.call("void", f"llvm.masked.scatter.{b.suffix(type_)}.{b.suffix('ptr')}", args)


def gather_by_index(b: Builder, host: str, numbers: str, shift: int, type_: str, mask: str) -> str:
    """The processor's gather at 32-bit indices times 2^shift from a pointer; inactive lanes get zero."""
    if not _takes_indices(b, shift):
        return gather_at_once(b, pointers_of(b, host, f"{b.vector('i32')} {numbers}", shift), type_, mask)
    found: list[str] = []
    for part in _index_parts(b, numbers, type_, mask):
        args = [(part.type, "zeroinitializer"), ("ptr", host), *part.args, ("i32", str(1 << shift))]
        found.append(b.call(part.type, f"llvm.x86.avx512.mask.gather.{part.name}", args))
    return b.joined(type_, found, b.width // len(found))


def scatter_by_index(
    b: Builder, host: str, numbers: str, shift: int, type_: str, value: str, mask: str
) -> None:
    """The processor's scatter at 32-bit indices times 2^shift from a pointer, the highest lane last."""
    if not _takes_indices(b, shift):
        pointers = pointers_of(b, host, f"{b.vector('i32')} {numbers}", shift)
        scatter_at_once(b, pointers, type_, value, mask)
        return
    for part in _index_parts(b, numbers, type_, mask):
        own = b.shuffle(type_, b.width, value, part.lanes)
        indices, active = part.args
        args = [("ptr", host), active, indices, (part.type, own), ("i32", str(1 << shift))]
        b.call("void", f"llvm.x86.avx512.mask.scatter.{part.name}", args)


# How the instructions' names end, after the type of the elements.
_BY_INDEX = {"i32": "dpi.512", "float": "dps.512", "i64": "dpq.512", "double": "dpd.512"}


@dataclass(frozen=True, slots=True)
class _Part:
    """What one instruction serves: its name's end, its lanes, the type of their elements, index and mask."""

    name: str
    lanes: range
    type: str
    args: tuple[Arg, Arg]


def _takes_indices(b: Builder, shift: int) -> bool:
    """Whether the processor's instructions are named here.

    Written as pointers, LLVM widens indices that several accesses share, and twice as many instructions
    follow. Those named are AVX-512's, which all processors have whose gathers are quick.
    """
    return gathers_quickly() and b.width % HALF == 0 and shift <= _GREATEST_SCALE


def _index_parts(b: Builder, numbers: str, type_: str, mask: str) -> Iterator[_Part]:
    size = 512 // BITS[type_]
    active = b.mask_vector(mask)
    for first in range(0, b.width, size):
        lanes = range(first, first + size)
        own = active if mask == "-1" else b.shuffle("i1", b.width, active, lanes)
        indices = b.shuffle("i32", b.width, numbers, lanes)
        args = (vector("i32", size), indices), (vector("i1", size), own)
        yield _Part(_BY_INDEX[type_], lanes, vector(type_, size), args)


def _return_parts_of_words(b: Builder, at: str, type_: str, mask: str, otherwise: str) -> None:
    """Return narrow elements as parts of aligned words, unless one lies in two: `otherwise` goes on."""
    whole, wide, words, pointers = (b.vector(one) for one in (type_, "i32", "i64", "ptr"))
    host = b.value(f"ptrtoint {pointers} {at} to {words}")
    within = b.value(f"trunc {words} {b.value(f'and {words} {host}, splat (i64 3)')} to {wide}")
    if BITS[type_] > 8:
        behind = b.value(f"icmp ugt {wide} {within}, splat (i32 {4 - BITS[type_] // 8})")
        b.branch(b.someone(b.votes(behind, mask)), otherwise, "words", unlikely=True)
        b.place("words")
    start = b.value(f"inttoptr {words} {b.value(f'and {words} {host}, splat (i64 -4)')} to {pointers}")
    word = gather_at_once(b, start, "i32", mask)
    bits = b.value(f"shl {wide} {within}, splat (i32 3)")
    b.emit(f"ret {whole} {part_of_words(b, word, bits, type_)}")


def part_of_words(b: Builder, words: str, bits: str, type_: str) -> str:
    """Narrow elements that begin so many bits above the lowest of words of 32 bits."""
    moved = b.value(f"lshr {b.vector('i32')} {words}, {bits}")
    return _narrowed(b, moved, type_)


def _narrowed(b: Builder, words: str, type_: str) -> str:
    """The lowest bits of words of 32 bits as narrow elements."""
    narrow = b.vector(f"i{BITS[type_]}")
    found = b.value(f"trunc {b.vector('i32')} {words} to {narrow}")
    return found if type_[0] == "i" else b.value(f"bitcast {narrow} {found} to {b.vector(type_)}")


def gather_bytes(b: Builder, at: str, type_: str, mask: str) -> str:
    """Narrow elements: hosts can gather words, and each byte is taken from the aligned word it lies in."""
    wide, words, pointers = (b.vector(one) for one in ("i32", "i64", "ptr"))
    lanes = b.mask_vector(mask)
    host = b.value(f"ptrtoint {pointers} {at} to {words}")
    found = "zeroinitializer"
    for byte in range(BITS[type_] // 8):
        place = b.value(f"add {words} {host}, splat (i64 {byte})") if byte else host
        start = b.value(f"and {words} {place}, splat (i64 -4)")
        places = b.value(f"inttoptr {words} {start} to {pointers}")
        args = [(pointers, f"align 4 {places}"), (b.vector("i1"), lanes), (wide, "zeroinitializer")]
        word = b.call(wide, f"llvm.masked.gather.{b.suffix('i32')}.{b.suffix('ptr')}", args)
        within = b.value(f"trunc {words} {b.value(f'and {words} {place}, splat (i64 3)')} to {wide}")
        moved = b.value(f"lshr {wide} {word}, {b.value(f'shl {wide} {within}, splat (i32 3)')}")
        alone = b.value(f"and {wide} {moved}, splat (i32 255)")
        found = b.value(f"or {wide} {found}, {b.value(f'shl {wide} {alone}, splat (i32 {8 * byte})')}")
    return _narrowed(b, found, type_)


def scatter_helper(type_: str, declarations: set[str], width: int) -> str:
    """`@wg_scatter_T`: stores to checked host addresses, the highest lane last.

    A scatter takes as long for one lane as for all, so few lanes have a store each. Narrow elements have no
    scatter: there all lanes have a store each, those that do not act to a place that nobody reads.
    """
    b = Builder(declarations, width)
    whole, pointers = b.vector(type_), b.vector("ptr")
    lanes = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, "%mask")])
    b.branch(b.value(f"icmp ule {b.lanes} {lanes}, {_FEW}"), "few", "many")
    b.place("few")
    b.store_for_lanes("ptr", "%at", "%places")
    b.store_for_lanes(type_, "%value", "%values")
    b.branch(b.someone("%mask"), "next", "done")
    b.place("next")
    rest = b.phi(b.lanes, ("%mask", "few"), ("%fewer", "next"))
    lane = b.first_lane(rest)
    place = b.load("ptr", b.value(f"getelementptr ptr, ptr %places, i64 {lane}"))
    one = b.load(type_, b.value(f"getelementptr {type_}, ptr %values, i64 {lane}"))
    b.store(type_, one, place, ", align 1")
    b.emit(f"%fewer = and {b.lanes} {rest}, {b.value(f'sub {b.lanes} {rest}, 1')}")
    b.branch(b.someone("%fewer"), "next", "done")
    b.place("many")
    if BITS[type_] >= 32:
        scatter_at_once(b, "%at", type_, "%value", "%mask")
    else:
        _store_each(b, type_)
    b.jump("done")
    body = "\n".join(b.lines)
    return f"""
define internal void @wg_scatter_{type_}({whole} %value, {pointers} %at, {b.lanes} %mask) noinline #0 {{
  %places = alloca [{width} x ptr], align 64
  %values = alloca {whole}, align 64
  %nowhere = alloca i64
{body}
done:
  ret void
}}
"""


def _store_each(b: Builder, type_: str) -> None:
    """A store for each lane; the addresses go through memory, as those of `@wg_fetch_T` do."""
    pointers = b.vector("ptr")
    some = f"{b.vector('i1')} {b.mask_vector('%mask')}"
    places = b.value(f"select {some}, {pointers} %at, {pointers} {b.splat('ptr', '%nowhere')}")
    b.store_for_lanes("ptr", places, "%places")
    b.store_for_lanes(type_, "%value", "%values")
    for lane in range(b.width):
        place = b.load("volatile ptr", b.offset("%places", 8 * lane))
        one = b.load(f"volatile {type_}", b.offset("%values", lane * BITS[type_] // 8))
        b.store(type_, one, place, ", align 1")


def irregular_name(type_: str, write: bool) -> str:
    """The name of the function that serves lanes that have left their pattern."""
    return f"wg_{'place' if write else 'reach'}_{type_}"


def irregular_helper(type_: str, write: bool, declarations: set[str], width: int) -> str:
    """`@wg_reach_T` or `@wg_place_T`: loads to the buffer or stores at any addresses; true after a fault."""
    b, size = Builder(declarations, width), BITS[type_] // 8
    whole, words, all_ = b.vector(type_), b.vector("i64"), b.vector("ptr")
    b.branch(outside_range(b, "%at", "%low", "%limit", size, "%mask"), "careful", "quick", unlikely=True)
    b.place("quick")
    host = b.value(f"add {words} %at, {b.splat('i64', '%delta')}")
    pointers = b.value(f"inttoptr {words} {host} to {all_}")
    if write:
        b.call("void", f"wg_scatter_{type_}", [(whole, "%value"), (all_, pointers), (b.lanes, "%mask")])
    else:
        b.store(whole, gather_through(b, pointers, type_, "%mask"), "%buffer", ", align 64")
    b.emit("ret i1 false")
    b.place("careful")
    b.store(words, b.value(f"add {words} %at, {b.splat('i64', '%window')}"), "%addresses")
    b.store(whole, "%value", "%buffer", ", align 64")
    said = f"ptr %context, i64 %site, i64 {size}, i64 %behind, i1 %generic"
    served = f"{b.lanes} %mask, ptr %addresses, ptr %buffer"
    helper = "wg_store_lanes" if write else "wg_load_lanes"
    b.emit(f"ret i1 {b.value(f'call i1 @{helper}({said}, {served})')}")
    body = "\n".join(b.lines)
    return f"""
define internal i1 @{irregular_name(type_, write)}(
  ptr %context, i64 %site, i64 %behind, i1 %generic, {b.lanes} %mask, i64 %low, i64 %limit, i64 %delta,
  i64 %window, {words} %at, {whole} %value, ptr %addresses, ptr %buffer
) noinline #0 {{
{body}
}}
"""


def gather_helper(type_: str, declarations: set[str], width: int) -> str:
    """`@wg_gather_T`: loads from checked host addresses, by half warps: a run, one element, or any."""
    size = BITS[type_] // 8
    half = vector(type_, HALF)
    name = suffix(type_, 16)
    declarations |= {
        f"declare {half} @llvm.masked.load.{name}.p0(ptr, <16 x i1>, {half})",
        "declare i16 @llvm.cttz.i16(i16, i1)",
    }
    steps = constant_vector("i64", (size * k for k in range(16)))
    return f"""
define internal {half} @wg_gather_half_{type_}(<16 x i64> %at, i16 %mask) alwaysinline #0 {{
entry:
  %lanes = bitcast i16 %mask to <16 x i1>
  %first = extractelement <16 x i64> %at, i32 0
  %one = insertelement <16 x i64> poison, i64 %first, i32 0
  %all = shufflevector <16 x i64> %one, <16 x i64> poison, <16 x i32> zeroinitializer
  %run = add <16 x i64> %all, {steps}
  %off = icmp ne <16 x i64> %at, %run
  %off.bits = bitcast <16 x i1> %off to i16
  %strays = and i16 %off.bits, %mask
  %is_run = icmp eq i16 %strays, 0
  br i1 %is_run, label %straight, label %other
straight:
  %p = inttoptr i64 %first to ptr
  %a = call {half} @llvm.masked.load.{name}.p0(ptr align 1 %p, <16 x i1> %lanes, {half} zeroinitializer)
  ret {half} %a
other:
  %differ = icmp ne <16 x i64> %at, %all
  %differ.bits = bitcast <16 x i1> %differ to i16
  %apart = and i16 %differ.bits, %mask
  %first_active = trunc i16 %mask to i1
  %none_apart = icmp eq i16 %apart, 0
  %is_one = and i1 %none_apart, %first_active
  br i1 %is_one, label %same, label %any
same:
  %q = inttoptr i64 %first to ptr
  %x = load {type_}, ptr %q, align 1
  %x1 = insertelement {half} poison, {type_} %x, i32 0
  %b = shufflevector {half} %x1, {half} poison, <16 x i32> zeroinitializer
  ret {half} %b
any:
{_any_half(type_, declarations)}
}}
{_by_halves(type_, width)}"""


def _any_half(type_: str, declarations: set[str]) -> str:
    """What half a warp loads from any places."""
    b = Builder(declarations, HALF)
    b.emit(f"%places = inttoptr {b.vector('i64')} %at to {b.vector('ptr')}")
    if gathers_quickly() and BITS[type_] < 32:
        _return_parts_of_words(b, "%places", type_, "%mask", "alone")
        b.place("alone")
    b.emit(f"ret {b.vector(type_)} {gather_at_once(b, '%places', type_, '%mask')}")
    return "\n".join(b.lines)


def _by_halves(type_: str, width: int) -> str:
    """The function that gathers half warp after half warp."""
    b = Builder(set(), width)
    whole, half, words = b.vector(type_), vector(type_, HALF), b.vector("i64")
    parts: list[str] = []
    for first in range(0, width, HALF):
        some = b.shuffle("i64", width, "%at", range(first, first + HALF))
        moved = b.value(f"lshr {b.lanes} %mask, {first}")
        mask = b.value(f"trunc {b.lanes} {moved} to i{HALF}")
        args = [(vector("i64", HALF), some), (f"i{HALF}", mask)]
        parts.append(b.call(half, f"wg_gather_half_{type_}", args))
    found = b.joined(type_, parts, HALF)
    body = "\n".join(b.lines)
    return f"""define internal {whole} @wg_gather_{type_}({words} %at, {b.lanes} %mask) noinline #0 {{
entry:
{body}
  ret {whole} {found}
}}
"""
