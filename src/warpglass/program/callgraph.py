"""Which functions a kernel can reach, which of them call themselves, and which an indirect call may mean.

A function's address is taken where its name stands for anything but the target of a call: in an instruction
or in the initial value of a variable that is itself in reach, or anywhere in the module where there is an
indirect call in reach, because another kernel may have stored it. Such a call may lead to every function
whose parameters and results are as large as the call's prototype says.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..isa.calls import rewriting
from ..ptx import tree
from .layout import symbols_in, variable_size

# Addresses of functions lie where no memory is; adding an offset to one gives no other function.
_WINDOW = 0x5_0000_0000_0000
_SPACING = 1 << 16
_NUMBERS = 1 << 32


@dataclass(frozen=True, slots=True)
class Call:
    """A call instruction taken apart; an indirect one has a register as its target."""

    target: tree.Operand
    results: tuple[tree.Operand, ...]
    arguments: tuple[tree.Operand, ...]
    prototype: str | None = None  # or the name of a list of targets


def is_call(instruction: tree.Instruction) -> bool:
    """Whether an instruction calls a function."""
    return rewriting(instruction) == "call"


def take_apart(instruction: tree.Instruction) -> Call:
    """Read `call (results), target, (arguments), prototype`, each group optional."""
    match instruction.operands:
        case [tree.Group(results), target, *rest]:
            pass
        case [target, *rest]:
            results = ()
        case _:
            return Call(tree.Sink(), (), ())
    arguments = rest[0].elements if rest and isinstance(rest[0], tree.Group) else ()
    last = rest[-1] if rest else None
    return Call(target, results, arguments, last.name if isinstance(last, tree.Symbol) else None)


class CallGraph:
    """The functions within a kernel's reach."""

    def __init__(self, module: tree.Module, entry: tree.Function):
        self._functions = {f.name: f for f in module.functions}
        self._aliases = module.aliases
        self._variables = {v.name: v for v in module.variables}
        self.entry = entry
        self.addresses: dict[str, int] = {}  # of functions whose address is taken
        self._numbers = _numbered(module)
        self.reached: dict[str, tree.Function] = {}
        self._seen: set[str] = set()
        self._reach([(entry.name, True)])
        if any(map(_calls_anything, self.reached.values())):  # what another kernel has stored, for one
            self._reach([(name, False) for name in _taken(module) if self.find(name) is not None])

    def _reach(self, work: list[tuple[str, bool]]) -> None:
        """Follow symbols, each with whether it is only called."""
        while work:
            name, called = work.pop()
            function = self.find(name)
            if function is not None and not called:
                number = self._numbers[function.name]
                self.addresses[name] = self.addresses[function.name] = _WINDOW + _SPACING * number
            if name in self._seen:
                continue
            self._seen.add(name)
            if function is not None:
                self.reached[function.name] = function
                work += _mentioned(function)
            elif name in self._variables:
                initial = self._variables[name].initial or ()
                work += [(symbol, False) for value in initial for symbol in _symbols_in(value)]

    def find(self, name: str) -> tree.Function | None:
        """The function of a name, with a body or without; None if it is no function."""
        return self._functions.get(self._aliases.get(name, name))

    def is_global(self, name: str) -> bool:
        """Whether a name stands for something outside of all functions."""
        return name in self._variables or name in self._functions

    def candidates(self, caller: tree.Function, call: Call) -> list[tree.Function]:
        """The functions that an indirect call may mean."""
        listed = caller.call_targets.get(call.prototype or "")
        names = listed if listed is not None else self.addresses
        prototype = caller.prototypes.get(call.prototype or "")
        found = {f.name: f for f in map(self.find, names) if f is not None and f.body is not None}
        return [f for f in found.values() if prototype is None or _fits(prototype, f)]

    def calls(self, function: tree.Function) -> Iterator[str]:
        """The names of the functions that a function may call."""
        for item in function.body or ():
            if isinstance(item, tree.Instruction) and is_call(item):
                call = take_apart(item)
                if isinstance(call.target, tree.Symbol):
                    target = self.find(call.target.name)
                    if target is not None:
                        yield target.name
                else:
                    yield from (candidate.name for candidate in self.candidates(function, call))

    @cached_property
    def cycles(self) -> Mapping[str, int]:
        """The functions that may call themselves, with the number of the cycle that each belongs to."""
        callees = {name: set(self.calls(function)) for name, function in self.reached.items()}
        reach = {name: _closure(callees, name) for name in callees}
        cycles: dict[str, int] = {}
        for name in callees:
            if name in reach[name] and name not in cycles:
                number = len(set(cycles.values()))
                cycles.update({other: number for other in reach[name] if name in reach.get(other, ())})
        return cycles


def _closure(callees: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    work = list(callees[start])
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work += callees.get(name, ())
    return found


def _numbered(module: tree.Module) -> dict[str, int]:
    """A number for each function, by its name: the same in all kernels of a module, which share pointers."""
    found: dict[str, int] = {}
    used: set[int] = {0}
    for name in sorted(one.name for one in module.functions):
        number = zlib.crc32(name.encode())
        while number in used:
            number = (number + 1) % _NUMBERS
        used.add(number)
        found[name] = number
    return found


def _calls_anything(function: tree.Function) -> bool:
    """Whether a function calls through a pointer, and does not list what that may mean."""
    calls = (item for item in function.body or () if isinstance(item, tree.Instruction) and is_call(item))
    return any(
        not isinstance(call.target, tree.Symbol) and call.prototype not in function.call_targets
        for call in map(take_apart, calls)
    )


def _taken(module: tree.Module) -> list[str]:
    """The symbols of a module that are used otherwise than to be called."""
    values = (value for variable in module.variables for value in variable.initial or ())
    found = [name for value in values for name in _symbols_in(value)]
    found += [name for one in module.functions for name, called in _mentioned(one) if not called]
    return list(dict.fromkeys(found))


def _mentioned(function: tree.Function) -> Iterator[tuple[str, bool]]:
    """The symbols of a function, and whether each is only called."""
    for item in function.body or ():
        if not isinstance(item, tree.Instruction):
            continue
        if is_call(item):
            target = take_apart(item).target
            if isinstance(target, tree.Symbol):
                yield target.name, True
        else:
            yield from ((name, False) for name in symbols_in(item))
    for targets in function.call_targets.values():
        yield from ((name, False) for name in targets)
    for variable in function.variables:
        for value in variable.initial or ():
            yield from ((name, False) for name in _symbols_in(value))


def _symbols_in(value: tree.Operand) -> Iterator[str]:
    match value:
        case tree.Symbol(name) | tree.Displaced(tree.Symbol(name)) | tree.Masked(_, tree.Symbol(name)):
            yield name
        case tree.Address(tree.Symbol(name)):
            yield name
        case _:
            return


def _fits(prototype: tree.Prototype, function: tree.Function) -> bool:
    return _sizes(prototype.parameters) == _sizes(function.parameters) and _sizes(
        prototype.results
    ) == _sizes(function.results)


def _sizes(variables: tuple[tree.Variable, ...]) -> list[int]:
    return [variable_size(variable) for variable in variables]
