"""What becomes of values that come from memory: copied, used, or what decides where a thread goes.

A value that is stored to shared or local memory again, moved to another register or chosen from two is
copied; one that nobody reads is padding of a wide load. Neither shows that its bytes were never written. Of a
value that is used as soon as it is loaded the load itself tells; the registers of others are followed
(undefined/shadow_registers.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...isa.ordering import ordering_of
from ...program import Block, Program, Step
from ...program.blocks import computed_from, loops_of
from ...ptx import tree

_COPIES = ("shared", "local")
_MOST = 100  # registers that are followed; in a kernel with more of them a load stands for what follows


@dataclass(frozen=True, slots=True)
class Uses:
    """By step of a load: a mask of its elements that are used at once, and how many it has.

    `carried` are the registers whose undefined bytes are followed.
    """

    masks: Mapping[int, int]
    counts: Mapping[int, int]
    carried: frozenset[str]

    def elements(self, step: int) -> int:
        """The elements that are used, a bit each; all of them where nothing is known."""
        return self.masks.get(step, 0xFF)

    def element(self, step: int, size: int) -> int:
        """Bytes of an element of an access of `size` bytes."""
        return max(1, size // self.counts.get(step, 1))

    def loaded(self, step: Step) -> dict[int, str]:
        """The followed registers that a load writes, by the number of the element."""
        if step.match.row.access != "load":
            return {}
        return self._followed(step.instruction.operands[0])

    def stored(self, step: Step) -> dict[int, str]:
        """The followed registers that a store copies, by the number of the element."""
        return self._followed(step.instruction.operands[1]) if _stores_copy(step) else {}

    def used(self, step: Step) -> frozenset[str]:
        """The followed registers that a step uses."""
        return _plain_reads(step) & self.carried

    def _followed(self, operand: tree.Operand) -> dict[int, str]:
        named = {number: name for number, name in enumerate(map(register_name, elements_of(operand))) if name}
        return {number: name for number, name in named.items() if name in self.carried}


def uses_of_loads(program: Program) -> Uses:
    """Look at every load of a program."""
    steps = [step for block in program.blocks for step in block.all_steps]
    used = _closed(steps, {name for step in steps for name in _plain_reads(step)}, backward=True)
    carried = _find_carried(program, steps, used)
    masks: dict[int, int] = {}
    counts: dict[int, int] = {}
    for step in steps:
        if step.match.row.access == "load":
            names = [register_name(element) for element in elements_of(step.instruction.operands[0])]
            counts[step.number] = len(names)
            at_once = [name in used and name not in carried for name in names]
            masks[step.number] = sum(1 << number for number, one in enumerate(at_once) if one)
    return Uses(masks, counts, carried)


def _find_carried(program: Program, steps: list[Step], used: set[str]) -> frozenset[str]:
    """The registers that hold what was loaded until it is used elsewhere, or only under a condition."""
    read = {name for step in steps for name in step.reads}
    found: set[str] = set()
    for block in program.blocks:
        for position, step in enumerate(block.steps):
            if step.match.row.access != "load":
                continue
            for name in set(step.writes) & read:
                # What comes from global memory is seldom undefined: it is followed where it is only copied.
                elsewhere = name not in used if step.match.state_space == "global" else True
                if elsewhere and not _used_at_once(block, position, name):
                    found.add(name)
    found = _closed(steps, found, backward=False)
    return frozenset(found if len(found) <= _MOST else ())


def _used_at_once(block: Block, position: int, name: str) -> bool:
    """Whether what a load puts into a register is used in the same basic block, by every lane."""
    for step in block.all_steps[position + 1 :]:
        if name in _plain_reads(step) and not step.instruction.guard:
            return True
        if name in step.writes:
            return False
    return False


def _closed(steps: list[Step], names: set[str], *, backward: bool) -> set[str]:
    """The registers and those that moves and choices lead to from them, or from which they lead there."""
    moves = [(set(step.writes), set(moved_from(step))) for step in steps if is_move(step)]
    grown = True
    while grown:
        grown = False
        for targets, sources in moves:
            start, end = (targets, sources) if backward else (sources, targets)
            if not names.isdisjoint(start) and not names.issuperset(end):
                names |= end
                grown = True
    return names


def is_move(step: Step) -> bool:
    """Whether a step puts a register, or one of two, into another as it is."""
    return step.match.row.operation in ("move", "selection")


def moved_from(step: Step) -> tuple[str, ...]:
    """The registers that a move may take its value from."""
    ends = 3 if step.match.row.operation == "selection" else 2
    return tuple(filter(None, map(register_name, step.instruction.operands[1:ends])))


def _plain_reads(step: Step) -> frozenset[str]:
    """The registers that a step reads to do more with them than to copy them."""
    copied = frozenset[str]()
    if is_move(step):
        copied = frozenset(moved_from(step)) - frozenset(map(register_name, step.instruction.operands[3:]))
    elif _stores_copy(step):
        copied = _copied(step)
    guard = step.instruction.guard
    return step.reads - copied | ({guard.register} if guard else frozenset())


def deciding_updates(program: Program) -> frozenset[int]:
    """The atomic updates by whose value a thread decides what to do next, or lets its block decide.

    Who does has met all updates before its own: the last block resets the counter of finished ones.
    An update whose value only says where to store something, or that nobody looks at, orders nothing.
    """
    steps = [step for block in program.blocks for step in block.all_steps]
    deciding = {block.splits for block in program.blocks if block.splits is not None}
    for step in steps:
        guard = step.instruction.guard
        deciding |= ({guard.register} if guard else set()) | _copied(step)
    updates = [step for step in steps if _updates(step)]
    through = [step for step in steps if step.match.row.access != "load" and not _updates(step)]
    grown = True
    while grown:
        grown = False
        for step in through:
            if not deciding.isdisjoint(step.writes) and not deciding.issuperset(step.reads):
                deciding |= step.reads
                grown = True
    return frozenset(step.number for step in updates if not deciding.isdisjoint(step.writes))


def polled_loads(program: Program) -> frozenset[int]:
    """The volatile loads by whose value a loop ends: their threads wait for what others store."""
    found: set[int] = set()
    for body in loops_of(program.blocks).values():
        steps = [step for index in body for step in program.blocks[index].steps]
        ends = {
            block.splits
            for block in (program.blocks[index] for index in body)
            if block.splits is not None and not body.issuperset(block.successors)
        }
        for step in steps:
            if ordering_of(step.match).volatile and step.match.row.access == "load":
                found |= {step.number} if not ends.isdisjoint(computed_from(steps, step.writes)) else set()
    return frozenset(found)


def compared_loads(program: Program) -> frozenset[int]:
    """The plain loads of a word whose value a compare and swap of this word compares.

    If another thread has been faster, the swap fails and says so: such a load races with nobody in earnest.
    """
    steps = [step for block in program.blocks for step in block.all_steps]
    variables = _variables(steps)
    compared: dict[tree.Operand, set[str]] = {}
    for step in steps:
        if step.match.row.access == "atomic" and step.match.cas:
            _, address, expected, *_ = step.instruction.operands
            compared.setdefault(_of_variable(address, variables), set()).add(register_name(expected))
    found: set[int] = set()
    for address, names in compared.items():
        held = _closed(steps, names - {""}, backward=True)
        plain = (step for step in steps if step.match.row.access == "load")
        loads = (step for step in plain if not held.isdisjoint(step.writes))
        found |= {
            step.number for step in loads if _of_variable(step.instruction.operands[1], variables) == address
        }
    return frozenset(found)


def _variables(steps: list[Step]) -> dict[str, tree.Symbol]:
    """The registers that hold the address of a variable and nothing else."""
    written = Counter(name for step in steps for name in step.writes)
    moves = [step for step in steps if step.match.row.operation == "move"]
    found = {step.writes[0]: step.instruction.operands[1] for step in moves}
    return {name: one for name, one in found.items() if isinstance(one, tree.Symbol) and written[name] == 1}


def _of_variable(address: tree.Operand, variables: Mapping[str, tree.Symbol]) -> tree.Operand:
    """An address with the variable in place of a register that holds where it is."""
    if not isinstance(address, tree.Address) or not isinstance(address.base, tree.Register):
        return address
    return replace(address, base=variables.get(address.base.name, address.base))


def _updates(step: Step) -> bool:
    ordering = ordering_of(step.match)
    return ordering.atomic and ordering.reads


def elements_of(operand: tree.Operand) -> tuple[tree.Operand, ...]:
    """The parts of a vector, or the operand itself."""
    return operand.elements if isinstance(operand, tree.Vector) else (operand,)


def register_name(operand: tree.Operand) -> str:
    """The register that an operand is, "" for others."""
    return operand.name if isinstance(operand, tree.Register) else ""


def _stores_copy(step: Step) -> bool:
    return step.match.row.access == "store" and step.match.state_space in _COPIES


def _copied(step: Step) -> frozenset[str]:
    """The registers that a store puts into shared or local memory as they are."""
    if not _stores_copy(step):
        return frozenset()
    address, value = step.instruction.operands[:2]
    names = set(filter(None, map(register_name, elements_of(value))))
    base = address.base if isinstance(address, tree.Address) else address
    return frozenset(names - ({base.name} if isinstance(base, tree.Register) else set()))
