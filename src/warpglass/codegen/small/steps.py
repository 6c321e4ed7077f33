"""Steps that are rows of a table: each names a function, one for each form of an instruction.

The form is the instruction with numbers for its registers, in their order. A row has the places of its
registers in the warp's frame, the first of its access sites and what else is no part of the form: where an
address is a register or a variable with a distance, what is added to it, and constants that are no integers.
A function is handed its row and the lanes to run for; whatever else it
takes of the warp function's parameters it reads from a table of them. It returns true after a fault.

Steps with nothing between them are one call (`@wg_run_steps`), which goes through their rows. So LLVM has
next to nothing to do for a step: it takes as long as for the forms and the branches.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ...isa.types import LLVM_TYPE
from ...program import Step
from ...ptx import tree
from ..lanes.reference import ReferenceLanes
from ..memory.sites import Site
from ..operands import Symbols
from ..steps import Steps
from ..values.value import Value
from .slots import SlotRegisters

# Where the warp function's parameters are named, and what else a function may have of its row.
_NAMES = re.compile(r"%[a-z_]+\b")
_FAULT = "label %fault"
_WORD = 0xFFFFFFFF
# Words of 32 bits that a row begins with: its function, its own length, its first site. Then come numbers of
# two words, and the places of its registers.
_HEAD, _SITE = 3, 2
_RUN_STEPS = """
define internal i1 @wg_run_steps(ptr %given, i32 %mask, i64 %first, i64 %end) noinline #0 {
entry:
  br label %step
step:
  %at = phi i64 [ %first, %entry ], [ %next, %on ]
  %row = getelementptr i32, ptr @wg_rows, i64 %at
  %form = load i32, ptr %row
  %function.p = getelementptr ptr, ptr @wg_forms, i32 %form
  %function = load ptr, ptr %function.p
  %bad = call i1 %function(ptr %given, i32 %mask, ptr %row)
  br i1 %bad, label %left, label %on
on:
  %length.p = getelementptr i32, ptr %row, i64 1
  %length = load i32, ptr %length.p
  %words = zext i32 %length to i64
  %next = add i64 %at, %words
  %more = icmp ult i64 %next, %end
  br i1 %more, label %step, label %left
