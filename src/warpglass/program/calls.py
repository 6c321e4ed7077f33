"""Makes one function of a kernel and all that it calls, so that every later stage sees only blocks.

A call becomes a copy of the function's body, with registers, labels and parameters of its own (copies.py);
moves take the place of parameters, a jump behind the copy that of `ret`. So analyses see each call apart.
Where copies would become too many, and in functions that may call themselves, calls share one copy instead: a
register counts which call it was entered from, and its end is a switch on that register.

A function that may call itself keeps its local variables in a frame on the thread's stack: `%fp` is the
frame, `%sp` the first free byte behind it; stack.py saves the registers that a caller needs again. Other
functions' local variables have fixed places, the same ones in all copies: one thread never runs two of them
at once.

An indirect call compares its pointer with every function that it may mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from .. import isa
from ..errors import Diagnostic, UnsupportedError
from ..isa.calls import rewriting, system_functions
from ..ptx import tree
from .callgraph import Call, CallGraph, take_apart
from .copies import STACK_POINTER, STACK_WORDS, Copy, Source
from .parameters import InMemory, InRegister, ParameterLocation
from .writer import Writer

STACK = "@stack"  # the local variable that is the thread's stack
STACK_BYTES = 8192  # CUDA's default is 1024 (cudaLimitStackSize), but ptxas keeps more in registers

# Instructions in copies of functions, not counting the first copy of each; and copies within copies.
_ROOM = 3000
_DEEPEST = 50
# Calls that share a copy: lanes may wait behind each of them, for all that the analyses know.
_MOST_CALLS = 16


@dataclass(frozen=True, slots=True)
class Merged:
    """A kernel with all that it calls as one function.

    `addresses` are those of functions; `origins` names the function that each instruction is from, by number.
    """

    function: tree.Function
    addresses: Mapping[str, int]
    origins: tuple[str, ...] = ()


def merge_calls(module: tree.Module, entry: tree.Function) -> Merged:
    """Put a kernel and what it calls together.

    Raises UnsupportedError for calls of functions that are neither in the module nor the system's.
    """
    graph = CallGraph(module, entry)
    if not any(_concerns(item) for item in entry.body or ()):
        return Merged(entry, graph.addresses)
    return _Merger(graph).run()


def _concerns(item: tree.Instruction | tree.Label) -> bool:
    return isinstance(item, tree.Instruction) and rewriting(item) in ("call", "switch", *STACK_WORDS)


class _Merger(Writer):
    def __init__(self, graph: CallGraph):
        super().__init__()
        self.graph = graph
        self.missing: list[Diagnostic] = []
        self._sources: dict[str, Source] = {}
        self._origins: list[tuple[int, str]] = []  # where in the body another function's items begin
        self._copies = 0
        self._room = _ROOM
        self._shared: dict[str, Copy] = {}  # of functions that do not call themselves
        self._cycles: dict[int, dict[str, Copy]] = {}  # the latest copies of each cycle of functions
        self._waiting: list[Copy] = []  # shared copies whose bodies are still to be written

    def run(self) -> Merged:
        """Write the kernel, the copies within it and behind it the shared ones."""
        entry = self.graph.entry
        self._write(self._new_copy(entry, 0))
        self.emit("exit")
        shared: list[Copy] = []
        while self._waiting:
            shared.append(self._waiting.pop(0))
            self._write_shared(shared[-1])
        for copy in shared:  # each may have been entered from those behind it
            self.tables[copy.return_table] = tuple(copy.returns)
        if self.missing:
            many = "a function" if len(self.missing) == 1 else f"{len(self.missing)} functions"
            raise UnsupportedError(f"kernel {entry.name} calls {many} without a body", tuple(self.missing))
        if STACK_POINTER.name in self.registers:
            self.variables[STACK] = tree.Variable(STACK, "local", "b8", 16, (STACK_BYTES,))
            self.body.insert(0, self.made.make("mov.u64", STACK_POINTER, tree.Symbol(STACK)))
            self._origins = [(start + 1, name) for start, name in self._origins]
        function = replace(
            entry,
            registers=self.registers,
            variables=tuple(self.variables.values()),
            body=tuple(self.body),
            branch_targets=self.tables,
        )
        return Merged(function, self.graph.addresses, tuple(self._list_origins()))

    def _list_origins(self) -> Iterator[str]:
        """The function of each instruction."""
        starts = dict(self._origins)
        name = self.graph.entry.name
        for position, item in enumerate(self.body):
            name = starts.get(position, name)
            if isinstance(item, tree.Instruction):
                yield name

    # ------------------------------------------------------------------------------------ copies
    def _new_copy(
        self,
        function: tree.Function,
        depth: int,
        shared: bool = False,
        cycle: dict[str, Copy] | None = None,
    ) -> Copy:
        if function.name not in self._sources:
            self._sources[function.name] = Source(function)
        source = self._sources[function.name]
        copy = Copy(source, self._copies, depth, shared, cycle)
        self._copies += 1
        self.registers |= {name + copy.owner: type_ for name, type_ in function.registers.items()}
        self.registers |= {name + copy.owner: source.type_of(name) for name in source.scalars}
        for name, targets in function.branch_targets.items():
            self.tables[name + copy.owner] = tuple(target + copy.owner for target in targets)
        self._declare(copy)
        if shared:
            self._waiting.append(copy)
        return copy

    def _declare(self, copy: Copy) -> None:
        """Give a copy's variables their places: in its frame, or one for all copies of the function."""
        source = copy.source
        memory = [
            v for v in source.parameters.values() if v.space == "param" and v.name not in source.scalars
        ]
        memory += [v for v in copy.function.variables if v.space != "param"]
        for variable in memory:
            if variable.space in ("param", "local") and copy.cycle is not None:
                copy.put_on_stack(variable)
            elif variable.name not in source.names:
                taken = variable.name in self.variables or self.graph.is_global(variable.name)
                name = f"{variable.name}@{copy.function.name}" if taken else variable.name
                source.names[variable.name] = name
                space = "local" if variable.space == "param" else variable.space
                self.variables[name] = replace(variable, name=name, space=space)

    def _enter(self, caller: Copy, function: tree.Function) -> Copy:
        """The copy that a call leads to: a new one, or one that other calls share."""
        cycle = self.graph.cycles.get(function.name)
        if cycle is None:
            if self._has_room(caller, function):
                return self._new_copy(function, caller.depth + 1)
            shared = self._shared.get(function.name)
            if shared is None or len(shared.returns) >= _MOST_CALLS:
                shared = self._shared[function.name] = self._new_copy(function, 0, shared=True)
            return shared
        within = caller.cycle if self.graph.cycles.get(caller.function.name) == cycle else None
        if within is None:
            within = self._cycles.get(cycle)
            if within is None or self._has_room(caller, function):
                within = self._cycles[cycle] = {}
        if function.name not in within:
            within[function.name] = self._new_copy(function, 0, shared=True, cycle=within)
        return within[function.name]

    def _has_room(self, caller: Copy, function: tree.Function) -> bool:
        if caller.depth >= _DEEPEST or function.name in self._shared:
            return False
        if function.name in self._sources:
            self._room -= self._sources[function.name].size
        return self._room >= 0

    # ------------------------------------------------------------------------------------ bodies
    def _write(self, copy: Copy) -> None:
        """A body in the names of its copy; it ends at the label `copy.end`."""
        self._origins.append((len(self.body), copy.function.name))
        for item in copy.function.body or ():
            if isinstance(item, tree.Label):
                self.body.append(replace(item, name=copy.own[item.name]))
                continue
            self.made.origin = item
            handler = _HANDLERS.get(rewriting(item) or "")
            if handler is None or not handler(self, copy, item):
                self.write_renamed(copy, item)
        self.body.append(copy.end)

    def _write_shared(self, copy: Copy) -> None:
        """A body behind the kernel, between taking its parameters and handing over its results."""
        self.body.append(copy.start)
        self.open_frame(copy)
        self._pass(copy.call_number, copy.call_slot)
        for variable in copy.function.parameters:
            self._pass(copy.place(variable.name), copy.slot(variable.name))
        self._write(copy)
        for variable in copy.function.results:
            self._pass(copy.slot(variable.name), copy.place(variable.name))
        self.close_frame(copy)
        self.emit("_call.leave", tree.Register(copy.call_number.name), tree.Symbol(copy.return_table))

    def _pass(self, target: ParameterLocation, source: ParameterLocation) -> None:
        """Between a parameter and its slot; what lies in memory is there already."""
        for place in (target, source):
            if isinstance(place, InRegister):
                self.registers[place.name] = place.type
        if isinstance(target, InRegister):
            self.move(target, source)

    # ------------------------------------------------------------------------------------ calls
    def call(self, copy: Copy, item: tree.Instruction) -> bool:
        """`call`, direct or indirect."""
        call = take_apart(item)
        after = self.skip_unless(copy, item)
        if not isinstance(call.target, tree.Symbol):
            self._call_pointer(copy, call)
        else:
            function = self.graph.find(call.target.name)
            if function is None or function.body is None:
                self._call_system(copy, call, call.target.name, function)
            else:
                self._call_function(copy, call, function)
        self.made.origin = item
        self.body += after
        return True

    def _call_system(self, copy: Copy, call: Call, name: str, declared: tree.Function | None) -> None:
        """A function of the CUDA runtime: an instruction of its own."""
        unwanted = (tree.Sink(),) if declared is not None and declared.results else ()
        results = [self.actual(copy, operand) for operand in call.results or unwanted]
        arguments = [self.value(self.actual(copy, operand)) for operand in call.arguments]
        targets = [self.target(place) for place in results]
        made = self.made.make(f"_call.{name}", *targets, *arguments)
        if isa.match(made) is None:
            known = ", ".join(system_functions())
            text = f"{name} is not in the module, nor among the functions that the engine has: {known}"
            self.missing.append(Diagnostic(text, file="PTX line", line=self.made.origin.line))
            return
        self.body.append(made)
        for place, target in zip(results, targets, strict=True):
            if isinstance(place, InMemory):
                self.move(place, target)

    def _call_pointer(self, copy: Copy, call: Call) -> None:
        pointer, origin = self.operand(copy, call.target), self.made.origin
        done = self.made.label()
        for function in self.graph.candidates(copy.function, call):
            other, same = self.made.label(), self.made.temporary("pred")
            self.emit("setp.eq.u64", same, pointer, tree.Symbol(function.name))
            self.emit("bra", tree.Symbol(other.name), guard=tree.Guard(same.name, negated=True))
            self._call_function(copy, call, function)
            self.made.origin = origin
            self.emit("bra", tree.Symbol(done.name))
            self.body.append(other)
        self.emit("_call.wild")
        self.body.append(done)

    def _call_function(self, copy: Copy, call: Call, function: tree.Function) -> None:
        callee, origin = self._enter(copy, function), self.made.origin
        if callee.shared:
            self._call_shared(copy, call, callee)
            return
        for variable, operand in zip(function.parameters, call.arguments, strict=False):
            self.move(callee.place(variable.name), self.actual(copy, operand))
        self.open_frame(callee)
        self._write(callee)
        self._origins.append((len(self.body), copy.function.name))
        self.made.origin = origin
        self.close_frame(callee)
        self._take(copy, call.results, (callee.place(variable.name) for variable in function.results))

    def _take(self, copy: Copy, wanted: Iterable[tree.Operand], results: Iterable[ParameterLocation]) -> None:
        for operand, result in zip(wanted, results, strict=False):
            target = self.actual(copy, operand)
            if isinstance(target, InRegister | InMemory | tree.Register):
                self.move(target, result)

    def _call_shared(self, copy: Copy, call: Call, callee: Copy) -> None:
        """Enter a copy that other calls use too; its parameters and results pass through slots."""
        function = callee.function
        again = copy.cycle is not None and copy.cycle is callee.cycle
        if again:
            self.stack()
            self.emit("_stack.push", tree.Integer(copy.number))
        for variable, operand in zip(function.parameters, call.arguments, strict=False):
            self.move(callee.slot(variable.name, STACK_POINTER), self.actual(copy, operand))
        back = self.made.label()
        self.move(callee.call_slot, tree.Integer(len(callee.returns)))
        callee.returns.append(back.name)
        self.emit("_call.enter", tree.Symbol(callee.start.name), tree.Symbol(back.name))
        self.body.append(back)
        frame = self.made.temporary("b64") if callee.frame else None
        if frame is not None:
            self.emit("mov.u64", frame, self.stack())
        if again:
            self.emit("_stack.pop", tree.Integer(copy.number))
        self._take(copy, call.results, (callee.slot(v.name, frame) for v in function.results))


_HANDLERS = {
    "parameter": _Merger.access,
    "return": _Merger.give_back,
    "switch": _Merger.switch,
    "call": _Merger.call,
    "alloca": _Merger.alloca,
    "stacksave": _Merger.stacksave,
    "stackrestore": _Merger.stackrestore,
}
