"""Instructions of one function matched with their rows; everything unsupported is reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from .. import isa
from ..errors import CompileError, Diagnostic, UnsupportedError
from ..isa.specials import is_special
from ..ptx import tree


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction with its row and the registers it reads and writes.

    `number` counts the function's instructions in file order: faults and events name it. `bounds` are those
    of integers that it writes, read as signed, in the threads that execute it. `origin` is a number that
    stands for one value in a block, and how far from it the register of a thread's address is.
    """

    number: int
    match: isa.Match
    reads: frozenset[str]
    writes: tuple[str, ...]
    bounds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    origin: tuple[int, int] | None = None

    @property
    def instruction(self) -> tree.Instruction:
        """The parsed instruction."""
        return self.match.instruction

    @property
    def address(self) -> tree.Address:
        """Where an access goes."""
        return next(one for one in self.instruction.operands if isinstance(one, tree.Address))

    @property
    def address_register(self) -> str | None:
        """The register that an access's address is read from, None for a symbol or a number."""
        base = self.address.base
        return base.name if isinstance(base, tree.Register) else None

    @property
    def control(self) -> str | None:
        """What the row does to control flow, None for an ordinary instruction."""
        return self.match.row.control


Decoded = Step | tree.Label


def decode(function: tree.Function) -> tuple[Decoded, ...]:
    """Match every instruction of a function.

    Raises UnsupportedError naming all that have no row, CompileError naming all operands of a wrong type.
    """
    decoded: list[Decoded] = []
    unsupported: list[Diagnostic] = []
    misfits: dict[Diagnostic, None] = {}
    forms: dict[object, _Form] = {}
    count = 0
    for item in function.body or ():
        if isinstance(item, tree.Label):
            decoded.append(item)
            continue
        key = _form_of(item, function.registers)
        form = forms.get(key)
        if form is not None:
            decoded.append(form.step(count, item))
            count += 1
            continue
        found = isa.match(item)
        if found is None:
            unsupported.append(_explain(item))
            continue
        wrong = list(_strange_operands(found.instruction))
        unsupported += wrong
        misfit = list(_misfits(item, found, function.registers))
        misfits |= dict.fromkeys(misfit)
        if key is not None and found.instruction is item and not wrong and not misfit:
            forms[key] = _Form(found)
        decoded.append(make_step(count, found))
        count += 1
    if unsupported:
        plural = "an instruction" if len(unsupported) == 1 else f"{len(unsupported)} instructions"
        raise UnsupportedError(
            f"kernel {function.name} uses {plural} that the engine does not support yet", tuple(unsupported)
        )
    if misfits:
        many = "an operand" if len(misfits) == 1 else f"{len(misfits)} operands"
        raise CompileError(f"kernel {function.name} has {many} of a wrong type", tuple(misfits))
    return tuple(decoded)


def _misfits(item: tree.Instruction, found: isa.Match, registers: Mapping[str, str]) -> Iterator[Diagnostic]:
    """What is wrong with the types of an instruction's operands."""
    for name, own, fitting in isa.find_misfits(found, registers):
        yield _at(item, f"{_opcode(item)} cannot have {name}, which is .{own}", f"it needs {fitting}")
    for constant, fitting in isa.find_misfit_constants(found):
        yield _at(item, f"{_opcode(item)} cannot have {constant}", f"it needs {fitting}")


def _form_of(item: tree.Instruction, registers: Mapping[str, str]) -> tuple[object, ...] | None:
    """What decides the row of an instruction and whether its operands fit; None for the less usual ones."""
    kinds: list[object] = [item.opcode, item.modifiers]
    for operand in item.operands:
        if isinstance(operand, tree.Register):
            kinds.append(registers.get(operand.name))
        elif isinstance(operand, tree.Integer):
            kinds.append(operand if isa.has_literals(item.opcode) else tree.Integer)
        elif isinstance(operand, tree.Address):
            base = operand.base
            named = isinstance(base, tree.Register)
            kinds.append((tree.Address, registers.get(base.name) if named else type(base)))
        elif isinstance(operand, tree.Float):
            kinds.append((tree.Float, operand.width))
        elif isinstance(operand, tree.Special):
            kinds.append(operand)
        elif isinstance(operand, tree.Symbol):
            kinds.append(tree.Symbol)
        else:
            return None
    return tuple(kinds)


