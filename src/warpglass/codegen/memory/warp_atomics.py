"""Atomic operations of a whole warp at once: on one address, and on addresses within the site's range.

What LLVM can do to an integer in memory in one instruction (`atomicrmw`) and needs no search for addresses
belongs here; atomics.py serves the rest lane by lane. The lanes' turns are in lane order. So on one address
the warp needs a single operation, with all operands combined; what a lane would have found there is the old
value combined with the operands of the lanes before it. Shared memory is its block's own, and a block is run
by one thread: there, plain loads and stores do. So they do in a launch that runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable

from ...isa.types import BITS
from ..builder import WIDTH, Builder, constant_vector, suffix, vector
from ..context import SLOT
from ..values.value import Value, literal
from .access import Atomic
from .boundary import BoundaryAccess

# LLVM's operations whose operands can be combined: the instruction, and what changes nothing, by width.
_COMBINED: dict[str, tuple[str, Callable[[int], int]]] = {
    "add": ("add", lambda width: 0),
    "and": ("and", lambda width: -1),
    "or": ("or", lambda width: 0),
    "xor": ("xor", lambda width: 0),
    "umax": ("llvm.umax", lambda width: 0),
    "umin": ("llvm.umin", lambda width: -1),
    "max": ("llvm.smax", lambda width: -(1 << (width - 1))),
    "min": ("llvm.smin", lambda width: (1 << (width - 1)) - 1),
}


class WarpAtomics(BoundaryAccess):
    """Emits accesses of every form, atomic ones included."""

    def _own(self, site: int) -> bool:
        return self.sites[site].space == "shared"

    # ------------------------------------------------------------------------------------ one address
    def change_one(self, site: int, operation: str, address: str, value: Value, whole: str, mask: str) -> str:
        """Change the element at one address by all lanes' operands, `whole` as a vector; the old values."""
        b, type_ = self.builder, value.type
        start, active, done = b.label("any"), b.label("active"), b.label("changed")
        b.jump(start)
        b.place(start)
        b.branch(b.value(f"icmp ne i32 {mask}, 0"), active, done)
        b.place(active)
        bad, bounds = self._check_interval(site, address, 1)

        def quick() -> list[str]:
            before, total = self._combine(operation, value, whole, mask)
            old = _change(b, operation, type_, self._host(address, bounds), total, self._own(site))
            return [_apply(b, operation, type_, b.splat(type_, old), before)]

        def careful() -> tuple[list[str], str]:
            return self._slowly(site, operation, type_, self._splat_address(address), whole, mask)

        found = self.load_either(bad, vector(type_), quick, careful)[0]
        join = b.label("found")
        b.jump(join)
        b.place(join)
        b.jump(done)
        b.place(done)
        return b.phi(vector(type_), ("zeroinitializer", start), (found, join))

    def _combine(self, operation: str, value: Value, whole: str, mask: str) -> tuple[str, str]:
        """The operands of the lanes before each lane, as a vector, and of all lanes, combined."""
        b, type_ = self.builder, value.type
        wide = vector(type_)
        if operation == "add" and value.uniform:  # counting lanes is all that is left to do
            below = constant_vector("i32", (literal("i32", (1 << lane) - 1, 32) for lane in range(WIDTH)))
            earlier = b.value(f"and <32 x i32> {b.splat('i32', mask)}, {below}")
            counts = b.call("<32 x i32>", "llvm.ctpop.v32i32", [("<32 x i32>", earlier)])
            count = b.call("i32", "llvm.ctpop.i32", [("i32", mask)])
            if type_ != "i32":
                counts = b.value(f"zext <32 x i32> {counts} to {wide}")
                count = b.value(f"zext i32 {count} to {type_}")
            return b.value(f"mul {wide} {counts}, {whole}"), b.value(f"mul {type_} {count}, {value.ir}")
        instruction, neutral = _COMBINED[operation]
        none = f"splat ({type_} {literal(type_, neutral(BITS[type_]), BITS[type_])})"
        chosen = b.value(f"select <32 x i1> {b.mask_vector(mask)}, {wide} {whole}, {wide} {none}")
        name = f"llvm.vector.reduce.{instruction.removeprefix('llvm.')}.{suffix(type_)}"
        total = b.call(type_, name, [(wide, chosen)])
        before = self._moved(chosen, type_, none, 1)
        for distance in (1, 2, 4, 8, 16):
            before = _apply(b, operation, type_, before, self._moved(before, type_, none, distance))
        return before, total

    def _moved(self, value: str, type_: str, none: str, distance: int) -> str:
        """Each lane's value some lanes further up; neutral ones come in."""
        picks = (lane - distance if lane >= distance else WIDTH for lane in range(WIDTH))
        return self.builder.shuffle(type_, WIDTH, value, picks, none)

    # ------------------------------------------------------------------------------------ any addresses
    def change_any(self, site: int, operation: str, address: str, value: Value, whole: str, mask: str) -> str:
        """Change the elements at any addresses (<32 x i64>) in lane order; the old values."""
        b, type_ = self.builder, value.type
        bad, bounds = self._check_vector(site, address, mask)

        def quick() -> list[str]:
            row = operation, type_, self._own(site), value.uniform
            self.rows.add(row)
            host = b.value(f"add <32 x i64> {address}, {b.splat('i64', bounds.delta)}")
            operand = (type_, value.ir) if value.uniform else (vector(type_), whole)
            args = [("ptr", "%context"), ("<32 x i64>", host), operand, ("i32", mask)]
            return [b.call(vector(type_), _name(*row), args)]

        def careful() -> tuple[list[str], str]:
            return self._slowly(site, operation, type_, address, whole, mask)

        return self.load_either(bad, vector(type_), quick, careful)[0]

    def _slowly(
        self, site: int, operation: str, type_: str, address: str, values: str, mask: str
    ) -> tuple[list[str], str]:
        b = self.builder
        old = self.atomic(site, Atomic(operation, type_, 1, 1), address, [[values]], mask)
        label = b.label("served")
        b.jump(label)
        b.place(label)
        return old, label