left:
  ret i1 %bad
}
"""


@dataclass(frozen=True, slots=True)
class Shared:
    """A function for steps of one form."""

    number: int
    sites: tuple[Site, ...]
    length: int  # lines of IR


class SharedSteps(Steps):
    """Puts steps into rows, and emits a call for those with nothing between them."""

    def __init__(self, lanes: ReferenceLanes, registers: SlotRegisters, symbols: Symbols, parameters: str):
        """`parameters` are those of the warp function, as LLVM IR."""
        super().__init__(lanes, registers, symbols)
        self.slots = registers
        self._numbers: dict[str, int] = {}  # of functions, by what follows their names
        self._rows: list[int] = []
        self._call = (
            "",
            0,
            0,
            0,
        )  # the last one: lanes, first word, its line, how many lines there were then
        self._parameters = [tuple(one.rsplit(" ", 1)) for one in parameters.split(", ")]
        self._shared: dict[tuple[object, ...], Shared] = {}
        self._handed: dict[int, str] = {}  # names in a function of what rows have of operands, by their ids

    def declare(self) -> list[str]:
        lines = [f"  %given = alloca [{len(self._parameters)} x i64], align 64"]
        for k, (type_, name) in enumerate(self._parameters):
            lines.append(f"  %given.{k} = getelementptr i64, ptr %given, i64 {k}")
            lines.append(f"  store {type_} {name}, ptr %given.{k}")
        return lines

    def run(self, step: Step, mask: str, blend: frozenset[str]) -> None:
        if not step.match.row.steers:
            self._add(self._row(step, blend), mask)
            self.lanes.mask = mask

    def rows(self, steps: Sequence[Step], blend: frozenset[str]) -> range:
        """Put steps into rows that no call is emitted for; the words of these."""
        first = len(self._rows)
        for step in steps:
            if not step.match.row.steers:
                self._rows += self._row(step, blend)
        return range(first, len(self._rows))

    def _row(self, step: Step, blend: frozenset[str]) -> list[int]:
        """The words of a step's row."""
        access = self.lanes.access
        numbers = self._numbers_of(step)
        handed = {id(operand): k for k, (operand, _) in enumerate(numbers)} if numbers else {}
        named, form = _form_of(step, handed)
        types = self.registers.types
        kept = tuple([name in blend for name in named]) if blend else ()
        key = (form, tuple([types[name] for name in named]), kept)
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = self._make(step, named, blend, handed)
        self.length += shared.length
        words = [word for _, number in numbers for word in (number & _WORD, number >> 32 & _WORD)]
        words += [self.slots.slot(name) for name in named]
        row = [shared.number, _HEAD + len(words), len(access.sites), *words]
        access.sites += [site.at(step.number) for site in shared.sites]
        return row

    def _add(self, row: list[int], mask: str) -> None:
        """Let the last call run one more row, if nothing was emitted behind it, or emit a call."""
        b = self.lanes.builder
        lanes, first, line, count = self._call
        if lanes != mask or count != len(b.lines):
            first, line = len(self._rows), len(b.lines)
            b.emit("")
            on = b.label("on")
            b.branch(f"%bad_{first}", self.lanes.access.fault_label, on, unlikely=True)
            b.place(on)
            self._call = mask, first, line, len(b.lines)
        self._rows += row
        end = len(self._rows)
        args = f"ptr %given, i32 {mask}, i64 {first}, i64 {end}"
        b.lines[line] = f"  %bad_{first} = call i1 @wg_run_steps({args})"

    # ------------------------------------------------------------------------------------ forms
    def _numbers_of(self, step: Step) -> list[tuple[tree.Operand, int]]:
        """What is no part of a step's form, with the operands that it is of: no object comes twice."""
        operands = step.instruction.operands
        if all(type(one) in _OF_FORMS for one in operands):  # as most are
            return []
        addresses = [one for one in operands if isinstance(one, tree.Address)]
        place = self._place_of(step, addresses[0]) if len(addresses) == 1 else None
        found: list[tuple[tree.Operand, int]] = [] if place is None else [(addresses[0], place)]
        if any(isinstance(one, tree.Float) for one in operands):
            for _, operand, type_ in step.match.forms():
                if isinstance(operand, tree.Float) and all(operand is not other for other, _ in found):
                    constant = self._single(self.operand(operand, type_)).constant
                    assert constant is not None
                    found.append((operand, constant))
        return found

    def _place_of(self, step: Step, address: tree.Address) -> int | None:
        """What is added to an address, or all of one that is no register; None where that is its form's."""
        match address.base:
            case tree.Register():
                return address.offset or None
            case tree.Integer(value):
                return value + address.offset if step.match.state_space != "param" else None
            case tree.Symbol(name) if name not in self.symbols.parameters and name not in self.symbols.ranked:
                known = self.symbols.variables.get(name)
                return None if known is None else known + address.offset
            case _:
                return None

    def operand(self, operand: tree.Operand, type_: str) -> Value | tuple[Value, ...]:
        number = self._handed.get(id(operand)) if isinstance(operand, tree.Float) else None
        if number is None:
            return super().operand(operand, type_)
        want = LLVM_TYPE.get(type_, "i64")
        return self.lanes.fit(Value("i64", self.lanes.builder.splat("i64", number)), want)

    def _address(self, operand: tree.Address) -> Value:
        place = self._handed.get(id(operand))
        if place is None:
            return super()._address(operand)
        lanes = self.lanes
        if not isinstance(operand.base, tree.Register):
            return Value("i64", lanes.builder.splat("i64", place))
        base = self._read(operand.base.name)
        if base.type != "i64":
            place = lanes.builder.value(f"trunc i64 {place} to {base.type}")
        return lanes.fit(lanes.add(base, Value(base.type, lanes.builder.splat(base.type, place))), "i64")

    # ------------------------------------------------------------------------------------ functions
    def _make(
        self, step: Step, named: tuple[str, ...], blend: frozenset[str], handed: Mapping[int, int]
    ) -> Shared:
        """Emit the function for a step's form."""
        access = self.lanes.access
        outer, access.sites = access.sites, []
        access.first_site, self._handed = "%first_site", {one: f"%number{k}" for one, k in handed.items()}
        self.slots.found_at({name: f"%register{k}" for k, name in enumerate(named)})
        with self.lanes.builder.elsewhere() as body:
            super().run(step, "%mask", blend)
        self.slots.found_at(None)
        access.first_site, self._handed = None, {}
        sites, access.sites = tuple(access.sites), outer
        text = self._function(body, len(handed), len(named))
        return Shared(self._numbers.setdefault(text, len(self._numbers)), sites, len(body))

    def _function(self, body: list[str], numbers: int, registers: int) -> str:
        """All of a function but its name, for so many numbers and registers of its row."""
        used = {"%frame"}.union(*(_NAMES.findall(line) for line in body))
        head: list[str] = []
        for k, (type_, name) in enumerate(self._parameters):
            if name in used:
                head.append(f"  {name}.at = getelementptr i64, ptr %given, i64 {k}")
                head.append(f"  {name} = load {type_}, ptr {name}.at")
        if "%first_site" in used:
            head += _from_row("%site", "i32", _SITE)
            head.append("  %first_site = zext i32 %site to i64")
        for k in range(numbers):
            head += _from_row(f"%number{k}", "i64", _HEAD + 2 * k)
        for k in range(registers):
            head += _from_row(f"%slot{k}", "i32", _HEAD + 2 * numbers + k)
            head.append(f"  %slot{k}.wide = zext i32 %slot{k} to i64")
            head.append(f"  %register{k} = getelementptr i8, ptr %frame, i64 %slot{k}.wide")
        ends = ["  ret i1 false"]
        if any(_FAULT in line for line in body):
            ends += ["fault:", "  ret i1 true"]
        return "\n".join(["(ptr %given, i32 %mask, ptr %row) #0 {\nentry:", *head, *body, *ends, "}\n"])

    @property
    def functions(self) -> list[str]:
        forms = ", ".join(f"ptr @wg_step_{number}" for number in self._numbers.values())
        return [
            *(f"define internal i1 @wg_step_{number}{text}" for text, number in self._numbers.items()),
            f"@wg_forms = internal constant [{len(self._numbers)} x ptr] [{forms}]\n",
            table("wg_rows", self._rows),
            _RUN_STEPS,
        ]


