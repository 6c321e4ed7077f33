"""Contracts products and sums to fused multiply-adds where ptxas does.

A `mul` and an `add` that do not say how to round may be rounded once, and ptxas does so where it can. C++ and
Python code is full of such pairs, so results depend on which ones it fuses. Its rule, found by reading the
machine code of many variants (isa/fusing.py has which instructions take part):

* Each use of a product, by way of moves and negations, is a term of a sum or difference of the same type.
* The sums are in its own basic block of machine code. That is more than a block of the PTX where a label has
  one way to it, and less where an instruction becomes a branch around its difficult cases (a division, a
  fence, a load under a predicate). If a factor is constant, the sums may be anywhere in the same loops.
* Of two such products in one sum that with fewer uses is fused, the first if they have equally many. The
  other is then a plain addend: later sums do not take it, and none does if its rival has no other use.

Before it fuses, ptxas removes equal computations and branches that are never taken and unrolls short loops,
so that a trip may take a product of the one before. Compilers leave it little of that; it is not modelled.

A product of which nothing is left becomes a move, so that its line keeps its executions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .. import isa
from ..isa import fusing
from ..isa.fusing import Part
from ..isa.types import BITS, LLVM_TYPE
from ..ptx import tree
from .blocks import Barrier, Block, Jump
from .decode import Step, make_step
from .flow_graph import find_loops
from .liveness import find_liveness

# Where a step is: its block, and its place in it.
_Position = tuple[int, int]


@dataclass(slots=True)
class _Product:
    """A product with its uses; `terms` are sums with the operand that is the product and whether negated."""

    place: _Position
    step: Step
    part: Part
    factors: tuple[tree.Operand, tree.Operand]
    terms: dict[_Position, tuple[int, bool]] = field(default_factory=dict[_Position, tuple[int, bool]])
    uses: int = 0
    other: bool = False  # whether something but a sum uses it
    fused: int = 0


def contract(
    blocks: tuple[Block, ...], types: Mapping[str, str], origins: Sequence[str]
) -> tuple[tuple[Block, ...], Mapping[str, str]]:
    """The blocks with products and sums fused, and the registers' types with those that this needs.

    `origins` names the function of each step by number, or is empty; ptxas fuses within functions.
    """
    parts = {
        (index, position): part
        for index, block in enumerate(blocks)
        for position, step in enumerate(block.steps)
        if (part := fusing.part(step.match)) is not None
    }
    roles = {part.role for part in parts.values()}
    if "product" not in roles or not any(part.adds for part in parts.values()):
        return blocks, types
    flow = _Flow(blocks, parts, origins)
    rewriter = _Rewriter(flow, types)
    rewriter.fuse_all(_find_products(flow))
    return rewriter.rewrite(), rewriter.types


# ---------------------------------------------------------------------------------------- uses
class _Flow:
    """Where values come from and go to, and which steps share a basic block of machine code."""

    def __init__(self, blocks: tuple[Block, ...], parts: Mapping[_Position, Part], origins: Sequence[str]):
        self.blocks = blocks
        self.parts = parts
        self._steps = [block.all_steps for block in blocks]
        self.live = find_liveness(blocks)
        self.writers: dict[str, list[_Position]] = {}
        self.readers: dict[str, list[_Position]] = {}
        self._needed = _find_needed(blocks)
        for index, steps in enumerate(self._steps):
            for position, step in enumerate(steps):
                for name in step.writes:
                    self.writers.setdefault(name, []).append((index, position))
                if self._is_needed(step):
                    for name in step.reads:
                        self.readers.setdefault(name, []).append((index, position))
        self.chains = _find_chains(blocks)
        self._origins = origins
        self._segments = self._number_segments()
        self._loops = tuple(find_loops([block.local_successors for block in blocks]).values())

    def step(self, place: _Position) -> Step:
        """The step at a place."""
        return self._steps[place[0]][place[1]]

    def _is_needed(self, step: Step) -> bool:
        return not step.writes or not step.match.row.computes or not self._needed.isdisjoint(step.writes)

    def is_single(self, name: str) -> bool:
        """Whether a register is written by one step only, which has no predicate."""
        found = self.writers.get(name, ())
        return len(found) == 1 and self.step(found[0]).instruction.guard is None

    def uses(self, name: str, place: _Position) -> Iterator[_Position | None]:
        """Where a register's value from one step is read; None for a place that others lead to as well."""
        if self.is_single(name):
            yield from self.readers.get(name, ())
            return
        index, first = place[0], place[1] + 1
        while True:
            for position, step in enumerate(self._steps[index]):
                if position < first:
                    continue
                if name in step.reads and self._is_needed(step):
                    yield index, position
                if name in step.writes:
                    if step.instruction.guard is not None:
                        yield None
                    return
            following = self.chains.get(index)
            if following is None:
                break
            index, first = following, 0
        if any(name in self.live[target] for target in self.blocks[index].successors):
            yield None

    def source(self, operand: tree.Operand) -> tree.Operand | Step:
        """What an operand stands for, by way of moves: a literal, or the one step that makes it."""
        return self._trace(operand, ("copy",))

    def is_constant(self, operand: tree.Operand) -> bool:
        """Whether an operand is a literal or in constant memory, but for its sign."""
        found = self._trace(operand, ("copy", "negation"))
        return fusing.is_constant_load(found.match) if isinstance(found, Step) else fusing.is_literal(found)

    def _trace(self, operand: tree.Operand, roles: tuple[str, ...]) -> tree.Operand | Step:
        seen = set[str]()  # registers that are moved in a circle have no value
        while (
            isinstance(operand, tree.Register) and self.is_single(operand.name) and operand.name not in seen
        ):
            seen.add(operand.name)
            place = self.writers[operand.name][0]
            part = self.parts.get(place)
            if part is None or part.role not in roles:
                return self.step(place)
            operand = self.step(place).instruction.operands[1]
        return operand

    def same_segment(self, a: _Position, b: _Position) -> bool:
        """Whether the second step follows the first in one basic block of machine code."""
        (first, before), (second, after) = (self._segments[block][position] for block, position in (a, b))
        return first == second and before < after

    def same_loops(self, a: _Position, b: _Position) -> bool:
        """Whether two steps are of one function, and every loop that has the first has the second."""
        if self._origin(self.step(a)) != self._origin(self.step(b)) or b <= a:
            return False
        return all(b[0] in body for body in self._loops if a[0] in body)

    def _origin(self, step: Step) -> str:
        return self._origins[step.number] if self._origins else ""

    def is_overwritten(self, name: str, first: _Position, last: _Position) -> bool:
        """Whether a register may change between two steps."""
        if self.is_single(name) or name not in self.writers:
            return any(first < place < last for place in self.writers.get(name, ()))
        if not self.same_segment(first, last):
            return True
        index, position = first
        while (index, position) != last:
            steps = self._steps[index]
            if position < len(steps):
                if name in steps[position].writes:
                    return True
                position += 1
            else:
                following = self.chains.get(index)
                if following is None:
                    return True
                index, position = following, 0
        return False

    def _number_segments(self) -> list[list[tuple[int, int]]]:
        """For each step the basic block of machine code that it is in, and its place in the order of all."""
        numbers: list[list[tuple[int, int]]] = [[] for _ in self._steps]
        segment = order = 0
        for head in sorted(set(range(len(self._steps))) - set(self.chains.values())):
            segment += 1
            index: int | None = head
            before: Step | None = None
            while index is not None:
                for step in self._steps[index]:
                    segment += before is not None and self._origin(before) != self._origin(step)
                    numbers[index].append((segment, order))
                    order += 1
                    segment += fusing.divides_blocks(step.match)
                    before = step
                index = self.chains.get(index)
        return numbers