def is_plain(operation: str) -> bool:
    """Whether an operation, by LLVM's name, is one for `change_any`."""
    return operation == "xchg" or operation in _COMBINED


def combines(operation: str) -> bool:
    """Whether the operands of lanes that share an address can be combined before memory is touched."""
    return operation in _COMBINED


def _apply(b: Builder, operation: str, type_: str, one: str, two: str, lanes: int = WIDTH) -> str:
    """Two operands combined."""
    instruction, whole = _COMBINED[operation][0], vector(type_, lanes)
    if instruction.startswith("llvm."):
        return b.call(whole, f"{instruction}.{suffix(type_, lanes)}", [(whole, one), (whole, two)])
    return b.value(f"{instruction} {whole} {one}, {two}")


def _change(b: Builder, operation: str, type_: str, place: str, operand: str, own: bool) -> str:
    """Change one element; returns the old one."""
    if not own:
        return b.value(f"atomicrmw {operation} ptr {place}, {type_} {operand} seq_cst")
    old = b.load(type_, place, ", align 1")
    b.store(type_, changed(b, operation, type_, old, operand), place, ", align 1")
    return old


def changed(b: Builder, operation: str, type_: str, old: str, operand: str) -> str:
    """What a plain operation makes of an element."""
    return operand if operation == "xchg" else _apply(b, operation, type_, old, operand, lanes=1)


def _name(operation: str, type_: str, own: bool, same: bool) -> str:
    return f"wg_{'own' if own else 'all'}_{'same_' if same else ''}{operation}_{type_}"


def row_helper(operation: str, type_: str, own: bool, same: bool, declarations: set[str]) -> str:
    """The function that changes the elements at checked host addresses, one lane after the other.

    A launch on one thread has all memory to itself, and needs no atomic instructions.
    """
    b, wide = Builder(declarations), vector(type_)
    b.emit("%at = alloca <32 x i64>, align 64")
    b.emit(f"%values = alloca {wide}, align 64")
    b.emit(f"%found = alloca {wide}, align 64")
    b.store("<32 x i64>", "%hosts", "%at")
    if not same:
        b.store(wide, "%operands", "%values")

    def change(place: str, lane: str | int, alone: bool) -> None:
        value = "%operands" if same else b.load(type_, _element(b, "%values", type_, lane))
        # Volatile: taking addresses out of a vector register again takes longer than loading them.
        at = b.value(f"load volatile ptr, ptr {place}")
        old = _change(b, operation, type_, at, value, alone)
        b.store(type_, old, _element(b, "%found", type_, lane))

    ways = {"alone": True} if own else {"alone": True, "together": False}
    if not own:
        word = b.load("i64", b.offset("%context", 8 * SLOT["alone"]))
        b.branch(b.value(f"icmp ne i64 {word}, 0"), "alone", "together")
    else:
        b.jump("alone")
    for way, alone in ways.items():
        b.place(way)
        b.branch(b.value("icmp eq i32 %mask, -1"), f"everyone_{way}", f"some_{way}")
        b.place(f"everyone_{way}")
        for lane in range(WIDTH):
            change(b.offset("%at", 8 * lane), lane, alone)
        b.jump("done")
        b.place(f"some_{way}")
        b.branch(b.value("icmp eq i32 %mask, 0"), "done", f"next_{way}")
        b.place(f"next_{way}")
        rest, fewer = f"%rest_{way}", f"%fewer_{way}"
        b.emit(f"{rest} = phi i32 [ %mask, %some_{way} ], [ {fewer}, %next_{way} ]")
        first = b.call("i32", "llvm.cttz.i32", [("i32", rest), ("i1", "true")])
        lane = b.value(f"zext i32 {first} to i64")
        change(b.value(f"getelementptr ptr, ptr %at, i64 {lane}"), lane, alone)
        b.emit(f"{fewer} = and i32 {rest}, {b.value(f'sub i32 {rest}, 1')}")
        b.branch(b.value(f"icmp eq i32 {fewer}, 0"), "done", f"next_{way}")
    b.place("done")
    b.emit(f"ret {wide} {b.load(wide, '%found')}")
    head = f"define internal {wide} @{_name(operation, type_, own, same)}"
    given = f"ptr %context, <32 x i64> %hosts, {type_ if same else wide} %operands, i32 %mask"
    return "\n".join(["", f"{head}({given}) noinline #0 {{", *b.lines, "}", ""])


def _element(b: Builder, vector_: str, type_: str, lane: str | int) -> str:
    if isinstance(lane, int):
        return b.offset(vector_, lane * BITS[type_] // 8)
    return b.value(f"getelementptr {type_}, ptr {vector_}, i64 {lane}")
