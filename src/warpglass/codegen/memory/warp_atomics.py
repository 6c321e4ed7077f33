"""Atomic operations of a whole warp at once: on one address, and on addresses within the site's range.

What needs no search for addresses belongs here; atomics.py serves the rest lane by lane. The lanes' turns are
in lane order. So on one address the warp needs a single operation, with all operands combined, if LLVM has an
instruction that can be; what a lane would have found there is the old value combined with the operands of the
lanes before it. Shared memory is its block's own, and a block is run by one thread: there, plain loads and
stores do. So they do in a launch that runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...isa.lanes import Update
from ...isa.types import BITS
from ..builder import Builder, constant_vector, suffix, vector
from ..context import SLOT
from ..values.value import Value, literal
from .atomic_forms import Atomic, RowChange
from .boundary import BoundaryAccess

WIDEST = 64  # bits that every host can exchange at any address

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
        b.branch(b.someone(mask), active, done)
        b.place(active)
        bad, bounds = self._check_interval(site, address, 1)

        def quick() -> list[str]:
            before, total = self._combine(operation, value, whole, mask)
            old = self._change(operation, type_, self._host(address, bounds), total, self._own(site))
            return [_apply(b, operation, type_, b.splat(type_, old), before, b.width)]

        def careful() -> tuple[list[str], str]:
            return self._slowly(site, operation, type_, self._splat_address(address), [whole], mask)

        found = self.load_either(bad, b.vector(type_), quick, careful)[0]
        join = b.label("found")
        b.jump(join)
        b.place(join)
        b.jump(done)
        b.place(done)
        return b.phi(b.vector(type_), ("zeroinitializer", start), (found, join))

    def _change(self, operation: str, type_: str, place: str, operand: str, own: bool) -> str:
        """Change one element, that nobody else comes to, or nobody where one thread runs; the old one."""
        b = self.builder
        if own:
            return _changed_alone(b, operation, type_, place, operand)
        alone = b.load("i64", b.offset("%context", 8 * SLOT["alone"]))
        undisturbed, together, done = b.label("alone"), b.label("together"), b.label("replaced")
        b.branch(b.value(f"icmp ne i64 {alone}, 0"), undisturbed, together)
        b.place(undisturbed)
        read = _changed_alone(b, operation, type_, place, operand)
        b.jump(done)
        b.place(together)
        exchanged = b.value(f"atomicrmw {operation} ptr {place}, {type_} {operand} seq_cst")
        b.jump(done)
        b.place(done)
        return b.phi(type_, (read, undisturbed), (exchanged, together))

    def _combine(self, operation: str, value: Value, whole: str, mask: str) -> tuple[str, str]:
        """The operands of the lanes before each lane, as a vector, and of all lanes, combined."""
        b, type_ = self.builder, value.type
        wide = b.vector(type_)
        if operation == "add" and value.uniform:  # counting lanes is all that is left to do
            words = b.vector(b.lanes)
            below = constant_vector(
                b.lanes, (literal(b.lanes, (1 << lane) - 1, b.width) for lane in range(b.width))
            )
            earlier = b.value(f"and {words} {b.splat(b.lanes, mask)}, {below}")
            counts = b.call(words, f"llvm.ctpop.{b.suffix(b.lanes)}", [(words, earlier)])
            count = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, mask)])
            if type_ != b.lanes:
                fit = "zext" if b.width < BITS[type_] else "trunc"
                counts = b.value(f"{fit} {words} {counts} to {wide}")
                count = b.value(f"{fit} {b.lanes} {count} to {type_}")
            return b.value(f"mul {wide} {counts}, {whole}"), b.value(f"mul {type_} {count}, {value.ir}")
        instruction, neutral = _COMBINED[operation]
        none = f"splat ({type_} {literal(type_, neutral(BITS[type_]), BITS[type_])})"
        chosen = b.value(f"select {b.vector('i1')} {b.mask_vector(mask)}, {wide} {whole}, {wide} {none}")
        name = f"llvm.vector.reduce.{instruction.removeprefix('llvm.')}.{b.suffix(type_)}"
        total = b.call(type_, name, [(wide, chosen)])
        before = self._moved(chosen, type_, none, 1)
        distance = 1
        while distance < b.width:
            before = _apply(b, operation, type_, before, self._moved(before, type_, none, distance), b.width)
            distance *= 2
        return before, total

    def _moved(self, value: str, type_: str, none: str, distance: int) -> str:
        """Each lane's value some lanes further up; neutral ones come in."""
        width = self.builder.width
        picks = (lane - distance if lane >= distance else width for lane in range(width))
        return self.builder.shuffle(type_, width, value, picks, none)

    # ------------------------------------------------------------------------------------ any addresses
    def change_any(
        self,
        site: int,
        change: str | Update,
        address: str,
        operands: Sequence[tuple[Value, str]],
        mask: str,
    ) -> str:
        """Change the elements at any addresses (vectors of i64) in lane order; the old values.

        `operands` come as they are and as vectors.
        """
        b, type_ = self.builder, operands[0][0].type
        bad, bounds = self._check_vector(site, address, mask)

        def quick() -> list[str]:
            words = b.vector("i64")
            hosts = b.value(f"add {words} {address}, {b.splat('i64', bounds.delta)}")
            return [self._change_checked(site, change, hosts, operands, mask)]

        def careful() -> tuple[list[str], str]:
            if self.step in self.deferred:
                b.call("void", "wg_stop_deferring", [("ptr", "%context")])
            return self._slowly(site, change, type_, address, [all_ for _, all_ in operands], mask)

        return self.load_either(bad, b.vector(type_), quick, careful)[0]

    def _change_checked(
        self,
        site: int,
        change: str | Update,
        hosts: str,
        operands: Sequence[tuple[Value, str]],
        mask: str,
    ) -> str:
        """The same at checked addresses on the host."""
        b, type_ = self.builder, operands[0][0].type
        uniform = tuple(value.uniform for value, _ in operands)
        row = RowChange(change, type_, self._own(site), uniform, b.width, self.step in self.deferred)
        self.rows[row.name] = row
        args = [("ptr", "%context"), (b.vector("i64"), hosts), (b.lanes, mask)]
        args += [(type_, one.ir) if one.uniform else (b.vector(type_), all_) for one, all_ in operands]
        return b.call(b.vector(type_), row.name, args)

    def _slowly(
        self, site: int, change: str | Update, type_: str, address: str, given: list[str], mask: str
    ) -> tuple[list[str], str]:
        b = self.builder
        old = self.atomic(site, Atomic(change, type_, 1, len(given)), address, [given], mask)
        label = b.label("served")
        b.jump(label)
        b.place(label)
        return old, label


