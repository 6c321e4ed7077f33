"""One copy of a function within a kernel (calls.py): how its names read, and where its parameters stand.

Registers, labels and parameters of copy 3 end in `@3`; the kernel's own keep their names. Variables of a
function have one name for all copies, except those in the stack frame of a function that may call itself:
their addresses are made from the copy's frame pointer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..isa.calls import rewriting
from ..ptx import tree
from .layout import element_size, variable_size
from .parameters import InMemory, InRegister, Instructions, ParameterLocation, find_scalars, parameters_of

STACK_WORDS = ("alloca", "stacksave", "stackrestore")
STACK_POINTER = tree.Register("%sp@")


class Source:
    """What is the same for all copies of a function."""

    def __init__(self, function: tree.Function):
        self.function = function
        self.parameters: Mapping[str, tree.Variable] = {v.name: v for v in parameters_of(function)}
        self.parameters |= {v.name: v for v in (*function.parameters, *function.results) if v.space == "reg"}
        self.scalars = find_scalars(function)
        self.labels = [item.name for item in function.body or () if isinstance(item, tree.Label)]
        self.size = len(function.body or ())
        self.uses_stack = any(
            isinstance(item, tree.Instruction) and rewriting(item) in STACK_WORDS
            for item in function.body or ()
        )
        self.names: dict[str, str] = {}  # variables that have one place for all copies

    def type_of(self, name: str) -> str:
        """The type of the register that a scalar parameter is."""
        variable = self.parameters[name]
        return "pred" if variable.type == "pred" else f"b{8 * element_size(variable)}"


def owner_suffix(number: int) -> str:
    """What the names of a copy end in."""
    return f"@{number}" if number else ""


@dataclass(eq=False)
class Copy:
    """One copy; number 0 is the kernel itself."""

    source: Source
    number: int
    depth: int = 0  # copies that it is written within
    shared: bool = False  # several calls may enter it
    cycle: dict[str, Copy] | None = None  # the copies that it may call back, if it may call itself
    frame: dict[str, int] = field(default_factory=dict[str, int])  # offsets of what lies on the stack
    frame_size: int = 0
    returns: list[str] = field(default_factory=list[str])  # labels behind the calls of a shared copy

    def __post_init__(self) -> None:
        function = self.source.function
        self.owner = owner_suffix(self.number)
        self._registers: dict[str, tree.Register] = {}  # in its own names, by the function's
        mine = (*self.source.labels, *function.branch_targets, *self.source.parameters)
        self.own = {name: name + self.owner for name in mine}
        self.start, self.end = tree.Label(f"@start{self.owner}"), tree.Label(f"@end{self.owner}")
        self.frame_pointer = tree.Register(f"%fp{self.owner}")
        self.return_table = f"@returns{self.owner}"
        # Which call the copy was entered from; callers leave it in a slot, as they do arguments.
        self.call_number = InRegister(f"%back{self.owner}", "b32")
        self.call_slot = InRegister(f"%back{self.owner}:slot", "b32")

    @property
    def function(self) -> tree.Function:
        """The function that this is a copy of."""
        return self.source.function

    def put_on_stack(self, variable: tree.Variable) -> None:
        """Give a variable a place in the frame."""
        self.frame[variable.name] = self.frame_size
        self.frame_size += -(-variable_size(variable) // 16) * 16

    # ------------------------------------------------------------------------------------ names
    def guard(self, guard: tree.Guard | None) -> tree.Guard | None:
        """A guard in the names of the copy."""
        return guard and replace(guard, register=guard.register + self.owner)

    def operand(
        self, operand: tree.Operand, made: Instructions, before: list[tree.Instruction | tree.Label]
    ) -> tree.Operand:
        """An operand in the names of the copy; `before` gets the instructions that it needs."""
        if type(operand) is tree.Register:  # as most are
            found = self._registers.get(operand.name)
            if found is None:
                found = self._registers[operand.name] = tree.Register(operand.name + self.owner)
            return found
        if type(operand) is tree.Integer:
            return operand
        match operand:
            case tree.Symbol(name) if name in self.frame:
                return self._frame_address(self.frame[name], made, before)
            case tree.Displaced(tree.Symbol(name), offset) if name in self.frame:
                return self._frame_address(self.frame[name] + offset, made, before)
            case tree.Address(tree.Symbol(name), offset) if name in self.frame:
                return tree.Address(self.frame_pointer, self.frame[name] + offset)
            case tree.Symbol(name):
                return replace(operand, name=self.source.names.get(name) or self.own.get(name, name))
            case tree.Negated(inner):
                return tree.Negated(tree.Register(inner.name + self.owner))
            case tree.Address(tree.Symbol() | tree.Register()) | tree.Displaced() | tree.Component():
                return replace(operand, base=self.operand(operand.base, made, before))
            case tree.Vector(elements) | tree.Group(elements) | tree.AddressList(elements):
                return replace(operand, elements=tuple(self.operand(one, made, before) for one in elements))
            case tree.Pair(first, second):
                return tree.Pair(self.operand(first, made, before), self.operand(second, made, before))
            case _:
                return operand

    def _frame_address(
        self, offset: int, made: Instructions, before: list[tree.Instruction | tree.Label]
    ) -> tree.Register:
        register = made.temporary("b64")
        before.append(made.make("add.s64", register, self.frame_pointer, tree.Integer(offset)))
        return register

    # ------------------------------------------------------------------------------------ parameters
    def place(self, name: str, frame: tree.Register | None = None) -> ParameterLocation:
        """Where a parameter stands; `frame` is the copy's frame if it does not run itself."""
        variable = self.source.parameters[name]
        if variable.space == "reg" or name in self.source.scalars:
            return InRegister(name + self.owner, self.source.type_of(name))
        if name in self.frame:
            return InMemory(frame or self.frame_pointer, self.frame[name], variable)
        return InMemory(tree.Symbol(self.source.names[name]), 0, variable)

    def slot(self, name: str, frame: tree.Register | None = None) -> ParameterLocation:
        """Where the callers of a shared copy leave a parameter or find a result: a register of nobody's."""
        place = self.place(name, frame)
        return replace(place, name=f"{place.name}:slot") if isinstance(place, InRegister) else place
