"""Loops that were unrolled joined with the loops of what that leaves over, so that a lane goes through one.

Compilers unroll a loop over a row by four: one loop does the rounds that are left over, from none to three,
and then another one four at a time. Where lanes go one after the other, the end of either loop is not
foreseen, and both are prepared for. Where threads side by side stride along a row, some leave the first loop
a round before others, and behind it nothing is known of how far their addresses lie apart. So the loop of one
round at a time does all rounds of the lanes for which that comes to the same, as is looked at in front of it:
how many rounds there are in all, that both loops together have so many, and that the second one would have
begun where the first one ended. The others find their way as before.

Together, lanes come to faults in another order than the program's, so the block that has faulted is run again
(engine/cpu/second_look.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ... import isa
from ...isa.types import BITS, LLVM_TYPE
from ...program import Block, Branch, Program, Step
from ...program.blocks import predecessors_of
from ...program.decode import make_step
from ...program.loop_ways import find_ways
from ...program.renaming import with_names
from ...ptx import tree
from ..infer import Inference, infer_kinds
from ..operands import Symbols
from ..shape import BlockShape, Promises
from .find import LaneLoop, find_lane_loops, find_possible_loops
from .pairs import FAR, Pair, Sum
from .rounds import find_rounds
from .stores import stores_own

# The share of as many rounds' steps that an unrolled one has at least, for loops to be joined.
_KEPT = 3, 4


def join_remainders(
    program: Program, shape: BlockShape, promises: Promises, symbols: Symbols, found: Inference
) -> tuple[Program, BlockShape, Inference, frozenset[int]]:
    """The program with such loops joined, and the headers of those that few lanes come to any more."""
    possible, alone = find_possible_loops(program, found), find_lane_loops(program, found)
    before = predecessors_of(program.blocks)
    blocks, registers = list(program.blocks), dict(program.registers)
    left = set[int]()
    for header, loop in possible.items():
        ways = None if header in left else find_ways(program.blocks, before, header)
        if ways is None or ways.second not in possible:
            continue
        other = possible[ways.second]
        # Beside gathers, which stay what they are, runs of memory would gain less than rounds by fours.
        strided = _have_form(program, loop, found) and not _have_form(program, other, found)
        rows = {header, ways.second} <= alone.keys() and not loop.stores
        if not strided and not rows:
            continue
        rounds = [find_rounds(program, one, found.kinds, shape, promises, symbols) for one in (loop, other)]
        if rounds[0] is None or rounds[1] is None or not stores_own(loop, rounds[0], found):
            continue
        pair = Pair(program, ways, loop, other, rounds[0], rounds[1])
        if pair.fits() and (strided or (pair.step == 1 and _pays(pair))):
            _Joined(pair, blocks, registers).join()
            left.add(ways.second)
    if not left:
        return program, shape, found, frozenset()
    program = program.rewritten(tuple(blocks), registers)
    shape = replace(shape, reordered=True)
    return program, shape, infer_kinds(program, shape, promises, symbols), frozenset(left)


def _pays(pair: Pair) -> bool:
    """Whether unrolling saves few of a round's steps: where a third, one loop takes 1.15 of the time."""
    first, second = (len(pair.program.blocks[index].steps) for index in (pair.ways.first, pair.ways.second))
    return second * _KEPT[1] > pair.parts * first * _KEPT[0]


def _have_form(program: Program, loop: LaneLoop, found: Inference) -> bool:
    """Whether it is known of all addresses in a loop how far lanes' lie from each other."""
    accesses = (step for step in program.blocks[loop.header].steps if step.match.load_or_store)
    bases = (step.address_register for step in accesses)
    return all(base is None or found.offsets(base) is not None for base in bases)