class _Form:
    """Instructions that differ in their registers, numbers and names alone: one of them stands for all."""

    def __init__(self, found: isa.Match):
        self._found = found
        forms = found.forms()
        places = () if found.row.steers else forms[: len(found.instruction.operands)]
        self._targets = [k for k, (form, _, _) in enumerate(places) if form.destination]
        self._sources = [k for k, (form, _, _) in enumerate(places) if not form.destination]
        implicit = [] if found.row.steers else found.row.implicit
        named = [(form.destination, name) for form, one, _ in implicit for name in registers_of(one)]
        self._reads = [name for destination, name in named if not destination]
        self._writes = [name for destination, name in named if destination]

    def step(self, number: int, item: tree.Instruction) -> Step:
        """The step of an instruction of this form."""
        operands = item.operands
        reads = [*self._reads]
        for place in self._sources:
            operand = operands[place]
            if isinstance(operand, tree.Address):
                operand = operand.base
            if isinstance(operand, tree.Register):
                reads.append(operand.name)
        if item.guard:
            reads.append(item.guard.register)
        targets = [operands[place] for place in self._targets]
        writes = [one.name for one in targets if isinstance(one, tree.Register)]
        return Step(number, self._found.like(item), frozenset(reads), (*writes, *self._writes))


def make_step(number: int, found: isa.Match) -> Step:
    """A step, with the registers that its instruction names."""
    reads: set[str] = set()
    writes: list[str] = []
    for form, operand, _ in () if found.row.steers else found.forms():
        if form.destination:
            writes += registers_of(operand)
        else:
            reads.update(registers_of(operand))
    if found.instruction.guard:
        reads.add(found.instruction.guard.register)
    return Step(number, found, frozenset(reads), tuple(writes))


def steps_instead(step: Step, items: Iterable[tree.Instruction]) -> list[Step]:
    """The steps of instructions that stand for another one's, all with its number."""
    matches = [isa.match(item) for item in items]
    assert all(matches), "what stands for an instruction has rows as well"
    return [make_step(step.number, match) for match in matches if match is not None]


def registers_of(operand: tree.Operand) -> tuple[str, ...]:
    """The registers named in an operand."""
    if type(operand) is tree.Register:  # as most are
        return (operand.name,)
    return tuple(part.name for part in _parts(operand) if isinstance(part, tree.Register))


def _explain(item: tree.Instruction) -> Diagnostic:
    known = isa.exclusion(item) or isa.refusal(item) or isa.known_forms(item)
    return _unsupported(item, _opcode(item), known)


def _strange_operands(item: tree.Instruction) -> Iterator[Diagnostic]:
    """What code generation has no meaning for, whatever the instruction."""
    for operand in item.operands:
        for part in _parts(operand):
            match part:
                case tree.Special(name) if not is_special(name):
                    yield _unsupported(item, name, "only its parts are, .x, .y and .z")
                case tree.Component(register, selector):
                    yield _unsupported(item, f"{register.name}.{selector}", "only whole registers are")
                case _:
                    pass


def _parts(operand: tree.Operand) -> Iterator[tree.Operand]:
    """An operand and all that it is made of."""
    yield operand
    match operand:
        case tree.Vector(elements) | tree.AddressList(elements):
            inner = elements
        case tree.Pair(first, second):
            inner = (first, second)
        case tree.Address(base=one) | tree.Negated(one):
            inner = (one,)
        case _:
            inner = ()
    for one in inner:
        yield from _parts(one)


def _opcode(item: tree.Instruction) -> str:
    return ".".join([item.opcode, *item.modifiers])


def _unsupported(item: tree.Instruction, what: str, known: str) -> Diagnostic:
    return _at(item, f"{what} is not supported", known)


def _at(item: tree.Instruction, what: str, more: str) -> Diagnostic:
    """A message at the author's own line: where the code was inlined into, if it comes from a header."""
    text = f"{what} (PTX line {item.line}"
    if item.source is None:
        return Diagnostic(f"{text}); {more}")
    place = item.source.author
    if place is not item.source:
        text += f", inlined from {item.source.file}:{item.source.line}"
    return Diagnostic(f"{text}); {more}", file=place.file, line=place.line)
