"""Writes bulk copies (isa/bulk_copy.py) out as loops of loads and stores, and a report to their barrier.

`cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [b], size, [c]` becomes

    again: setp.ge.u32 over, done, size; @over bra behind;
           ld.global.v4.b32 {..}, [from]; st.shared.v4.b32 [to], {..};
           add from, from, 16; add to, to, 16; add done, done, 16; bra again;
    behind: mbarrier.complete_tx.shared.b64 [c], size;

at the line of the copy. So whoever observes accesses sees it read and write, ordered by the barrier; and a
profile counts these instructions. A reduction takes elements instead of pieces, and `red` instead of a store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from .. import isa
from ..isa.bulk_copy import COPY
from ..isa.cluster import names_cluster
from ..isa.types import BITS, LLVM_TYPE
from ..ptx import tree

_PIECE = 16  # bytes: what all of a copy's addresses and its size are multiples of
_CLUSTER = "shared::cluster"
_Written = tree.Instruction | tree.Label


def write_bulk_copies(function: tree.Function) -> tree.Function:
    """A kernel with its bulk copies written out; itself if it has none."""
    body = function.body or ()
    found = {position: match for position, item in enumerate(body) if (match := _copy(item)) is not None}
    if not found:
        return function
    others = (item for position, item in enumerate(body) if position not in found)
    clustered = any(isinstance(item, tree.Instruction) and names_cluster(item) for item in others)
    writer = _Writer(dict(function.registers), clustered)
    made: list[_Written] = []
    for position, item in enumerate(body):
        made += writer.written_out(found[position]) if position in found else (item,)
    return replace(function, body=tuple(made), registers=writer.registers)


def _copy(item: _Written) -> isa.Match | None:
    if not isinstance(item, tree.Instruction) or "bulk" not in item.modifiers:
        return None
    match = isa.match(item)
    return match if match is not None and match.row.control == COPY else None


class _Writer:
    """Writes copies of one kernel, with registers and labels of its own.

    Only in a kernel that names other blocks of its `cluster` can the target be in another's shared memory.
    """

    def __init__(self, registers: dict[str, str], clustered: bool):
        self.registers = registers
        self._clustered = clustered
        self._numbers = count()
        self._item = tree.Instruction("", (), ())

    def written_out(self, match: isa.Match) -> Iterator[_Written]:
        """The instructions that stand for a copy."""
        self._item = item = match.instruction
        target, source, size, *reported = item.operands[:4]
        assert isinstance(target, tree.Address)
        assert isinstance(source, tree.Address)
        into, out_of = self._spaces(item)
        again, behind, over = self._label("again"), self._label("behind"), self._register("pred")
        skipped = self._label("skipped")
        if item.guard is not None:
            others = replace(item.guard, negated=not item.guard.negated)
            yield self._make("bra", tree.Symbol(skipped.name), guard=others)
        done = self._register("b32")
        to, from_ = (self._register(self._width(address)) for address in (target, source))
        yield self._make("mov.u32", done, tree.Integer(0))
        yield from self._start(to, target)
        yield from self._start(from_, source)
        yield again
        yield self._make("setp.ge.u32", over, done, size)
        yield self._make("bra", tree.Symbol(behind.name), guard=tree.Guard(over.name, negated=False))
        step = yield from self._piece(match, into, to, out_of, from_)
        for register in (done, to, from_):
            yield self._make(f"add.u{self._bits(register)}", register, register, tree.Integer(step))
        yield self._make("bra", tree.Symbol(again.name))
        yield behind
        if _is_barrier(reported):
            yield self._make(f"mbarrier.complete_tx.{into}.b64", reported[0], size)
        if item.guard is not None:
            yield skipped

    def _spaces(self, item: tree.Instruction) -> tuple[str, str]:
        """The state spaces of target and source, as accesses name them."""
        named = [word for word in item.modifiers if word == "global" or word.startswith("shared")]
        remote = _CLUSTER if self._clustered and named[0] == _CLUSTER else "shared"
        return (remote if named[0] != "global" else "global"), named[1].partition("::")[0]

    def _piece(
        self, match: isa.Match, into: str, to: tree.Register, out_of: str, from_: tree.Register
    ) -> Iterator[_Written]:
        """One turn's load and store; returns the bytes that they move."""
        if match.op is None:
            parts = tree.Vector(tuple(self._register("b32") for _ in range(4)))
            yield self._make(f"ld.{out_of}.v4.b32", parts, tree.Address(from_))
            yield self._make(f"st.{into}.v4.b32", tree.Address(to), parts)
            return _PIECE
        type_ = match.values["type"]
        width = BITS[LLVM_TYPE[type_]]
        value = self._register(f"b{width}")
        words = f"{match.op}.noftz" if match.noftz else match.op
        yield self._make(f"ld.{out_of}.b{width}", value, tree.Address(from_))
        yield self._make(f"red.{into}.{words}.{type_}", tree.Address(to), value)
        return width // 8

    def _start(self, register: tree.Register, address: tree.Address) -> Iterator[_Written]:
        """The first address in a register."""
        width = self._bits(register)
        base = address.base
        if isinstance(base, tree.Register):
            yield self._make(f"add.u{width}", register, base, tree.Integer(address.offset))
            return
        moved = tree.Displaced(base, address.offset) if isinstance(base, tree.Symbol) else base
        yield self._make(f"mov.u{width}", register, moved)

    def _width(self, address: tree.Address) -> str:
        """The type of a register for an address: that of its own."""
        base = address.base
        own = self.registers.get(base.name, "") if isinstance(base, tree.Register) else ""
        return "b32" if own.endswith("32") else "b64"

    def _bits(self, register: tree.Register) -> str:
        return self.registers[register.name][1:]

    def _register(self, type_: str) -> tree.Register:
        name = f"%bulk:{next(self._numbers)}"
        self.registers[name] = type_
        return tree.Register(name)

    def _label(self, what: str) -> tree.Label:
        return tree.Label(f"@{what}:{next(self._numbers)}", self._item.line)

    def _make(
        self, written: str, *operands: tree.Operand, guard: tree.Guard | None = None
    ) -> tree.Instruction:
        """An instruction at the copy's line; `written` is its opcode with the modifiers."""
        opcode, *modifiers = written.split(".")
        line, source = self._item.line, self._item.source
        return tree.Instruction(opcode, tuple(modifiers), operands, guard, line, source)


def _is_barrier(operands: list[tree.Operand]) -> bool:
    """Whether what follows the size is a barrier object, and not a policy."""
    return bool(operands) and isinstance(operands[0], tree.Address)