def _find_needed(blocks: tuple[Block, ...]) -> frozenset[str]:
    """The registers that something depends on that is done; ptxas leaves the rest out."""
    needed = {block.splits for block in blocks if block.splits is not None}
    pure: list[Step] = []
    for block in blocks:
        for step in block.all_steps:
            if step.writes and step.match.row.computes:
                pure.append(step)
            else:
                needed |= step.reads
    grown = True
    while grown:
        rest = [step for step in pure if needed.isdisjoint(step.writes)]
        grown = len(rest) < len(pure)
        for step in reversed(pure):
            if not needed.isdisjoint(step.writes):
                needed |= step.reads
        pure = rest
    return frozenset(needed)


def _find_chains(blocks: tuple[Block, ...]) -> dict[int, int]:
    """For each block that goes on with one that nothing else leads to, that one."""
    ways = [0] * len(blocks)
    ways[0] = 1
    for block in blocks:
        for target in block.successors:
            ways[target] += 1
    found: dict[int, int] = {}
    for index, block in enumerate(blocks):
        match block.end:
            case Jump(target, None) | Barrier(resume=target) if ways[target] == 1:
                found[index] = target
            case _:
                pass
    return found


# ---------------------------------------------------------------------------------------- products
def _find_products(flow: _Flow) -> dict[_Position, _Product]:
    """The products that may be fused, as far as their factors tell."""
    found: dict[_Position, _Product] = {}
    for place, part in flow.parts.items():
        step = flow.step(place)
        if part.role != "product" or step.instruction.guard is not None:
            continue
        _, a, b = step.instruction.operands
        sources = [flow.source(one) for one in (a, b)]
        literals = [one for one in sources if not isinstance(one, Step) and fusing.is_literal(one)]
        # ptxas computes with constants itself.
        if len(literals) == 2 or any(fusing.is_unit(part.type, one) for one in literals):
            continue
        product = found[place] = _Product(place, step, part, (a, b))
        _follow(flow, product, flow.is_constant(a) or flow.is_constant(b))
    _drop_doubles(flow, found)
    return found


