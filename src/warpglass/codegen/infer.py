"""Finds the kind of every register: which are uniform or affine in all they are ever given.

The meanings are run over the program on facts alone (values/facts.py). Optimistic: a register starts unknown
and is joined with every value written to it until nothing changes. A register that must keep waiting lanes
apart (program/pending.py) has to be a vector; since that depends on which branches diverge, and that on the
kinds, the two are repeated until they agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from ..isa.types import LLVM_TYPE, is_float
from ..program import Block, Pending, Program, WarpBarrier, find_pending, read_elsewhere
from ..ptx import tree
from .operands import Operands, Symbols
from .shape import BlockShape, Promises
from .values.affine import line_of
from .values.bounds import join
from .values.facts import FactLanes
from .values.known_bits import lane_zeros, zeros_of
from .values.value import Offsets, Value, no_offsets

# How often a register's bounds may grow before they take longer steps, by one write and by all: by those of a
# loop they grow again and again, by those of a switch once each.
_PATIENCE, _PATIENCE_OF_ALL = 3, 12
_STEPS = (7, 15, 31, 63, 127)  # bits of bounds without their sign


@dataclass(frozen=True, slots=True)
class Inference:
    """The result: kinds by register, which blocks' branches may split a warp, and where lanes wait.

    A kind is what is known of a register wherever it is read: a value without names.
    """

    kinds: dict[str, Value]
    divergent: tuple[bool, ...]
    pending: Pending

    def offsets(self, name: str) -> Offsets | None:
        """Those of a register's lanes, None if it is a vector."""
        kind = self.kinds.get(name)
        return None if kind is None else kind.offsets


def _zero(type_: str, width: int) -> Value:
    bound = None if is_float(type_) else 0
    line = None if is_float(type_) else (0, 0)
    return Value(type_, "", no_offsets(width), 0, bound, bound, line=line)


class _Unknown(Exception):
    """A register that is read has not been written yet."""


class _Table:
    """Register kinds as they are found; stands in for Registers."""

    def __init__(self, types: dict[str, str], hulls: Mapping[str, tuple[int, int]]):
        self.types = types
        self._hulls = hulls
        self.barred: set[str] = set()  # registers that have to be vectors
        self.kinds: dict[str, Value] = {}
        self.step = 0  # that is run
        self._growth: dict[str, Counter[int]] = {}  # how often the bounds of a register grew, by step

    def read(self, name: str) -> Value:
        kind = self.kinds.get(name)
        if kind is None:
            raise _Unknown
        return kind

    def bar(self, names: Iterable[str]) -> None:
        """Make registers vectors."""
        self.barred.update(names)
        for name in names:
            kind = self.kinds[name]
            bounds, zeros = (kind.low, kind.high), lane_zeros(kind)
            self.kinds[name] = Value(kind.type, "", None, None, *bounds, nan=kind.nan, zeros=zeros)

    def join(self, name: str, value: Value) -> bool:
        """Add a value that a register may hold; returns whether its kind changed."""
        offsets = None if name in self.barred else value.offsets
        constant = value.constant if offsets is not None else None
        ok = "" if value.ok is not None and offsets is not None else None
        line = line_of(value) if offsets is not None else None
        zeros = 0 if line else zeros_of(value) if offsets is not None else lane_zeros(value)
        bounds = value.low, value.high
        new = Value(value.type, "", offsets, constant, *bounds, ok, None, value.nan, line, zeros)
        old = self.kinds.get(name)
        if old is not None:
            new = self._merge(name, old, new)
        if new == old:
            return False
        self.kinds[name] = new
        return True

    def _merge(self, name: str, old: Value, new: Value) -> Value:
        same = old.offsets is not None and old.offsets == new.offsets
        constant = old.constant if same and old.constant == new.constant else None
        low = high = None
        if None not in (old.low, old.high, new.low, new.high):
            low, high = min(old.low, new.low), max(old.high, new.high)  # type: ignore[type-var]
            hull = self._hulls.get(name)
            if hull is not None and hull[0] <= low and high <= hull[1]:
                low, high = hull
            elif (low, high) != (old.low, old.high):
                growth = self._growth.setdefault(name, Counter())
                growth[self.step] += 1
                if growth[self.step] > _PATIENCE or growth.total() > _PATIENCE_OF_ALL:
                    low = low if low == old.low else _farther(low) if low < 0 else 0
                    high = high if high == old.high else _farther(high) if high >= 0 else -1
        ok = "" if same and (old.ok, new.ok) != (None, None) else None
        line = old.line if same and old.line == new.line and ok is None else None
        zeros = 0
        if line is None:
            known = zeros_of if same else lane_zeros
            zeros = min(known(old), known(new))
        offsets, nan = old.offsets if same else None, max(old.nan, new.nan)
        return Value(old.type, "", offsets, constant, low, high, ok, None, nan, line, zeros)


