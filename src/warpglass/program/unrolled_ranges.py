"""A loop of single rounds and what a compiler has unrolled of it, and whether both do what a range says.

What both compute is numbered, round by round, from what their registers hold as they begin: so the unrolled
loop's round is seen to be so many of the other one's. How many rounds there are is compared with how NVVM
spells it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..ptx import tree
from .blocks import Branch, Terminator
from .decode import Step
from .loop_ways import Ways
from .sinking import computes_anywhere

if TYPE_CHECKING:
    from . import Program

_MEMORY = ""  # stands for all that is stored, among registers
_UNROLLED = 4  # rounds of one
_WORD = ("s64",)
# By what an index is made an address. A negative one is counted from the end, which its sign selects.
_APART = frozenset("add sub mul mad shl shr and selp setp cvt".split())
_ENDS = ("constant", "round", "as it was")
# A value: a register as it was, a constant, or what an instruction makes of others, by number.
_Key = tuple[object, ...]


@dataclass
class Unrolled:
    """A loop of single rounds and an unrolled one, in either order; what they compute has numbers."""

    program: Program
    ways: Ways
    last: bool  # whether the rounds that are left over come last
    _keys: dict[_Key, int] = field(default_factory=dict[_Key, int])
    _numbered: list[_Key] = field(default_factory=list[_Key])
    _fixed: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        ways = self.ways
        self.single, self.unrolled = (ways.second, ways.first) if self.last else (ways.first, ways.second)
        loops = (*self._steps(ways.first), *self._steps(ways.second))
        self._written = {name for step in loops for name in step.writes} | {_MEMORY}
        steps = [step for block in self.program.blocks for step in block.all_steps]
        writes = Counter(name for step in steps for name in step.writes)
        for step in steps:
            # What is made of parameters, which is computed wherever it is needed.
            if len(step.writes) != 1 or writes[step.writes[0]] > 1 or not self._fixed.keys() >= step.reads:
                continue
            if step.match.row.access == "parameter" or (step.reads and computes_anywhere(step)):
                made = self._made(step, {})
                if made is not None:
                    self._fixed[step.writes[0]] = made

    def counted(self) -> tuple[str, str] | None:
        """The predicate by which single rounds are all of them, and what counts those that are left."""
        ways, live = self.ways, self.program.live
        between = (*self._steps(ways.between), *self._steps(ways.before_second))
        start = self._run(self._steps(ways.start), {})
        first = start and self._run(self._steps(ways.before_first), start)
        second = start and self._run(between, start)
        if start is None or first is None or second is None:
            return None
        made = {name for step in between for name in step.writes}
        begins = {name for step in self._steps(ways.before_first) for name in step.writes} - self._written
        if made & live[ways.end] or begins & live[ways.between]:
            return None
        begun = second if self.last else first
        if not self._stores_apart(begun):
            return None
        once = self._rounds(begun, self.single, 1)
        some = self._rounds(begun, self.single, _UNROLLED)
        if once is None or some is None:
            return None
        stale = {**start, **{name: self._number("other", name) for name in self._written}}
        entering = self._run(self._steps(ways.before_first) if self.last else between, stale)
        reached = first if self.last else second
        if entering is None:
            return None
        handed = {
            name: of
            for name in sorted(live[self.unrolled] & self._written)
            if (of := self._stands_for(name, once, begun, reached)) is not None
        }
        entered = {**entering, _MEMORY: self._number("round", _MEMORY)}
        entered |= {name: self._number("round", of) for name, of in handed.items()}
        round_ = self._run(self._steps(self.unrolled), entered)
        if round_ is None:
            return None
        results = {name: name for name in (*(live[ways.end] & self._written), _MEMORY)}
        if not self._alike(round_, some, handed | results):
            return None
        counter = self._counter(once, self.single, (1, -1))
        if counter is None:
            return None
        ends = self._ends(between, round_, some, second, counter)
        return None if ends is None else self._counted(once, some, round_, start, begun, first, ends, counter)

    def _ends(
        self,
        between: Sequence[Step],
        round_: Mapping[str, int],
        some: Mapping[str, int],
        second: dict[str, int],
        counter: str,
    ) -> dict[str, int] | None:
        """What decides between the loops, if single rounds go on from there as the unrolled ones would."""
        if not self.last:
            return second
        entered = self.program.live[self.single]
        own = self._written & entered - {counter}
        same = {name for step in between for name in step.writes} & entered - self._written
        after = self._run(between, round_)
        if after is None or not self._alike(after, some, {name: name for name in own}):
            return None
        return after if self._alike(after, second, {name: name for name in same}) else None

    def _stores_apart(self, begun: Mapping[str, int]) -> bool:
        """Whether stores go where the range does, and nothing is loaded that another lane may store.

        Arrays that are different parameters are taken for different arrays here.
        """
        values = {**begun, **{name: self._number("round", name) for name in self._written}}
        loaded: set[int] = set()
        stored: set[int] = set()
        for step in self._steps(self.single):
            access = step.match.load_or_store
            if access is not None:
                base = step.address_register
                if base is None:
                    return False
                (stored if access.writes else loaded).add(self._value(values, base))
            made = self._run([step], values)
            if made is None:
                return False
            values = made
        own = [self._array(place) for place in stored]
        others = [self._array(place) for place in loaded - stored]
        return not own or (None not in own and None not in others and set(own).isdisjoint(others))

    def _array(self, place: int) -> int | None:
        """The pointer that an address is computed from by what keeps lanes apart; None if it is unclear."""
        pointers: set[int] = set()
        seen, work = set[int](), [place]
        while work:
            number = work.pop()
            what, how = self._numbered[number][:2]
            parts = [one for one in self._numbered[number][2:] if isinstance(one, int)]
            if number in seen or what in _ENDS or how == ("param", "u64"):
                continue
            seen.add(number)
            if what in ("cvta", "mov"):
                pointers.add(number)
            elif what not in _APART or (what == "and" and not any(map(self._is_sign, parts))):
                return None
            else:
                work += parts
        return pointers.pop() if len(pointers) == 1 else None

    def _is_sign(self, number: int) -> bool:
        key = self._numbered[number]
        return key[0] == "shr" and key[3] == self._constant(63)

    def _rounds(self, begun: Mapping[str, int], loop: int, times: int) -> dict[str, int] | None:
        """What rounds make of the registers that they write, and of those that are the same in all."""
        values: dict[str, int] | None = {
            **begun,
            **{name: self._number("round", name) for name in self._written},
        }
        for _ in range(times):
            values = None if values is None else self._run(self._steps(loop), values)
        return values

    def _alike(self, one: Mapping[str, int], other: Mapping[str, int], names: Mapping[str, str]) -> bool:
        return all(self._value(one, name) == self._value(other, of) for name, of in names.items())

    def _stands_for(
        self, name: str, once: Mapping[str, int], begun: Mapping[str, int], reached: Mapping[str, int]
    ) -> str | None:
        """Which register of single rounds one of the unrolled loop's has the value of, as that begins."""
        own = [name, *sorted(self._written & self.program.live[self.single])]
        alike = (of for of in own if self._value(reached, name) == self._value(begun, of))
        if not self.last:
            alike = (of for of in alike if self._value(once, name) == self._value(once, of))
        return next((of for of in alike if of in self.program.live[self.single]), None)

    def _counter(self, once: Mapping[str, int], loop: int, paces: Sequence[int]) -> str | None:
        """The register that counts a loop's rounds up or down to zero."""
        again = leads(self.program.blocks[loop].end, loop)
        for name in sorted(self._written & self.program.live[loop]) if again else ():
            for pace in paces:
                moved = self._number("add", _WORD, self._number("round", name), self._constant(pace))
                going = self._number("setp", ("ne", "s64"), moved, self._constant(0))
                if (self._value(once, name), self._value(once, again)) == (moved, going):
                    return name
        return None

    def _counted(
        self,
        once: Mapping[str, int],
        some: Mapping[str, int],
        round_: Mapping[str, int],
        start: Mapping[str, int],
        begun: Mapping[str, int],
        first: Mapping[str, int],
        second: Mapping[str, int],
        counter: str,
    ) -> tuple[str, str] | None:
        """The same, if both loops do as many rounds as that says."""
        ways, blocks = self.ways, self.program.blocks
        skips, ends = leads(blocks[ways.start].end, ways.between), leads(blocks[ways.between].end, ways.end)
        predicates = {
            name
            for step in self._steps(self.single)
            if step.instruction.opcode == "setp"
            for name in step.writes
        }
        for more in sorted(predicates):
            left = next((name for name in sorted(self._written) if self._counts_down(once, name, more)), None)
            if left is None or not skips or not ends:
                continue
            n = self._value(begun, left)
            least = self._number("max", ("s64",), self._number("not", ("b64",), n), self._constant(-1))
            two_less = self._number("add", _WORD, n, least)
            rounds = self._number("add", _WORD, two_less, self._constant(2))
            one_less = self._number("add", _WORD, two_less, self._constant(1))
            over = self._number("and", ("b64",), rounds, self._constant(_UNROLLED - 1))
            none = self._number("setp", ("eq", "s64"), over, self._constant(0))
            few = self._number("setp", ("lt", "u64"), one_less, self._constant(_UNROLLED - 1))
            asked = (few, none) if self.last else (none, few)
            if (self._value(start, skips), self._value(second, ends)) != asked:
                continue
            pace = self._pace(once, counter)
            if self._value(begun, counter) != (over if pace < 0 else self._number("neg", ("s64",), over)):
                continue
            if self.last:
                own = self._rounds(first, self.unrolled, 1)
                fours = None if own is None else self._counter(own, self.unrolled, (-_UNROLLED,))
                whole = self._number("sub", ("s64",), rounds, over)
                if fours and self._value(first, fours) == whole:
                    return more, left
            else:
                again = leads(blocks[self.unrolled].end, self.unrolled)
                if again and self._value(round_, again) == self._value(some, more):
                    return more, left
        return None

    def _pace(self, once: Mapping[str, int], counter: str) -> int:
        up = self._number("add", _WORD, self._number("round", counter), self._constant(1))
        return 1 if self._value(once, counter) == up else -1

    def _counts_down(self, once: Mapping[str, int], left: str, more: str) -> bool:
        """Whether a round takes one of what is left, if there is any."""
        was = self._number("round", left)
        test = self._number("setp", ("gt", "s64"), was, self._constant(0))
        taken = self._number("selp", ("b64",), self._constant(-1), self._constant(0), test)
        moved = self._number("add", _WORD, was, taken)
        return (self._value(once, more), self._value(once, left)) == (test, moved)

    # ------------------------------------------------------------------------------------ values
    def _steps(self, index: int | None) -> tuple[Step, ...]:
        return () if index is None else self.program.blocks[index].steps

    def _run(self, steps: Iterable[Step], entered: Mapping[str, int]) -> dict[str, int] | None:
        """What registers hold behind some steps; None if they do more than compute, load and store."""
        values = dict(entered)
        for step in steps:
            made = self._made(step, values)
            if made is None:
                return None
            for k, name in enumerate(_targets(step)):
                values[name] = made if k == 0 else self._number("part", k, made)
        return values

    def _made(self, step: Step, values: dict[str, int]) -> int | None:
        item, access = step.instruction, step.match.load_or_store
        if item.guard is not None or not _targets(step):
            return None
        if item.opcode == "mov" and isinstance(item.operands[1], tree.Register):
            return self._value(values, item.operands[1].name)
        if access is None:
            if not (step.match.row.computes or step.match.row.access == "parameter"):
                return None
            operands = [self._operand(one, values) for one in item.operands[1:]]
            return self._number(item.opcode, item.modifiers, *operands)
        if "volatile" in item.modifiers:
            return None
        base = step.address_register
        place = self._number("at", repr(step.address)) if base is None else self._value(values, base)
        memory = self._value(values, _MEMORY)
        what = item.opcode, item.modifiers, step.address.offset, memory, place
        if access.writes:
            values[_MEMORY] = self._number(*what, self._operand(item.operands[1], values))
            return values[_MEMORY]
        return self._number(*what)

    def _operand(self, operand: tree.Operand, values: Mapping[str, int]) -> int:
        if isinstance(operand, tree.Register):
            return self._value(values, operand.name)
        if isinstance(operand, tree.Vector):
            return self._number("vector", *(self._operand(one, values) for one in operand.elements))
        return self._number("constant", repr(operand))

    def _constant(self, number: int) -> int:
        return self._number("constant", repr(tree.Integer(number)))

    def _value(self, values: Mapping[str, int], name: str) -> int:
        found = values.get(name, self._fixed.get(name))
        return self._number("as it was", name) if found is None else found

    def _number(self, *key: object) -> int:
        found = self._keys.setdefault(key, len(self._keys))
        if found == len(self._numbered):
            self._numbered.append(key)
        return found


def _targets(step: Step) -> tuple[str, ...]:
    """What a step writes, each part of a vector or else one thing; none if it is something else."""
    access = step.match.load_or_store
    if access is not None and access.writes:
        return (_MEMORY,)
    return step.writes if len(step.writes) == len(set(step.writes)) else ()


def leads(end: Terminator, target: int) -> str:
    """The register whose lanes a branch leads somewhere where it holds; none if that is something else."""
    return end.register if isinstance(end, Branch) and (end.taken == target) != end.negated else ""
