"""What PTX lets an author leave out or write in short, written out before any other stage looks at it.

* `ld.u32 %r1, [name]` names no state space: ptxas takes that of the variable.
* `ld.shared.u32 %r1, s[%r2+1]` names an element: its address is computed from 32 bits of the index.
* `add.u32 %r1, %r2+4, %r3` has a sum as an operand: it gets an instruction of its own.
* `mov.v4.u32 {...}, %tid` reads the parts of a special register.
* `ld.u32.param %r1, [name]`: what follows looks for the space of parameters in front.
* `barrier.cluster.wait` waits: in front of it comes the loop that does.

An access that names another space than its variable's is an error, as it is to ptxas.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace

from .. import isa
from ..errors import CompileError, Diagnostic, UnsupportedError
from ..isa.calls import rewriting
from ..isa.cluster import waits_for_cluster
from ..isa.specials import is_special
from ..isa.spelling import space_first, spaces_of
from ..isa.types import BITS, LLVM_TYPE
from ..ptx import tree
from ..ptx.printer import print_operand

_WIDTHS = {"16": "s16", "32": "s32", "64": "s64"}
_GENERIC = frozenset(("shared", "local", "global"))  # spaces with generic addresses, to ptxas


def write_out(module: tree.Module, entry: tree.Function) -> tuple[tree.Module, tree.Function]:
    """A module and one of its kernels without short forms.

    Raises CompileError naming every access of a variable in a space that is not its own, and every sum of a
    register that is no integer.
    """
    _refuse_textures(entry)
    variables = {variable.name: variable for variable in module.variables}
    functions = tuple(
        _Function(one, variables).written_out() if one is entry or not one.entry else one
        for one in module.functions
    )
    if all(new is old for new, old in zip(functions, module.functions, strict=True)):
        return module, entry
    written = next(new for new, old in zip(functions, module.functions, strict=True) if old is entry)
    return replace(module, functions=functions), written


def _refuse_textures(entry: tree.Function) -> None:
    """Raise UnsupportedError for parameters without a value that a program could read."""
    for parameter in entry.parameters:
        if parameter.type.endswith("ref"):
            raise UnsupportedError(
                f"kernel {entry.name} has the parameter {parameter.name} of type .{parameter.type}; "
                "the engine has no textures or surfaces"
            )


class _Function:
    """One function: what its names stand for, and what is wrong."""

    def __init__(self, function: tree.Function, variables: Mapping[str, tree.Variable]):
        self.function = function
        own = (*function.parameters, *function.results, *function.variables)
        self.variables = {**variables, **{variable.name: variable for variable in own}}
        self.registers: dict[str, str] = {}
        self.wrong: list[Diagnostic] = []

    def written_out(self) -> tree.Function:
        """The function without short forms; itself if it has none."""
        body = self.function.body or ()
        short = [k for k, item in enumerate(body) if isinstance(item, tree.Instruction) and _is_short(item)]
        if not short:
            return self.function
        made: list[tree.Instruction | tree.Label] = []
        done = 0
        for position in short:
            item = body[position]
            assert isinstance(item, tree.Instruction)
            made += body[done:position]
            made += self._write_out(item)
            done = position + 1
        if self.wrong:
            many = "an operand" if len(self.wrong) == 1 else f"{len(self.wrong)} operands"
            raise CompileError(f"{self.function.name} has {many} that PTX does not allow", tuple(self.wrong))
        made += body[done:]
        if len(made) == len(body) and all(new is old for new, old in zip(made, body, strict=True)):
            return self.function
        registers = {**self.function.registers, **self.registers}
        return replace(self.function, body=tuple(made), registers=registers)

    def _write_out(self, item: tree.Instruction) -> Iterator[tree.Instruction | tree.Label]:
        if waits_for_cluster(item):
            yield from self._wait(item)
            return
        if rewriting(item) == "parameter":
            item = replace(item, modifiers=space_first(item.modifiers))
        if any(isinstance(one, tree.Indexed) for one in item.operands):
            yield from self._element(item)
            return
        operands: list[tree.Operand] = []
        for operand in item.operands:
            if isinstance(operand, tree.Displaced) and isinstance(operand.base, tree.Register):
                total = self._add(item, operand.base, operand.offset)
                yield total
                operand = total.operands[0]
            elif isinstance(operand, tree.Special) and _is_vector(item, operand):
                operand = tree.Vector(tuple(tree.Special(f"{operand.name}.{part}") for part in "xyzw"))
            operands.append(operand)
        if any(new is not old for new, old in zip(operands, item.operands, strict=True)):
            item = replace(item, operands=tuple(operands))
        yield self._with_space(item)

    def _element(self, item: tree.Instruction) -> Iterator[tree.Instruction | tree.Label]:
        """An access of an array's element, or its address, behind what computes that."""
        at = next(k for k, one in enumerate(item.operands) if isinstance(one, tree.Indexed))
        element = item.operands[at]
        assert isinstance(element, tree.Indexed)
        name = element.base.name
        array = self.variables.get(name)
        if array is None or not array.shape:
            self.wrong.append(_at(item, f"{name} is no array, so it has no {print_operand(element)}"))
            return
        size = BITS[LLVM_TYPE[array.type]] // 8
        offset = element.offset * size

        def given(operand: tree.Operand) -> tree.Instruction:
            operands = (*item.operands[:at], operand, *item.operands[at + 1 :])
            return self._with_space(replace(item, operands=operands))

        accessed = given(tree.Address(element.base, offset))
        match = isa.match(accessed)
        if match is not None and match.row.access in ("load", "store"):
            if element.index is None:
                yield accessed
            else:
                base = yield from self._address(item, element.base, element.index, size, "b64")
                operands = (*item.operands[:at], tree.Address(base, offset), *item.operands[at + 1 :])
                yield replace(accessed, operands=operands)
            return
        moved = given(tree.Displaced(element.base, offset))
        match = isa.match(moved)
        if match is None or match.row.operation != "move":
            written = print_operand(element)
            self.wrong.append(_at(item, f"only ld, st and mov take {written}: move it to a register first"))
        elif element.index is None:
            yield moved
        else:
            type_ = f"b{BITS[LLVM_TYPE[match.values['type']]]}"
            base = yield from self._address(item, element.base, element.index, size, type_, offset)
            yield given(base)

    def _address(
        self,
        item: tree.Instruction,
        array: tree.Symbol,
        index: tree.Register,
        size: int,
        type_: str,
        offset: int = 0,
    ) -> Generator[tree.Instruction, None, tree.Register]:
        """The address of an array's element in a register: 32 bits of index times size, as ptxas has it."""
        own = self.function.registers.get(index.name, "b32")
        if own[0] not in "bus" or own[1:] not in _WIDTHS:
            self.wrong.append(_at(item, f"an index is an integer, but {index.name} is .{own}"))
            own = "b32"
        word, bytes_, base = (self._register(one) for one in ("b32", "b32", type_))
        wide = self._register(type_)

        def make(words: str, *operands: tree.Operand) -> tree.Instruction:
            opcode, *modifiers = words.split(".")
            return replace(item, opcode=opcode, modifiers=tuple(modifiers), operands=operands, guard=None)

        yield make(f"cvt.u32.u{own[1:]}", word, index)
        yield make("mad.lo.u32", bytes_, word, tree.Integer(size), tree.Integer(offset % 2**32))
        yield make(f"cvt.u{type_[1:]}.u32", wide, bytes_)
        yield make(f"mov.{type_}", base, array)
        yield make(f"add.u{type_[1:]}", base, base, wide)
        return base

    def _register(self, type_: str) -> tree.Register:
        name = f"element+{len(self.registers)}"
        self.registers[name] = type_
        return tree.Register(name)

    def _wait(self, item: tree.Instruction) -> Iterator[tree.Instruction | tree.Label]:
        """A wait at the cluster's barrier behind a loop that lasts as long."""
        again, behind, over = (f"{what}+{len(self.registers)}" for what in ("wait", "waited", "over"))
        self.registers[over] = "pred"
        if item.guard is not None:
            skips = replace(item.guard, negated=not item.guard.negated)
            yield replace(item, opcode="bra", modifiers=(), operands=(tree.Symbol(behind),), guard=skips)
        yield tree.Label(again)
        phase = replace(item, opcode="_cluster", modifiers=("wait",), operands=(tree.Register(over),))
        yield replace(phase, guard=None)
        until = tree.Guard(over, negated=True)
        yield replace(item, opcode="bra", modifiers=(), operands=(tree.Symbol(again),), guard=until)
        yield replace(item, guard=None)
        yield tree.Label(behind)

    def _add(self, item: tree.Instruction, base: tree.Register, offset: int) -> tree.Instruction:
        """The sum of a register and a number, in a register of its own."""
        own = self.function.registers.get(base.name, "b32")
        type_ = _WIDTHS.get(own[1:]) if own[0] in "bus" else None
        if type_ is None:
            self.wrong.append(
                _at(item, f"{base.name}+{offset} is a sum of integers, but {base.name} is .{own}")
            )
        name = f"{base.name}+{len(self.registers)}"
        self.registers[name] = own
        operands = (tree.Register(name), base, tree.Integer(offset))
        return replace(item, opcode="add", modifiers=(type_ or "s32",), operands=operands, guard=None)

    def _with_space(self, item: tree.Instruction) -> tree.Instruction:
        """An instruction with the state space of the variable that it accesses."""
        named = {
            self.variables[one.base.name].space: one.base.name
            for one in item.operands
            if isinstance(one, tree.Address)
            and isinstance(one.base, tree.Symbol)
            and one.base.name in self.variables
        }
        written = spaces_of(item.modifiers)
        if len(named) != 1 or len(written) > 1:
            return item
        ((space, name),) = named.items()
        if written == [space] or (not written and space == "global"):
            return item
        given = replace(item, modifiers=(space, *item.modifiers))
        if not written and space in _GENERIC and isa.match(given) is not None:
            return given
        if isa.match(item) is not None or rewriting(item) == "parameter":
            what = f".{written[0]}" if written else "a generic address"
            self.wrong.append(_at(item, f"{name} is in .{space}, but is accessed as {what}"))
        return item