def table(name: str, words: Sequence[int]) -> str:
    """A constant of words of 32 bits, as the bytes that they have in memory: so LLVM reads it fastest."""
    content = array("I", [word & _WORD for word in words]).tobytes()
    escaped = f"\\{content.hex(chr(92))}" if content else ""
    return f'@{name} = internal constant [{len(content)} x i8] c"{escaped}", align 64\n'


def _from_row(name: str, type_: str, word: int) -> list[str]:
    """A word of a function's row as an LLVM value."""
    at = f"  {name}.at = getelementptr i32, ptr %row, i64 {word}"
    return [at, f"  {name} = load {type_}, ptr {name}.at, align 4"]


def _form_of(step: Step, handed: Mapping[int, int]) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """The registers that a step names, and its form without what is `handed` on of operands, by their ids."""
    instruction, numbers = step.instruction, dict[str, int]()

    def form_of(part: Any) -> object:
        if isinstance(part, tree.Register):
            return numbers.setdefault(part.name, len(numbers))
        if type(part) in _OF_FORMS:
            return part
        if id(part) in handed:
            base = part.base if isinstance(part, tree.Address) else None
            return handed[id(part)], type(part), form_of(base) if isinstance(base, tree.Register) else None
        if isinstance(part, tree.Float | str | int | None):
            return part
        if isinstance(part, tuple):
            return tuple([form_of(one) for one in part])
        return type(part), *[form_of(getattr(part, one.name)) for one in fields(part)]

    guard, row = instruction.guard, step.match.row
    condition = None if guard is None else (form_of(tree.Register(guard.register)), guard.negated)
    operands = tuple([form_of(one) for one in instruction.operands])
    for one in row.implicit:
        form_of(one[1])
    return tuple(numbers), (id(row), instruction.modifiers, condition, operands)


# Operands that are their form's, but for the numbers of registers.
_OF_FORMS = frozenset((tree.Register, tree.Integer, tree.Special, tree.Symbol))
