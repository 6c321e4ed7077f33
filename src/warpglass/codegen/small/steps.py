"""Steps that call a function: one for each form of an instruction, whichever registers it names.

The form is the instruction with numbers for its registers, in their order. A function is handed the places
of its registers in the warp's frame, the lanes to run for, the first of its access sites and, where an
address is a register or a variable with a distance, what is added to it; whatever else it takes of the warp
function's parameters it reads from a table of them. It returns true after a fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Any

from ...program import Step
from ...ptx import tree
from ..lanes.reference import ReferenceLanes
from ..memory.sites import Site
from ..operands import Symbols
from ..steps import Steps
from ..values.value import Value
from .slots import SlotRegisters

# Where the warp function's parameters are named.
_NAMES = re.compile(r"%[a-z_]+\b")
_FAULT = "label %fault"


@dataclass(frozen=True, slots=True)
class Shared:
    """A function for steps of one form."""

    name: str
    sites: tuple[Site, ...]
    faults: bool
    length: int  # lines of IR


class SharedSteps(Steps):
    """Emits each step as a call."""

    def __init__(self, lanes: ReferenceLanes, registers: SlotRegisters, symbols: Symbols, parameters: str):
        """`parameters` are those of the warp function, as LLVM IR."""
        super().__init__(lanes, registers, symbols)
        self._slots = registers
        self._names: dict[str, str] = {}  # of functions, by what follows them
        self._parameters = [tuple(one.rsplit(" ", 1)) for one in parameters.split(", ")]
        self._shared: dict[tuple[object, ...], Shared] = {}
        self._place: tuple[tree.Address, str] | None = None  # an address, and its value's name in a function

    def declare(self) -> list[str]:
        lines = [f"  %given = alloca [{len(self._parameters)} x i64], align 64"]
        for k, (type_, name) in enumerate(self._parameters):
            lines.append(f"  %given.{k} = getelementptr i64, ptr %given, i64 {k}")
            lines.append(f"  store {type_} {name}, ptr %given.{k}")
        return lines

    def run(self, step: Step, mask: str, blend: frozenset[str]) -> None:
        if step.match.row.steers:
            return
        access, b = self.lanes.access, self.lanes.builder
        address, place = self._address_of(step)
        named, form = _form_of(step, address)
        types = self.registers.types
        key = (form, tuple([types[name] for name in named]), tuple([name in blend for name in named]))
        shared = self._shared.get(key)
        if shared is None:
            shared = self._shared[key] = self._make(step, named, blend, address)
        self.length += shared.length
        first = len(access.sites)
        access.sites += [replace(site, step=step.number) for site in shared.sites]
        numbers = [first, place, *(self._slots.slot(name) for name in named)]
        args = [("ptr", "%given"), ("i32", mask), *(("i64", str(number)) for number in numbers)]
        self.lanes.mask = mask
        found = b.call("i1" if shared.faults else "void", shared.name, args)
        if shared.faults:
            on = b.label("on")
            b.branch(found, access.fault_label, on, unlikely=True)
            b.place(on)

    # ------------------------------------------------------------------------------------ forms
    def _address_of(self, step: Step) -> tuple[tree.Address | None, int]:
        """The address whose distance is handed to a step's function, if it has one, and that number."""
        addresses = [one for one in step.instruction.operands if isinstance(one, tree.Address)]
        if len(addresses) != 1:
            return None, 0
        (address,) = addresses
        match address.base:
            case tree.Register():
                return (address, address.offset) if address.offset else (None, 0)
            case tree.Integer(value):
                return (address, value + address.offset) if step.match.state_space != "param" else (None, 0)
            case tree.Symbol(name) if name not in self.symbols.parameters and name not in self.symbols.ranked:
                known = self.symbols.variables.get(name)
                return (None, 0) if known is None else (address, known + address.offset)
            case _:
                return None, 0

    def _address(self, operand: tree.Address) -> Value:
        if self._place is None or operand is not self._place[0]:
            return super()._address(operand)
        lanes, place = self.lanes, self._place[1]
        if not isinstance(operand.base, tree.Register):
            return Value("i64", lanes.builder.splat("i64", place))
        base = self._read(operand.base.name)
        if base.type != "i64":
            place = lanes.builder.value(f"trunc i64 {place} to {base.type}")
        return lanes.fit(lanes.add(base, Value(base.type, lanes.builder.splat(base.type, place))), "i64")

    # ------------------------------------------------------------------------------------ functions
    def _make(
        self, step: Step, named: tuple[str, ...], blend: frozenset[str], address: tree.Address | None
    ) -> Shared:
        """Emit the function for a step's form."""
        access = self.lanes.access
        outer, access.sites = access.sites, []
        access.first_site, self._place = "%first_site", None if address is None else (address, "%place")
        self._slots.found_at({name: f"%register{k}" for k, name in enumerate(named)})
        with self.lanes.builder.elsewhere() as body:
            super().run(step, "%mask", blend)
        self._slots.found_at(None)
        access.first_site, self._place = None, None
        sites, access.sites = tuple(access.sites), outer
        faults = any(_FAULT in line for line in body)
        text = self._function(body, len(named), faults)
        name = self._names.setdefault(text, f"wg_step_{len(self._names)}")
        return Shared(name, sites, faults, len(body))

    def _function(self, body: list[str], registers: int, faults: bool) -> str:
        """All of a function but its name, for so many registers."""
        places = [f"i64 %slot{k}" for k in range(registers)]
        at_registers = [
            f"  %register{k} = getelementptr i8, ptr %frame, i64 %slot{k}" for k in range(registers)
        ]
        used = {name for line in (*body, *at_registers) for name in _NAMES.findall(line)}
        head: list[str] = []
        for k, (type_, name) in enumerate(self._parameters):
            if name in used:
                head.append(f"  {name}.at = getelementptr i64, ptr %given, i64 {k}")
                head.append(f"  {name} = load {type_}, ptr {name}.at")
        given = ", ".join(["ptr %given", "i32 %mask", "i64 %first_site", "i64 %place", *places])
        ends = ["  ret i1 false", "fault:", "  ret i1 true"] if faults else ["  ret void"]
        return "\n".join([f"({given}) noinline #0 {{\nentry:", *head, *at_registers, *body, *ends, "}\n"])

    @property
    def functions(self) -> list[str]:
        return [
            f"define internal {'i1' if _FAULT in text else 'void'} @{name}{text}"
            for text, name in self._names.items()
        ]


def _form_of(step: Step, address: tree.Address | None) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """The registers that a step names, and its form without what is added to `address`."""
    instruction, numbers = step.instruction, dict[str, int]()

    def form_of(part: Any) -> object:
        if isinstance(part, tree.Register):
            return numbers.setdefault(part.name, len(numbers))
        if part is address and address is not None:
            return "place", form_of(address.base) if isinstance(address.base, tree.Register) else None
        if isinstance(part, tree.Integer | tree.Float | tree.Special | tree.Symbol | str | int | None):
            return part
        if isinstance(part, tuple):
            return tuple([form_of(one) for one in part])
        return type(part), *[form_of(getattr(part, one.name)) for one in fields(part)]

    guard = instruction.guard
    condition = None if guard is None else (form_of(tree.Register(guard.register)), guard.negated)
    operands = tuple([form_of(one) for one in instruction.operands])
    for name in sorted({*step.reads, *step.writes} - numbers.keys()):  # those that its row names
        numbers[name] = len(numbers)
    return tuple(numbers), (id(step.match.row), instruction.modifiers, condition, operands)
