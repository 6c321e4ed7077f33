"""A tree back to PTX text, which parses to the same tree and which NVIDIA's tools accept.

Belongs here: the layout of each node. What the tree does not hold (comments, pragmas, debug sections, scopes)
is not printed; the name of an inlined function is unknown, so `.loc` says "inlined".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from . import tree

_INLINED_LABEL = "$L__inlined_name"
_INLINED_SECTION = f".section .debug_str\n{{\n{_INLINED_LABEL}:\n.b8 105,110,108,105,110,101,100,0\n}}"
_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)", re.DOTALL)


def print_module(module: tree.Module) -> str:
    """PTX text of a module."""
    numbers = {path: number for number, path in module.files.items()}
    for path in _unlisted_files(module):
        numbers.setdefault(path, max(numbers.values(), default=0) + 1)
    parts = [
        f".version {module.version[0]}.{module.version[1]}",
        f".target {', '.join(module.target)}",
        f".address_size {module.address_size}",
        "",
        *(f'.file {number} "{path}"' for number, path in sorted((n, p) for p, n in numbers.items())),
        *(
            f"{_header(function)};"
            for function in module.functions
            if not function.entry and function.body is not None
        ),
        *(f"{_linkage(variable)}{print_variable(variable)};" for variable in module.variables),
    ]
    for function in module.functions:
        parts += ["", _header(function) + (";" if function.body is None else "")]
        if function.body is not None:
            parts += ["{", *_FunctionPrinter(function, numbers).lines(), "}"]
    parts += [f".alias {alias}, {name};" for alias, name in module.aliases.items()]
    if any(source.inlined_at for source in _sources(module)):
        parts += ["", _INLINED_SECTION]
    return "\n".join(parts) + "\n"


def print_instruction(instruction: tree.Instruction) -> str:
    """One instruction, without its `;`."""
    guard = instruction.guard
    prefix = f"@{'!' if guard.negated else ''}{guard.register} " if guard else ""
    head = ".".join((instruction.opcode, *instruction.modifiers))
    return f"{prefix}{head} {', '.join(map(print_operand, instruction.operands))}".rstrip()


def print_operand(operand: tree.Operand) -> str:
    """One operand."""
    match operand:
        case tree.Register(name) | tree.Special(name):
            return name
        case tree.Symbol(name, generic):
            return f"generic({name})" if generic else name
        case tree.Integer(value):
            return str(value)
        case tree.Float(bits, width):
            return f"0f{bits:08X}" if width == 32 else f"0d{bits:016X}"
        case tree.Component(base, selector):
            return f"{base.name}.{selector}"
        case tree.Sink():
            return "_"
        case _:
            return _print_compound(operand)


def _print_compound(operand: tree.Operand) -> str:
    match operand:
        case tree.Negated(inner):
            return f"!{print_operand(inner)}"
        case tree.Minus(inner):
            return f"-{print_operand(inner)}"
        case tree.Pair(first, second):
            return f"{print_operand(first)}|{print_operand(second)}"
        case tree.Vector(elements):
            return "{" + ", ".join(map(print_operand, elements)) + "}"
        case tree.Group(elements):
            return "(" + ", ".join(map(print_operand, elements)) + ")"
        case tree.Address(base, offset):
            return f"[{print_operand(base)}{f'+{offset}' if offset else ''}]"
        case tree.AddressList(elements):
            return "[" + ", ".join(map(_unbracketed, elements)) + "]"
        case tree.Displaced(base, offset):
            return f"{print_operand(base)}+{offset}"
        case tree.Indexed(base, index, offset):
            where = [] if index is None else [index.name]
            return f"{base.name}[{'+'.join([*where, *([str(offset)] if offset or not where else [])])}]"
        case tree.Masked(mask, inner):
            return f"0x{mask:X}({_unbracketed(inner)})"
        case _:
            raise TypeError(f"{operand!r} is no operand")


def print_variable(variable: tree.Variable) -> str:
    """A declaration without its linkage and `;`."""
    words = [f".{variable.space}"]
    words += [".attribute(.managed)"] if variable.managed else []
    words += [f".align {variable.align}"] if variable.align else []
    words += [f".v{variable.vector}"] if variable.vector > 1 else []
    words.append(f".{variable.type}")
    if variable.pointer_space is not None:
        words.append(".ptr" if variable.pointer_space == "generic" else f".ptr .{variable.pointer_space}")
        words += [f".align {variable.pointer_align}"] if variable.pointer_align else []
    words.append(variable.name + "".join(f"[{size or ''}]" for size in variable.shape))
    if variable.initial is not None:
        values = ", ".join(map(_unbracketed, variable.initial))
        words.append(f"= {{{values}}}" if variable.shape or variable.vector > 1 else f"= {values}")
    return " ".join(words)


def _unbracketed(operand: tree.Operand) -> str:
    text = print_operand(operand)
    return text[1:-1] if isinstance(operand, tree.Address) else text


def _linkage(declared: tree.Variable | tree.Function) -> str:
    return f".{declared.linkage} " if declared.linkage else ""


def _parameters(parameters: tuple[tree.Variable, ...], separator: str = ", ") -> str:
    return separator.join(map(print_variable, parameters))


def _header(function: tree.Function) -> str:
    results = f" ({_parameters(function.results)})" if function.results else ""
    kind = ".entry" if function.entry else f".func{results}"
    parameters = _parameters(function.parameters, ",\n    ")
    directives = "".join(
        f"\n.{name} {', '.join(map(str, values))}".rstrip() for name, values in function.directives
    )
    return f"{_linkage(function)}{kind} {function.name}(\n    {parameters}\n){directives}"


def _prototype(prototype: tree.Prototype) -> str:
    results = f"({_parameters(prototype.results)}) " if prototype.results else ""
    noreturn = " .noreturn" if prototype.noreturn else ""
    return f".callprototype {results}_ ({_parameters(prototype.parameters)}){noreturn};"


def _sources(module: tree.Module) -> Iterator[tree.SourceLocation]:
    for function in module.functions:
        for statement in function.body or ():
            source = statement.source if isinstance(statement, tree.Instruction) else None
            while source is not None:
                yield source
                source = source.inlined_at


def _unlisted_files(module: tree.Module) -> list[str]:
    listed = set(module.files.values())
    return sorted({source.file for source in _sources(module)} - listed)


class _FunctionPrinter:
    """Prints one body; knows which `.loc` is in force."""

    def __init__(self, function: tree.Function, files: Mapping[str, int]):
        self.function = function
        self.files = files
        self.source: tree.SourceLocation | None = None
        self.latest: dict[tuple[str, int, int], tree.SourceLocation] = {}

    def lines(self) -> Iterator[str]:
        """The lines between the braces."""
        yield from _register_lines(self.function.registers, self.function)
        for variable in self.function.variables:
            yield f"    {_linkage(variable)}{print_variable(variable)};"
        for name, targets in self.function.branch_targets.items():
            yield f"    {name}: .branchtargets {', '.join(targets)};"
        for name, targets in self.function.call_targets.items():
            yield f"    {name}: .calltargets {', '.join(targets)};"
        for name, prototype in self.function.prototypes.items():
            yield f"    {name}: {_prototype(prototype)}"
        for statement in self.function.body or ():
            if isinstance(statement, tree.Label):
                yield f"{statement.name}:"
                continue
            if statement.source is not None and statement.source != self.source:
                yield from self._location(statement.source)
                self.source = statement.source
            yield f"    {print_instruction(statement)};"

    def _location(self, source: tree.SourceLocation) -> Iterator[str]:
        """`.loc` lines for a place; the place it was inlined from must have been the latest of its line."""
        text = f"    .loc {self.files[source.file]} {source.line} {source.column}"
        parent = source.inlined_at
        if parent is not None:
            key = (parent.file, parent.line, parent.column)
            if self.latest.get(key) != parent:
                yield from self._location(parent)
            text += f", function_name {_INLINED_LABEL}, inlined_at"
            text += f" {self.files[parent.file]} {parent.line} {parent.column}"
        self.latest[source.file, source.line, source.column] = source
        yield text


def _register_lines(registers: Mapping[str, str], function: tree.Function) -> Iterator[str]:
    """`.reg` lines: a range where all numbers from 0 exist, else the names."""
    declared = {parameter.name for parameter in (*function.parameters, *function.results)}
    numbers: dict[tuple[str, str], set[int]] = {}
    for name, type_ in registers.items():
        if name not in declared and (match := _NUMBERED.fullmatch(name)):
            numbers.setdefault((match[1], type_), set()).add(int(match[2]))
    ranges = {key for key, found in numbers.items() if key[0] and found == set(range(len(found)))}
    for prefix, type_ in sorted(ranges):
        yield f"    .reg {_type(type_)} {prefix}<{len(numbers[prefix, type_])}>;"
    rest = [
        (type_, name)
        for name, type_ in registers.items()
        if name not in declared and not _in(ranges, name, type_)
    ]
    for type_, group in groupby(sorted(rest), key=lambda pair: pair[0]):
        yield f"    .reg {_type(type_)} {', '.join(name for _, name in group)};"


def _in(ranges: set[tuple[str, str]], name: str, type_: str) -> bool:
    match = _NUMBERED.fullmatch(name)
    return match is not None and (match[1], type_) in ranges


def _type(type_: str) -> str:
    return " ".join(f".{part}" for part in type_.split("."))
