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
from .layout import variable_size
from .parameters import InMemory, InRegister, Instructions, Place, move

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


class _Merger:
    def __init__(self, graph: CallGraph):
        self.graph = graph
        self.body: list[tree.Instruction | tree.Label] = []
        self.registers: dict[str, str] = {}
        self.variables: dict[str, tree.Variable] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.made = Instructions(self.registers)
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
        self._emit("exit")
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
    def _emit(self, written: str, *operands: tree.Operand, guard: tree.Guard | None = None) -> None:
        self.body.append(self.made.make(written, *operands, guard=guard))

    def _move(self, target: Place | tree.Register, source: Place | tree.Operand) -> None:
        self.body += move(target, source, self.made)

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
                self._write_renamed(copy, item)
        self.body.append(copy.end)

    def _write_renamed(self, copy: Copy, item: tree.Instruction) -> None:
        operands = tuple(self._operand(copy, operand) for operand in item.operands)
        self.body.append(replace(item, operands=operands, guard=copy.guard(item.guard)))

    def _write_shared(self, copy: Copy) -> None:
        """A body behind the kernel, between taking its parameters and handing over its results."""
        self.body.append(copy.start)
        self._open_frame(copy)
        self._pass(copy.call_number, copy.call_slot)
        for variable in copy.function.parameters:
            self._pass(copy.place(variable.name), copy.slot(variable.name))
        self._write(copy)
        for variable in copy.function.results:
            self._pass(copy.slot(variable.name), copy.place(variable.name))
        self._close_frame(copy)
        self._emit("_call.leave", tree.Register(copy.call_number.name), tree.Symbol(copy.return_table))

    def _pass(self, target: Place, source: Place) -> None:
        """Between a parameter and its slot; what lies in memory is there already."""
        for place in (target, source):
            if isinstance(place, InRegister):
                self.registers[place.name] = place.type
        if isinstance(target, InRegister):
            self._move(target, source)

    def _open_frame(self, copy: Copy) -> None:
        if copy.frame or copy.source.uses_stack:
            sp = self._stack()
            self._emit("mov.u64", self.made.register(copy.frame_pointer.name, "b64"), sp)
            self._emit("add.s64", sp, sp, tree.Integer(copy.frame_size))

    def _close_frame(self, copy: Copy) -> None:
        if copy.frame or copy.source.uses_stack:
            self._emit("mov.u64", self._stack(), copy.frame_pointer)

    def _stack(self) -> tree.Register:
        return self.made.register(STACK_POINTER.name, "b64")

    # ------------------------------------------------------------------------------------ operands
    def _operand(self, copy: Copy, operand: tree.Operand) -> tree.Operand:
        return copy.operand(operand, self.made, self.body)

    def _actual(self, copy: Copy, operand: tree.Operand) -> Place | tree.Operand:
        """What a call passes: a parameter of the caller's, or any other operand."""
        if isinstance(operand, tree.Symbol) and operand.name in copy.source.parameters:
            return copy.place(operand.name)
        return self._operand(copy, operand)

    def _value(self, place: Place | tree.Operand) -> tree.Operand:
        """The same as an operand of an instruction."""
        if isinstance(place, InMemory):
            register = self._target(place)
            assert isinstance(register, tree.Register)
            self._move(register, place)
            return register
        return tree.Register(place.name) if isinstance(place, InRegister) else place

    def _target(self, place: Place | tree.Operand) -> tree.Operand:
        """What an instruction can write for a result to come to a place."""
        if isinstance(place, InMemory):
            return self.made.temporary(f"b{max(16, 8 * variable_size(place.variable))}")
        return tree.Register(place.name) if isinstance(place, InRegister) else place

    def _skip_unless(self, copy: Copy, item: tree.Instruction) -> list[tree.Label]:
        """Jump over what a guarded instruction becomes; returns the label to put behind it."""
        guard = copy.guard(item.guard)
        if guard is None:
            return []
        label = self.made.label()
        self._emit("bra", tree.Symbol(label.name), guard=replace(guard, negated=not guard.negated))
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
                operands = [register if one is address else self._operand(copy, one) for one in item.operands]
                self._emit(f"_param.{item.modifiers[-1]}", *operands, guard=copy.guard(item.guard))
                return True
        elif copy.function.entry:
            return False
        self._write_renamed(copy, replace(item, modifiers=("local", *item.modifiers[1:])))
        return True

    def give_back(self, copy: Copy, item: tree.Instruction) -> bool:
        """`ret`: of the kernel it is an exit, of a copy a jump to its end."""
        if copy.function.entry:
            return False
        self._emit("bra", tree.Symbol(copy.end.name), guard=copy.guard(item.guard))
        return True

    def switch(self, copy: Copy, item: tree.Instruction) -> bool:
        """`brx.idx`: an index beyond its table ends the kernel."""
        after = self._skip_unless(copy, item)
        index, table = (self._operand(copy, operand) for operand in item.operands)
        assert isinstance(table, tree.Symbol)
        fine, wrong = self.made.label(), self.made.temporary("pred")
        chosen = self.made.temporary("b32")
        self._emit("mov.u32", chosen, index)
        self._emit("setp.ge.u32", wrong, chosen, tree.Integer(len(self.tables.get(table.name, ()))))
        self._emit("bra", tree.Symbol(fine.name), guard=tree.Guard(wrong.name, negated=True))
        self._emit("_call.astray")
        self.body.append(fine)
        self._emit("brx.idx", chosen, table)
        self.body += after
        return True

    def stacksave(self, copy: Copy, item: tree.Instruction) -> bool:
        """`stacksave d`."""
        target = self._operand(copy, item.operands[0])
        self._emit("mov.u64", target, self._stack(), guard=copy.guard(item.guard))
        return True

    def stackrestore(self, copy: Copy, item: tree.Instruction) -> bool:
        """`stackrestore a`."""
        source = self._operand(copy, item.operands[0])
        self._emit("mov.u64", self._stack(), source, guard=copy.guard(item.guard))
        return True

    def alloca(self, copy: Copy, item: tree.Instruction) -> bool:
        """`alloca.type d, size, align`: the stack's next bytes."""
        after = self._skip_unless(copy, item)
        target, size, *rest = (self._operand(copy, operand) for operand in item.operands)
        align = rest[0].value if rest and isinstance(rest[0], tree.Integer) else 16
        sp, wide = self._stack(), self.made.temporary("b64")
        self._emit(f"_param.{item.modifiers[-1]}", wide, size)
        self._align(sp, align)
        self._emit("mov.u64", target, sp)
        self._emit("add.s64", sp, sp, wide)
        self._align(sp, 16)
        self.body += after
        return True

    def _align(self, register: tree.Register, align: int) -> None:
        self._emit("add.s64", register, register, tree.Integer(align - 1))
        self._emit("and.b64", register, register, tree.Integer(-align))

    # ------------------------------------------------------------------------------------ calls
    def call(self, copy: Copy, item: tree.Instruction) -> bool:
        """`call`, direct or indirect."""
        call = take_apart(item)
        after = self._skip_unless(copy, item)
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
        results = [self._actual(copy, operand) for operand in call.results or unwanted]
        arguments = [self._value(self._actual(copy, operand)) for operand in call.arguments]
        targets = [self._target(place) for place in results]
        made = self.made.make(f"_call.{name}", *targets, *arguments)
        if isa.match(made) is None:
            known = ", ".join(system_functions())
            text = f"{name} is not in the module, nor among the functions that the engine has: {known}"
            self.missing.append(Diagnostic(text, file="PTX line", line=self.made.origin.line))
            return
        self.body.append(made)
        for place, target in zip(results, targets, strict=True):
            if isinstance(place, InMemory):
                self._move(place, target)

    def _call_pointer(self, copy: Copy, call: Call) -> None:
        pointer, origin = self._operand(copy, call.target), self.made.origin
        done = self.made.label()
        for function in self.graph.candidates(copy.function, call):
            other, same = self.made.label(), self.made.temporary("pred")
            self._emit("setp.eq.u64", same, pointer, tree.Symbol(function.name))
            self._emit("bra", tree.Symbol(other.name), guard=tree.Guard(same.name, negated=True))
            self._call_function(copy, call, function)
            self.made.origin = origin
            self._emit("bra", tree.Symbol(done.name))
            self.body.append(other)
        self._emit("_call.wild")
        self.body.append(done)

    def _call_function(self, copy: Copy, call: Call, function: tree.Function) -> None:
        callee, origin = self._enter(copy, function), self.made.origin
        if callee.shared:
            self._call_shared(copy, call, callee)
            return
        for variable, operand in zip(function.parameters, call.arguments, strict=False):
            self._move(callee.place(variable.name), self._actual(copy, operand))
        self._open_frame(callee)
        self._write(callee)
        self._origins.append((len(self.body), copy.function.name))
        self.made.origin = origin
        self._close_frame(callee)
        self._take(copy, call.results, (callee.place(variable.name) for variable in function.results))

    def _take(self, copy: Copy, wanted: Iterable[tree.Operand], results: Iterable[Place]) -> None:
        for operand, result in zip(wanted, results, strict=False):
            target = self._actual(copy, operand)
            if isinstance(target, InRegister | InMemory | tree.Register):
                self._move(target, result)

    def _call_shared(self, copy: Copy, call: Call, callee: Copy) -> None:
        """Enter a copy that other calls use too; its parameters and results pass through slots."""
        function = callee.function
        again = copy.cycle is not None and copy.cycle is callee.cycle
        if again:
            self._stack()
            self._emit("_stack.push", tree.Integer(copy.number))
        for variable, operand in zip(function.parameters, call.arguments, strict=False):
            self._move(callee.slot(variable.name, STACK_POINTER), self._actual(copy, operand))
        back = self.made.label()
        self._move(callee.call_slot, tree.Integer(len(callee.returns)))
        callee.returns.append(back.name)
        self._emit("_call.enter", tree.Symbol(callee.start.name), tree.Symbol(back.name))
        self.body.append(back)
        frame = self.made.temporary("b64") if callee.frame else None
        if frame is not None:
            self._emit("mov.u64", frame, self._stack())
        if again:
            self._emit("_stack.pop", tree.Integer(copy.number))
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