def combines(operation: str) -> bool:
    """Whether the operands of lanes that share an address can be combined before memory is touched."""
    return operation in _COMBINED


def _apply(b: Builder, operation: str, type_: str, one: str, two: str, lanes: int) -> str:
    """Two operands combined."""
    instruction, whole = _COMBINED[operation][0], vector(type_, lanes)
    if instruction.startswith("llvm."):
        return b.call(whole, f"{instruction}.{suffix(type_, lanes)}", [(whole, one), (whole, two)])
    return b.value(f"{instruction} {whole} {one}, {two}")


def _changed_alone(b: Builder, operation: str, type_: str, place: str, operand: str) -> str:
    """Change one element that nobody else comes to; returns the old one."""
    old = b.load(type_, place, ", align 1")
    b.store(type_, changed(b, operation, type_, old, operand), place, ", align 1")
    return old


def changed(b: Builder, operation: str, type_: str, old: str, operand: str) -> str:
    """What an operation of one operand makes of an element."""
    if operation == "xchg":
        return operand
    if operation in _COMBINED:
        return _apply(b, operation, type_, old, operand, lanes=1)
    limit = b.value(f"icmp {'uge' if operation == 'uinc_wrap' else 'ugt'} {type_} {old}, {operand}")
    if operation == "uinc_wrap":
        more = b.value(f"add {type_} {old}, 1")
        return b.value(f"select i1 {limit}, {type_} 0, {type_} {more}")
    assert operation == "udec_wrap", "no other is an instruction of LLVM"
    wraps = b.value(f"or i1 {limit}, {b.value(f'icmp eq {type_} {old}, 0')}")
    return b.value(f"select i1 {wraps}, {type_} {operand}, {type_} {b.value(f'sub {type_} {old}, 1')}")
