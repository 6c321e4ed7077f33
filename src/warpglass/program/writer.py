"""Writes the body of a kernel and all that it calls: every instruction but calls (calls.py does those).

What calls bring with them becomes plain instructions: `ld.param` and `st.param` moves or accesses of local
memory, `ret` a jump, `brx.idx` a switch behind a test of its index, `alloca` and its kin arithmetic on the
stack pointer.
"""

from __future__ import annotations

from dataclasses import replace

from ..ptx import tree
from .copies import STACK_POINTER, Copy
from .layout import variable_size
from .parameters import InMemory, InRegister, Instructions, ParameterLocation, move


class Writer:
    """A body that grows, with the registers, variables and tables of targets that it names."""

    def __init__(self) -> None:
        self.body: list[tree.Instruction | tree.Label] = []
        self.registers: dict[str, str] = {}
        self.variables: dict[str, tree.Variable] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.made = Instructions(self.registers)

    def emit(self, written: str, *operands: tree.Operand, guard: tree.Guard | None = None) -> None:
        """An instruction at the author's line; `written` is its opcode with the modifiers."""
        self.body.append(self.made.make(written, *operands, guard=guard))

    def move(
        self, target: ParameterLocation | tree.Register, source: ParameterLocation | tree.Operand
    ) -> None:
        """A parameter copied from one place to another."""
        self.body += move(target, source, self.made)

    def write_renamed(self, copy: Copy, item: tree.Instruction) -> None:
        """An instruction in the names of a copy."""
        operands = tuple([self.operand(copy, operand) for operand in item.operands])
        guard = copy.guard(item.guard)
        self.body.append(
            tree.Instruction(item.opcode, item.modifiers, operands, guard, item.line, item.source)
        )

    # ------------------------------------------------------------------------------------ the stack
    def open_frame(self, copy: Copy) -> None:
        """Take a copy's frame from the stack, if it needs one."""
        if copy.frame or copy.source.uses_stack:
            sp = self.stack()
            self.emit("mov.u64", self.made.register(copy.frame_pointer.name, "b64"), sp)
            self.emit("add.s64", sp, sp, tree.Integer(copy.frame_size))

    def close_frame(self, copy: Copy) -> None:
        """Give the frame back."""
        if copy.frame or copy.source.uses_stack:
            self.emit("mov.u64", self.stack(), copy.frame_pointer)

    def stack(self) -> tree.Register:
        """The stack pointer, which the kernel then has."""
        return self.made.register(STACK_POINTER.name, "b64")

    # ------------------------------------------------------------------------------------ operands
    def operand(self, copy: Copy, operand: tree.Operand) -> tree.Operand:
        """An operand in the names of a copy."""
        return copy.operand(operand, self.made, self.body)

    def actual(self, copy: Copy, operand: tree.Operand) -> ParameterLocation | tree.Operand:
        """What a call passes: a parameter of the caller's, or any other operand."""
        if isinstance(operand, tree.Symbol) and operand.name in copy.source.parameters:
            return copy.place(operand.name)
        return self.operand(copy, operand)

    def value(self, place: ParameterLocation | tree.Operand) -> tree.Operand:
        """The same as an operand of an instruction."""
        if isinstance(place, InMemory):
            register = self.target(place)
            assert isinstance(register, tree.Register)
            self.move(register, place)
            return register
        return tree.Register(place.name) if isinstance(place, InRegister) else place

    def target(self, place: ParameterLocation | tree.Operand) -> tree.Operand:
        """What an instruction can write for a result to come to a place."""
        if isinstance(place, InMemory):
            return self.made.temporary(f"b{max(16, 8 * variable_size(place.variable))}")
        return tree.Register(place.name) if isinstance(place, InRegister) else place

    def skip_unless(self, copy: Copy, item: tree.Instruction) -> list[tree.Label]:
        """Jump over what a guarded instruction becomes; returns the label to put behind it."""
        guard = copy.guard(item.guard)
        if guard is None:
            return []
        label = self.made.label()
        self.emit("bra", tree.Symbol(label.name), guard=replace(guard, negated=not guard.negated))
        return [label]

    # ------------------------------------------------------------------------------------ instructions
    def access(self, copy: Copy, item: tree.Instruction) -> bool:
        """`ld.param` and `st.param`; a kernel's own parameters stay as they are."""
        address = next(operand for operand in item.operands if isinstance(operand, tree.Address))
        if isinstance(address.base, tree.Symbol):
            name = address.base.name
            if name not in copy.source.parameters:
                return False
            if name in copy.source.scalars:
                register = tree.Register(name + copy.owner)
                operands = [register if one is address else self.operand(copy, one) for one in item.operands]
                self.emit(f"_param.{item.modifiers[-1]}", *operands, guard=copy.guard(item.guard))
                return True
        elif copy.function.entry:
            return False
        self.write_renamed(copy, replace(item, modifiers=("local", *item.modifiers[1:])))
        return True

    def give_back(self, copy: Copy, item: tree.Instruction) -> bool:
        """`ret`: of the kernel it is an exit, of a copy a jump to its end."""
        if copy.function.entry:
            return False
        self.emit("bra", tree.Symbol(copy.end.name), guard=copy.guard(item.guard))
        return True

    def switch(self, copy: Copy, item: tree.Instruction) -> bool:
        """`brx.idx`: an index beyond its table ends the kernel."""
        after = self.skip_unless(copy, item)
        index, table = (self.operand(copy, operand) for operand in item.operands)
        assert isinstance(table, tree.Symbol)
        fine, wrong = self.made.label(), self.made.temporary("pred")
        chosen = self.made.temporary("b32")
        self.emit("mov.u32", chosen, index)
        self.emit("setp.ge.u32", wrong, chosen, tree.Integer(len(self.tables.get(table.name, ()))))
        self.emit("bra", tree.Symbol(fine.name), guard=tree.Guard(wrong.name, negated=True))
        self.emit("_call.astray")
        self.body.append(fine)
        self.emit("brx.idx", chosen, table)
        self.body += after
        return True

    def stacksave(self, copy: Copy, item: tree.Instruction) -> bool:
        """`stacksave d`."""
        target = self.operand(copy, item.operands[0])
        self.emit("mov.u64", target, self.stack(), guard=copy.guard(item.guard))
        return True

    def stackrestore(self, copy: Copy, item: tree.Instruction) -> bool:
        """`stackrestore a`."""
        source = self.operand(copy, item.operands[0])
        self.emit("mov.u64", self.stack(), source, guard=copy.guard(item.guard))
        return True

    def alloca(self, copy: Copy, item: tree.Instruction) -> bool:
        """`alloca.type d, size, align`: the stack's next bytes."""
        after = self.skip_unless(copy, item)
        target, size, *rest = (self.operand(copy, operand) for operand in item.operands)
        align = rest[0].value if rest and isinstance(rest[0], tree.Integer) else 16
        sp, wide = self.stack(), self.made.temporary("b64")
        self.emit(f"_param.{item.modifiers[-1]}", wide, size)
        self._align(sp, align)
        self.emit("mov.u64", target, sp)
        self.emit("add.s64", sp, sp, wide)
        self._align(sp, 16)
        self.body += after
        return True

    def _align(self, register: tree.Register, align: int) -> None:
        self.emit("add.s64", register, register, tree.Integer(align - 1))
        self.emit("and.b64", register, register, tree.Integer(-align))