class _Joined:
    """Two loops made one in `blocks` and `registers`."""

    def __init__(self, pair: Pair, blocks: list[Block], registers: dict[str, str]):
        self._pair, self._blocks, self._registers = pair, blocks, registers
        self._steps: list[Step] = []  # in front of the branch past the first loop
        end = blocks[pair.ways.start].end
        assert isinstance(end, Branch)
        self._number = end.step.number

    def join(self) -> None:
        """Let the first loop do all rounds of the lanes for which that is the same."""
        pair, ways, blocks = self._pair, self._pair.ways, self._blocks
        early = self._cloned(pair.steps_before, {})
        left, begin = early.get(pair.left, pair.left), early.get(pair.counter, pair.counter)
        moved = {
            name: self._after(early.get(name, name), pace, left) for name, pace in pair.rounds.paces.items()
        }
        moved |= {name: moved[of] for name, of in pair.copies.items()}
        later = self._cloned(pair.steps_between, moved)
        rounds, conditions = self._rounds(begin)
        over = self._make("and", ("b32",), "b32", rounds, pair.parts - 1)
        conditions.append(self._test("eq", "s32", left, over))
        for names, (of, distance) in pair.apart.items():
            there, here = self._sum(names, later), self._sum(of, early | moved)
            if there != here or distance:
                conditions.append(self._are_equal(there, here, distance))
        for name in sorted(pair.handed):  # from lanes that leave the first loop out
            of = pair.copies.get(name, name)
            if early.get(of, of) != name:
                conditions.append(self._are_equal(name, early.get(of, of), 0))
        start, between = blocks[ways.start].end, blocks[ways.between].end
        assert isinstance(start, Branch)
        assert isinstance(between, Branch)
        enters = self._test("ne", "s32", left, 0)
        conditions.append(self._agree(start, ways.between, start.register, enters))
        enters = self._test("ge", "u32", rounds, pair.parts)
        decided = later.get(between.register, between.register)
        conditions.append(self._agree(between, ways.end, decided, enters))
        all_ = conditions[0]
        for one in conditions[1:]:
            all_ = self._make("and", ("pred",), "pred", all_, one)
        past = self._redirected(start, ways.between, all_, enters=True)
        chosen = self._step("selp", ("b32",), pair.left, rounds, pair.left, all_)
        if ways.before_first is None:
            self._steps.append(chosen)
        else:
            block = blocks[ways.before_first]
            blocks[ways.before_first] = replace(block, steps=(*block.steps, chosen))
        block = blocks[ways.start]
        blocks[ways.start] = Block((*block.steps, *self._steps), past)
        self._steps = []
        past = self._redirected(between, ways.end, all_, enters=False)
        block = blocks[ways.between]
        blocks[ways.between] = Block((*block.steps, *self._steps), past)

    def _cloned(self, steps: Iterable[Step], names: Mapping[str, str]) -> dict[str, str]:
        """Compute ahead what steps would from other registers; what registers are called then."""
        now = dict(names)
        for step in steps:
            own = {name: self._register(self._registers[name]) for name in step.writes}
            self._steps.append(with_names(step, now, own))
            now |= own
        return now

    def _after(self, name: str, pace: int, rounds: str) -> str:
        """What a register that moves evenly holds after some rounds."""
        if LLVM_TYPE[self._registers[name]] == "i64":
            moved = self._make("mul", ("wide", "s32"), "b64", rounds, pace)
            return self._make("add", ("s64",), "b64", name, moved)
        moved = rounds if pace == 1 else self._make("mul", ("lo", "s32"), "b32", rounds, pace)
        return self._make("add", ("s32",), "b32", name, moved)

    def _rounds(self, begin: str) -> tuple[str, list[str]]:
        """How many rounds both loops have from where the counter begins, and what that takes for granted."""
        pair, type_ = self._pair, "s32" if self._pair.signed else "u32"
        distance = self._make("sub", ("s32",), "b32", pair.limit, begin)
        conditions = [self._test("lt", type_, begin, pair.limit), self._test("le", "u32", distance, FAR)]
        if pair.step == 1:
            return distance, conditions
        most = (1 << 31 if pair.signed else 1 << 32) - 1 - pair.step * pair.parts
        conditions.append(self._test("le", type_, pair.limit, most))
        up = self._make("add", ("s32",), "b32", distance, pair.step - 1)
        return self._make("div", ("u32",), "b32", up, pair.step), conditions

    def _sum(self, names: Sum, now: Mapping[str, str]) -> str:
        """The sum of registers, by what they are called now."""
        first, *others = (now.get(name, name) for name in names)
        type_ = f"s{BITS[LLVM_TYPE[self._registers[first]]]}"
        for one in others:
            first = self._make("add", (type_,), f"b{type_[1:]}", first, one)
        return first

    def _are_equal(self, name: str, other: str, distance: int) -> str:
        """Whether a register is so far from another."""
        type_ = f"s{BITS[LLVM_TYPE[self._registers[name]]]}"
        there = self._make("add", (type_,), f"b{type_[1:]}", other, distance) if distance else other
        return self._test("eq", type_, name, there)

    def _agree(self, end: Branch, past: int, register: str, enters: str) -> str:
        """Whether a branch past a loop, if it looks at a register, lets the lanes in that `enters` says."""
        differs = self._make("xor", ("pred",), "pred", register, enters)
        return self._make("not", ("pred",), "pred", differs) if _holds_inside(end, past) else differs

    def _redirected(self, end: Branch, past: int, lanes: str, *, enters: bool) -> Branch:
        """A branch past a loop that leads some lanes in, or else past it, whatever it looked at."""
        if _holds_inside(end, past) == enters:
            register = self._make("or", ("pred",), "pred", end.register, lanes)
        else:
            others = self._make("not", ("pred",), "pred", lanes)
            register = self._make("and", ("pred",), "pred", end.register, others)
        step = with_names(end.step, {end.register: register}, {})
        return replace(end, step=step, register=register)

    # ------------------------------------------------------------------------------------ steps
    def _register(self, type_: str) -> str:
        name = f"%joined{len(self._registers)}"
        self._registers[name] = type_
        return name

    def _test(self, how: str, type_: str, *operands: str | int) -> str:
        """A comparison; the predicate."""
        return self._make("setp", (how, type_), "pred", *operands)

    def _make(self, opcode: str, modifiers: tuple[str, ...], type_: str, *operands: str | int) -> str:
        """A step that gives a register of its own; the register."""
        name = self._register(type_)
        self._steps.append(self._step(opcode, modifiers, name, *operands))
        return name

    def _step(self, opcode: str, modifiers: tuple[str, ...], *operands: str | int) -> Step:
        named = [tree.Integer(one) if isinstance(one, int) else tree.Register(one) for one in operands]
        match = isa.match(tree.Instruction(opcode, modifiers, tuple(named)))
        assert match is not None, "these are PTX"
        return make_step(self._number, match)


def _holds_inside(end: Branch, past: int) -> bool:
    """Whether the lanes whose predicate holds go into the loop that a branch leads past."""
    return (end.taken == past) == end.negated