def _hulls(program: Program) -> dict[str, tuple[int, int]]:
    """Bounds that registers may as well grow to at once: those of all that is written to them."""
    found: dict[str, tuple[int, int] | None] = {}
    for step in (step for block in program.blocks for step in block.all_steps):
        for name in step.writes:
            own = step.bounds.get(name)
            found[name] = join(found.get(name, own), own)
    return {name: hull for name, hull in found.items() if hull is not None}


def _farther(bound: int) -> int:
    """The next of a few bounds that every interval may grow to, so that a counting loop is done with soon."""
    if bound >= 0:
        return (1 << next(bits for bits in _STEPS if bits >= bound.bit_length())) - 1
    return -1 - _farther(-1 - bound)


def infer_kinds(program: Program, shape: BlockShape, promises: Promises, symbols: Symbols) -> Inference:
    """Kinds of all registers for a block shape and what the launches promise."""
    search = _Search(program, FactLanes(shape, promises, program.strays), symbols)
    search.settle(range(len(search.order)))
    while True:
        table = search.table
        divergent = tuple(_diverges(block, table) for block in program.blocks)
        steady = frozenset(i for i, block in enumerate(program.blocks) if _keeps_its_mask(block, table))
        pending = find_pending(program.blocks, divergent, program.fair, steady)
        more = _must_be_vectors(program, pending, table)
        if more <= table.barred:
            return Inference(table.kinds, divergent, pending)
        table.bar(more)
        search.settle(search.users_of(more))


class _Search:
    """The steps that write registers, run until no kind changes."""

    def __init__(self, program: Program, lanes: FactLanes, symbols: Symbols):
        types = {name: LLVM_TYPE[type_] for name, type_ in program.registers.items()}
        self.table = _Table(types, _hulls(program))
        self._lanes = lanes
        self._operands = Operands(lanes, self.table, symbols)
        self.order = [step for block in program.blocks for step in block.steps if step.writes]
        self._users: dict[str, list[int]] = {}
        for index, step in enumerate(self.order):
            for name in step.reads:
                self._users.setdefault(name, []).append(index)
        # What may be read before it is written holds the zero that every register starts with.
        self.table.kinds.update((name, _zero(types[name], lanes.shape.width)) for name in program.live[0])

    def users_of(self, names: Iterable[str]) -> set[int]:
        """The steps, by their place in the order, that read a register."""
        return {index for name in names for index in self._users.get(name, ())}

    def settle(self, steps: Iterable[int]) -> None:
        """Run steps and whatever reads what they change; kinds only ever become less particular.

        They run in their order, and in that order again as often as what comes before is changed.
        """
        work = set(steps)
        while work:
            batch, waiting, work = sorted(work), work, set[int]()
            while batch:
                index = heappop(batch)
                waiting.remove(index)
                for user in self.users_of(self._transfer(index)):
                    if user <= index:
                        work.add(user)
                    elif user not in waiting:
                        waiting.add(user)
                        heappush(batch, user)

    def _transfer(self, index: int) -> list[str]:
        """Run a step's meaning, by its place in the order; returns the registers whose kind changed."""
        step, operands, table = self.order[index], self._operands, self.table
        self._lanes.step = table.step = step.number
        try:
            predicate = step.instruction.guard and operands.predicate(step.instruction.guard)
            results = operands.results(step)
        except _Unknown:
            return []
        changed: list[str] = []
        for target, signed, value in results:
            if not isinstance(target, tree.Register):
                continue
            fitted = operands.fitted(step, target.name, value, signed)
            if predicate is not None and not predicate.uniform:
                fitted = Value(fitted.type, "", None, None, fitted.low, fitted.high, nan=fitted.nan)
            if table.join(target.name, fitted):
                changed.append(target.name)
        return changed


def _diverges(block: Block, table: _Table) -> bool:
    if block.splits is None:
        return False
    kind = table.kinds.get(block.splits)
    return kind is None or not kind.uniform


def _keeps_its_mask(block: Block, table: _Table) -> bool:
    """Whether a block ends in a warp barrier whose member mask is a constant."""
    if not isinstance(block.end, WarpBarrier):
        return False
    mask = block.end.step.match.member_mask
    if isinstance(mask, tree.Register):
        kind = table.kinds.get(mask.name)
        return kind is not None and kind.constant is not None
    return isinstance(mask, tree.Integer)


def _must_be_vectors(program: Program, pending: Pending, table: _Table) -> frozenset[str]:
    """Scalar registers that are written while other lanes wait for their own value of them."""
    found: set[str] = set()
    scalars = {name for name, kind in table.kinds.items() if kind.offsets is not None}
    for block, read in zip(program.blocks, read_elsewhere(pending, program.live), strict=True):
        for step in block.steps if read else ():
            found.update(name for name in step.writes if name in scalars and name in read)
    return frozenset(found)
