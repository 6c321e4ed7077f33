"""What a loop of one block does in round k, as far as it is known before the loop begins.

Most loops count: registers move on by the same in every round, so how many rounds there are and where each
loads can be computed in front of the loop. One round is run with the values of path_bounds/analysis.py, whose
roots say how each is made of what the round begins with. Two things may have to be taken for granted, and are
tested for each lane before it begins (preparation.py): that indices do not wrap, and which way tests go that
choose between numbers. Compilers of Python write such tests: an index below zero counts from the end, and a
range that is used up stays where it is. They are taken to go the way they do for large numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...isa.memory import is_strong
from ...isa.types import BITS, LLVM_TYPE
from ...program import Branch, Program, Step
from ...ptx import tree
from ..operands import Operands, Symbols
from ..path_bounds.analysis import COMPUTING
from ..path_bounds.domain import INTEGERS, AbstractInt, AbstractLanes, Test, constant, signed
from ..shape import BlockShape, Promises
from ..values.value import Value
from .find import Group, LaneLoop

# The size of the numbers that a test is taken to be about, and of those that it may compare them with.
_LARGE, _SMALL = 1 << 30, 1 << 20
# Bytes up to which loads move on in a round: as many rounds as lanes have at most must not wrap around.
_LONGEST_PACE = 1 << 40
INVERSE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_HOLDS = {"lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__}


@dataclass(frozen=True, slots=True)
class Atom:
    """A register as a loop begins or, of i64, a sum of such of i32 that was extended by an `operation`.

    What is loaded from a place that stays has a name of `Rounds.staying`.
    """

    register: str = ""
    operation: str = ""
    inner: Linear | None = None


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum of atoms, each times a number, and a number, modulo the width of its type."""

    type: str
    parts: tuple[tuple[Atom, int], ...]
    number: int

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """The sum of one and another times a factor."""
        parts = dict(self.parts)
        for atom, count in other.parts:
            parts[atom] = signed(parts.get(atom, 0) + count * factor, self.type)
        kept = tuple((atom, count) for atom, count in sorted(parts.items(), key=repr) if count)
        return Linear(self.type, kept, signed(self.number + other.number * factor, self.type))

    @property
    def moved(self) -> Linear:
        """The same without the number."""
        return Linear(self.type, self.parts, 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A test of two values that move by `paces` in each round, and what it says while it is as expected."""

    predicate: str
    operands: tuple[Linear, Linear]
    paces: tuple[int, int]
    holds: bool
    last: bool = True  # whether it must be so in the last round, too


@dataclass(frozen=True, slots=True)
class Walk:
    """Loads or stores that move on by `pace` bytes in each round: `first` is the lowest address in the first.

    `steps` gives each load's distance in bytes from there, `span` the greatest. What else is a Group's.
    """

    place: object
    array: object
    writes: bool
    space: str
    size: int
    leader: int
    first: Linear
    span: int
    steps: Mapping[int, int]
    pace: int


@dataclass(frozen=True, slots=True)
class Extent:
    """A sum of i32 that must not wrap as it is extended: from `low` to `high` beside it, moving by `pace`."""

    operation: str
    value: Linear
    low: int
    high: int
    pace: int


@dataclass(frozen=True, slots=True)
class Rounds:
    """A loop's rounds: while `going` holds they go on. What is needed for that is in the other fields.

    `together` are registers and how far from another one each has to be, as they are in every later round.
    `paces` says by how much registers that are carried from round to round change in each. `staying` are the
    loads whose place does not move, so that they find the same in each round: step and type by a name.
    """

    going: Comparison
    walks: tuple[Walk, ...]
    tests: tuple[Comparison, ...]
    extents: tuple[Extent, ...]
    together: Mapping[str, tuple[str, int]]
    paces: Mapping[str, int]
    staying: Mapping[str, tuple[int, str]]

    @property
    def by_shift(self) -> bool:
        """Whether a shift says how many rounds there are: what counts moves on by a power of two."""
        return self.going.paces[0].bit_count() == 1

    @property
    def walked(self) -> frozenset[int]:
        """The accesses, by step, that move on evenly."""
        return frozenset(step for walk in self.walks for step in walk.steps)

    def carried(self, loop: LaneLoop) -> frozenset[str]:
        """The registers that rounds hand on, apart from what moves evenly and is seldom used."""
        return (loop.read & loop.written).difference(self.paces)


def find_rounds(
    program: Program,
    loop: LaneLoop,
    kinds: Mapping[str, Value],
    shape: BlockShape,
    promises: Promises,
    symbols: Symbols,
) -> Rounds | None:
    """What is known of a loop's rounds; None if it is not enough to know how many there are."""
    end = program.blocks[loop.header].end
    assert isinstance(end, Branch), "a loop of one block ends with one"
    outside = ((name, kind.constant) for name, kind in kinds.items() if name not in loop.written)
    entered = {name: constant for name, constant in outside if constant is not None}
    lanes = _RoundLanes(shape, promises)
    together: dict[str, tuple[str, int]] = {}
    round_ = _Round(program, loop, lanes, symbols, entered, together)
    while more := {name: own for name, own in round_.companions().items() if name not in together}:
        together |= more
        round_ = _Round(program, loop, lanes, symbols, entered, together)
    return round_.rounds(end, together)


class _RoundLanes(AbstractLanes):
    """Takes tests that choose between numbers to go one way; `used` are those of the current step."""

    used: set[Test]

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        test = condition.test if isinstance(condition, AbstractInt) and condition.constant is None else None
        holds = None if test is None or a.type not in ("i32", "i64") else expected(test)
        if test is None or holds is None:
            return super().select(condition, a, b)
        self.used.add(test)
        return a if holds else b


def expected(test: Test) -> bool | None:
    """Which way a test of a number goes if that is large; None if that is not what it is about."""
    if test.operation != "compare":
        return None
    predicate, a, b = test.operands
    if not (isinstance(predicate, str) and isinstance(a, AbstractInt) and isinstance(b, AbstractInt)):
        return None
    numbers = [one.low if one.constant is not None else None for one in (a, b)]
    relation = predicate[-2:]
    if relation not in _HOLDS or numbers.count(None) != 1:
        return None
    if any(number is not None and abs(number) > _SMALL for number in numbers):
        return None
    left, right = (_LARGE if number is None else number for number in numbers)
    return bool(_HOLDS[relation](left, right))


@dataclass(slots=True)
class _State:
    """What a round's registers hold; stands in for Registers."""

    types: Mapping[str, str]
    state: dict[str, AbstractInt] = field(default_factory=dict[str, AbstractInt])

    def read(self, name: str) -> Value:
        return self.state.get(name) or Value(self.types[name], "")


class _Round:
    """One round of a loop, run from registers of which only those of `entered` are known."""

    def __init__(
        self,
        program: Program,
        loop: LaneLoop,
        lanes: _RoundLanes,
        symbols: Symbols,
        entered: Mapping[str, int],
        together: Mapping[str, tuple[str, int]],
    ):
        self.loop = loop
        self.lanes = lanes
        lanes.start()
        lanes.used = set()
        self._types = {name: LLVM_TYPE[type_] for name, type_ in program.registers.items()}
        self._registers = _State(self._types)
        self._operands = Operands(lanes, self._registers, symbols)
        self._leaning: dict[str, frozenset[Test]] = {}  # the tests that registers follow from in this round
        self._tests: dict[Test, frozenset[Test]] = {}  # those that are taken for granted, likewise
        self._addresses: dict[int, tuple[Linear, frozenset[Test]]] = {}
        self._staying: dict[str, tuple[int, str]] = {}
        self._reaches: dict[Atom, tuple[int, int]] = {}  # numbers beside sums as they are extended
        self._begin(program.live[loop.header] | loop.read, entered, together)
        for position, step in enumerate(program.blocks[loop.header].steps):
            self._run(position, step)
        self._paces = {name: end.number for name, end in self._ends() if end.parts == ((Atom(name), 1),)}

    def _begin(
        self,
        names: Iterable[str],
        entered: Mapping[str, int],
        together: Mapping[str, tuple[str, int]],
    ) -> None:
        self._first: dict[str, AbstractInt] = {}
        for name in names:
            type_ = self._types[name]
            known = entered.get(name)
            if type_ not in ("i32", "i64"):
                continue
            if known is not None:
                self._first[name] = constant(type_, known)
                continue
            lead, away = together.get(name, (name, 0))
            root = self.lanes.root("entry", lead)
            self._first[name] = AbstractInt(type_, "", root=root, distance=away)
        self._registers.state = dict(self._first)

    def _run(self, position: int, step: Step) -> None:
        state, lanes = self._registers.state, self.lanes
        leaning = frozenset[Test]().union(*(self._leaning.get(name, frozenset()) for name in step.reads))
        base = step.address_register if step.match.load_or_store else None
        if base is not None:
            address = self.linear(state.get(base))
            if address is not None and address.type == "i64":
                offset = Linear("i64", (), step.address.offset)
                self._addresses[step.number] = address.plus(offset), leaning
        lanes.used = set()
        written: dict[str, AbstractInt] = {}
        if step.match.row.unit in COMPUTING and step.instruction.guard is None:
            for target, is_signed, value in self._operands.results(step):
                if isinstance(target, tree.Register) and self._types[target.name] in INTEGERS:
                    fitted = lanes.fit(value, self._types[target.name], is_signed)
                    written[target.name] = lanes.wrap(fitted, "write", position, target.name)
        if base is not None and self._stays(step, base):
            (target,) = step.writes
            name = f"loaded by {step.number}"
            self._staying[name] = step.number, self._types[target]
            written[target] = AbstractInt(self._types[target], "", root=lanes.root("entry", name))
        for test in lanes.used:
            self._tests[test] = self._tests.get(test, frozenset()) | leaning
        for name in step.writes:
            state.pop(name, None)
            self._leaning[name] = leaning | lanes.used
        state.update(written)

    def _stays(self, step: Step, base: str) -> bool:
        """Whether a load finds the same integer in each round, unless that is stored into."""
        access = step.match.load_or_store
        if access is None or access.writes or access.space == "shared" or is_strong(step.match):
            return False
        types = [self._types[name] for name in step.writes]
        whole = len(types) == 1 and types[0] in ("i32", "i64") and BITS[types[0]] == 8 * access.size
        return whole and base not in self.loop.written and step.number in self._addresses

    # ------------------------------------------------------------------------------------ sums
    def linear(self, value: Value | None) -> Linear | None:
        """How a value is a sum of what the round begins with."""
        if not isinstance(value, AbstractInt) or value.root < 0 or value.type not in ("i32", "i64"):
            return None
        found = self._linear(value.type, value.root)
        return None if found is None else found.plus(Linear(value.type, (), value.distance))

    def _linear(self, type_: str, root: int) -> Linear | None:
        none = Linear(type_, (), 0)
        match self.lanes.keys[root]:
            case ("zero",):
                return none
            case ("entry", str(name)):
                return Linear(type_, ((Atom(name), 1),), 0)
            case ("add" | "sub" as operation, _, int(a), int(b)):
                one, two = self._linear(type_, a), self._linear(type_, b)
                if one is None or two is None:
                    return None
                return one.plus(two, 1 if operation == "add" else -1)
            case ("mul", _, int(a), int(factor)):
                one = self._linear(type_, a)
                return None if one is None else none.plus(one, factor)
            case ("sext" | "zext" as operation, "i64", int(a), *away):
                inner = self._linear("i32", a)
                if inner is None or not inner.parts:
                    return None
                inner = inner.plus(Linear("i32", (), away[0] if away else 0))
                atom = Atom(operation=operation, inner=inner.moved)
                low, high = self._reaches.get(atom, (0, 0))
                self._reaches[atom] = min(low, inner.number), max(high, inner.number)
                return Linear("i64", ((atom, 1),), inner.number)
            case _:
                return None

    def pace(self, value: Linear) -> int | None:
        """By how much a sum changes in each round."""
        whole = 0
        for atom, count in value.parts:
            own = self._atom_pace(atom)
            if own is None:
                return None
            whole += own * count
        return signed(whole, value.type)

    def _atom_pace(self, atom: Atom) -> int | None:
        if atom.inner is not None:
            return self.pace(atom.inner)
        return self._paces.get(atom.register) if atom.register in self.loop.written else 0

    # ------------------------------------------------------------------------------------ from round to round
    def _ends(self) -> Iterable[tuple[str, Linear]]:
        """What the round leaves in the registers that the next one begins with."""
        for name in sorted(self._first):
            end = self.linear(self._registers.state.get(name)) if name in self.loop.written else None
            if end is not None:
                yield name, end

    def companions(self) -> dict[str, tuple[str, int]]:
        """Registers that become another one plus a number: which, and the number before that one moves on."""
        found: dict[str, tuple[str, int]] = {}
        for name, end in self._ends():
            match end.parts:
                case ((Atom(register=other, inner=None), 1),) if other != name and other in self._paces:
                    found[name] = other, signed(end.number - self._paces[other], end.type)
        return found

    # ------------------------------------------------------------------------------------ the result
    def rounds(self, end: Branch, together: Mapping[str, tuple[str, int]]) -> Rounds | None:
        """What is known of all rounds."""
        going = self._going(end)
        walks = self._walks()
        if going is None or not walks:
            return None
        needed = self._leaning.get(end.register, frozenset()).union(
            *(self._addresses[step][1] for walk in walks for step in walk.steps)
        )
        before = -1
        while len(needed) > before:
            before = len(needed)
            needed |= frozenset().union(*(self._tests[test] for test in needed))
        tests: list[Comparison] = []
        for test in self._tests:
            one = self._comparison(test, bool(expected(test)), test in needed)
            if one is None:
                return None
            tests.append(one)
        extents = self._extents()
        if extents is None:
            return None
        paces = self._paces | {name: self._paces[other] for name, (other, _) in together.items()}
        return Rounds(going, walks, _outermost(tests), extents, together, paces, self._staying)

    def _going(self, end: Branch) -> Comparison | None:
        """The test that decides whether there is another round; of its operands the first one moves."""
        predicate = self._registers.state.get(end.register)
        if predicate is None or predicate.test is None or predicate.constant is not None:
            return None
        on = end.negated != (end.taken == self.loop.header)
        going = self._comparison(predicate.test, on, last=False)
        if going is None:
            return None
        relation = going.predicate[-2:]
        relation = relation if on else INVERSE[relation]
        (a, b), (one, other) = going.operands, going.paces
        if one == 0:
            a, b, one, other, relation = b, a, other, one, SWAPPED[relation]
        counts = relation == "ne" or relation in (("lt", "le") if one > 0 else ("gt", "ge"))
        if other or not one or not counts:
            return None
        signedness = "u" if going.predicate[0] == "u" else "s"
        return Comparison(signedness + relation, (a, b), (one, other), holds=True, last=False)

    def _comparison(self, test: Test, holds: bool, last: bool) -> Comparison | None:
        if test.operation != "compare":
            return None
        predicate, a, b = test.operands
        assert isinstance(predicate, str)
        operands = [self.linear(one) if isinstance(one, Value) else None for one in (a, b)]
        if operands[0] is None or operands[1] is None:
            return None
        paces = [self.pace(one) for one in operands if one is not None]
        if paces[0] is None or paces[1] is None:
            return None
        return Comparison(predicate, (operands[0], operands[1]), (paces[0], paces[1]), holds, last)

    def _walks(self) -> tuple[Walk, ...]:
        """What moves on evenly, loads or stores at known distances from each other together."""
        found: dict[object, list[tuple[int, Linear]]] = {}
        groups: dict[object, tuple[Group, int]] = {}
        for group in self.loop.groups:
            for step in group.steps:
                address, _ = self._addresses.get(step, (None, None))
                pace = None if address is None or group.space == "shared" else self.pace(address)
                if address is None or pace is None or not 0 <= pace <= _LONGEST_PACE or pace % group.size:
                    continue
                key = group.place, address.parts, address.number % group.size
                found.setdefault(key, []).append((step, address))
                groups.setdefault(key, (group, pace))
        walks: list[Walk] = []
        for key, members in found.items():
            group, pace = groups[key]
            first = min((address for _, address in members), key=lambda one: one.number)
            steps = {step: address.number - first.number for step, address in members}
            span = max(steps.values())
            walks.append(
                Walk(
                    group.place,
                    group.array,
                    group.writes,
                    group.space,
                    group.size,
                    members[0][0],
                    first,
                    span,
                    steps,
                    pace,
                )
            )
        return tuple(walks)

    def _extents(self) -> tuple[Extent, ...] | None:
        found: list[Extent] = []
        for atom, (low, high) in self._reaches.items():
            assert atom.inner is not None
            pace = self.pace(atom.inner)
            if pace is None:
                return None
            found.append(Extent(atom.operation, atom.inner, low, high, pace))
        return tuple(found)


def _outermost(tests: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Of tests that differ in a number only the two with the least and the greatest: the others follow."""
    found: dict[object, list[Comparison]] = {}
    for test in tests:
        a, b = test.operands
        key = test.predicate, a.moved, b, test.paces, test.holds, test.last
        found.setdefault(key, []).append(test)
    return tuple(
        one
        for alike in found.values()
        for one in dict.fromkeys(
            choose(alike, key=lambda test: test.operands[0].number) for choose in (min, max)
        )
    )