def _is_short(item: tree.Instruction) -> bool:
    """Whether an instruction has a short form, or accesses a variable by name."""
    for operand in item.operands:
        kind = type(operand)
        if kind is tree.Register or kind is tree.Integer:  # as most are
            continue
        if isinstance(operand, tree.Address):
            if isinstance(operand.base, tree.Symbol):
                return item.modifiers[:1] != ("param",) or item.opcode not in ("ld", "st")
        elif isinstance(operand, tree.Displaced):
            if isinstance(operand.base, tree.Register):
                return True
        elif isinstance(operand, tree.Indexed) or (
            isinstance(operand, tree.Special) and _is_vector(item, operand)
        ):
            return True
    return waits_for_cluster(item) or (rewriting(item) == "parameter" and item.modifiers[:1] != ("param",))


def _is_vector(item: tree.Instruction, operand: tree.Special) -> bool:
    """Whether an instruction reads all parts of a special register."""
    return "v4" in item.modifiers and not is_special(operand.name)


def _at(item: tree.Instruction, what: str) -> Diagnostic:
    place = item.source.author if item.source else None
    text = f"{'.'.join([item.opcode, *item.modifiers])} (PTX line {item.line}): {what}"
    return Diagnostic(text, file=place.file if place else None, line=place.line if place else None)