def _follow(flow: _Flow, product: _Product, constant: bool) -> None:
    """Note where a product is used, by way of moves and negations."""
    ways = [(product.place, False)]  # the steps that give its value a name, and whether negated
    while ways:
        place, negated = ways.pop()
        (name,) = flow.step(place).writes
        for use in flow.uses(name, place):
            part = flow.parts.get(use) if use is not None else None
            if use is None or part is None:
                product.other, product.uses = True, product.uses + 1
                continue
            item = flow.step(use).instruction
            if part.passes(product.part) and item.guard is None:
                ways.append((use, negated ^ (part.role == "negation")))
                continue
            product.uses += 1
            terms = [k for k, one in enumerate(item.operands[1:]) if one == tree.Register(name)]
            near = flow.same_segment(product.place, use) or (constant and flow.same_loops(product.place, use))
            if part.takes(product.part) and near and len(terms) == 1 and use not in product.terms:
                product.terms[use] = terms[0], negated
            else:
                product.other = True


def _drop_doubles(flow: _Flow, products: Mapping[_Position, _Product]) -> None:
    """Two equal products that are only added to each other are one product twice."""
    alone: dict[_Position, list[_Product]] = {}
    for product in products.values():
        for use in product.terms:
            if product.uses == 1 and flow.parts[use].role == "sum":
                alone.setdefault(use, []).append(product)
    for pair in alone.values():
        first, *rest = ({str(flow.source(one)) for one in product.factors} for product in pair)
        if first in rest:
            for product in pair:
                product.other = True


# ---------------------------------------------------------------------------------------- fusing
class _Rewriter:
    def __init__(self, flow: _Flow, types: Mapping[str, str]):
        self.flow = flow
        self.types = dict(types)
        self.made: dict[_Position, list[Step]] = {}  # what steps are replaced by

    def fuse_all(self, products: Mapping[_Position, _Product]) -> None:
        """Fuse what can be, sum by sum."""
        rivals: dict[_Position, list[_Product]] = {}
        for product in products.values():
            for use in product.terms:
                rivals.setdefault(use, []).append(product)
        allowed = {
            product.place
            for product in products.values()
            if not product.other
            and not any(_is_due(one, product) for use in product.terms for one in rivals[use])
        }
        for use in sorted(rivals):
            for product in sorted(rivals[use], key=lambda one: (one.uses, one.terms[use][0])):
                if product.place in allowed:
                    self._fuse(product, use)
                    allowed -= {one.place for one in rivals[use] if one is not product}
                    break
        for product in products.values():
            if product.fused and product.fused == product.uses:
                self._drop(product)

    def _fuse(self, product: _Product, use: _Position) -> None:
        """Make a fused operation of a sum."""
        step = self.flow.step(use)
        term, negated = product.terms[use]
        first, second = step.instruction.operands[1:]
        difference = self.flow.parts[use].role == "difference"
        signs = (negated ^ (difference and term == 1), difference and term == 0)
        factors = tuple(self._factor(product, one, use) for one in product.factors)
        found = fusing.fuse(step.match, (factors[0], factors[1]), second if term == 0 else first, signs)
        self.made[use] = [make_step(step.number, found)]
        product.fused += 1

    def _factor(self, product: _Product, factor: tree.Operand, use: _Position) -> tree.Operand:
        """A factor as it was when it was multiplied: kept in a register of its own if it is overwritten."""
        if not isinstance(factor, tree.Register):
            return factor
        if not self.flow.is_overwritten(factor.name, product.place, use):
            return factor
        kept = tree.Register(f"{factor.name}:factor{product.step.number}")
        if kept.name not in self.types:
            self.types[kept.name] = self.types[factor.name]
            self.made.setdefault(product.place, [product.step]).insert(0, self._move(product, kept, factor))
        return kept

    def _drop(self, product: _Product) -> None:
        """Put a move in the place of a product that nothing uses any more."""
        *kept, _ = self.made.get(product.place, [product.step])
        target, source, _ = product.step.instruction.operands
        assert isinstance(target, tree.Register)
        self.made[product.place] = [*kept, self._move(product, target, source)]

    def _move(self, product: _Product, target: tree.Register, source: tree.Operand) -> Step:
        type_ = self.types[target.name]
        word = type_ if type_ in ("f32", "f64") else f"b{BITS[LLVM_TYPE[type_]]}"
        item = replace(product.step.instruction, opcode="mov", modifiers=(word,), operands=(target, source))
        found = isa.match(item)
        assert found is not None, "every register can be moved"
        return make_step(product.step.number, found)

    def rewrite(self) -> tuple[Block, ...]:
        """The blocks with what was made."""
        blocks = self.flow.blocks
        if not self.made:
            return blocks
        return tuple(
            replace(
                block,
                steps=tuple(
                    made
                    for position, step in enumerate(block.steps)
                    for made in self.made.get((index, position), [step])
                ),
            )
            for index, block in enumerate(blocks)
        )


def _is_due(rival: _Product, product: _Product) -> bool:
    """Whether a product that shares a sum with another will be fused there: it is used nowhere else."""
    return not rival.other and rival.uses == 1 < product.uses
