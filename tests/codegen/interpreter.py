"""One thread at a time: a slow interpreter of parsed PTX, the third opinion beside the two CPU engines.

It shares the parser and the instruction table's matching with the package, and nothing else: control flow
goes by the text (no blocks, no masks, no warps), meanings are the oracles of tests/isa, memory is bytes.
Threads of a block run one after the other from barrier to barrier, so kernels must be free of races.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.isa.floats import FORMATS
from tests.isa.oracles import oracle_for, width, wrap
from warpglass import isa, ptx
from warpglass.ptx import tree

_FIRST_BASE, _STRIDE = 1 << 32, 1 << 28
_LIMIT = 200_000  # instructions of one thread; more is a loop that does not end


@dataclass
class Counts:
    """What all threads did, by the number of the instruction in the text."""

    executed: Counter[int] = field(default_factory=Counter)  # reached, whatever the guard
    taken: Counter[int] = field(default_factory=Counter)  # control instructions whose guard held
    accesses: Counter[int] = field(default_factory=Counter)  # loads and stores whose guard held


class Trapped(Exception):
    """A thread executed `trap`."""


@dataclass
class _Thread:
    tid: tuple[int, int, int]
    registers: dict[str, int]
    pc: int = 0
    done: bool = False


class Interpreter:
    """One launch: `arrays` and integers are the kernel's arguments in order."""

    def __init__(self, text: str, entry: str = "k"):
        module = ptx.parse(text, "test")
        self.function = next(f for f in module.functions if f.name == entry)
        self.code: list[tree.Instruction] = []
        self.labels: dict[str, int] = {}
        for item in self.function.body or ():
            if isinstance(item, tree.Label):
                self.labels[item.name] = len(self.code)
            else:
                self.code.append(item)
        self.matches = [isa.match(instruction) for instruction in self.code]
        self.counts = Counts()
        self.shared: dict[str, int] = {}
        end = 0
        for variable in self.function.variables:
            end = -(-end // 16) * 16
            self.shared[variable.name] = end
            end += variable.shape[0] * max(1, width(variable.type) // 8)
        self.shared_size = end

    def run(self, grid: Sequence[int], block: Sequence[int], args: Sequence[object]) -> None:
        """Run the whole grid; results are in the arrays."""
        self.grid, self.block = tuple(grid), tuple(block)
        self.memory: dict[int, memoryview] = {}
        self.parameters: dict[str, int] = {}
        for number, (parameter, value) in enumerate(zip(self.function.parameters, args, strict=True)):
            if isinstance(value, np.ndarray):
                base = _FIRST_BASE + number * _STRIDE
                self.memory[base // _STRIDE] = value.reshape(-1).view(np.uint8).data
                value = base
            assert isinstance(value, int)
            self.parameters[parameter.name] = value & ((1 << width(parameter.type)) - 1)
        for z, y, x in itertools.product(*(range(extent) for extent in reversed(self.grid))):
            self._block((x, y, z))

    def _block(self, ctaid: tuple[int, int, int]) -> None:
        self.ctaid = ctaid
        self.shared_memory = memoryview(bytearray(self.shared_size))
        indices = itertools.product(*(range(extent) for extent in reversed(self.block)))
        threads = [_Thread((x, y, z), {}) for z, y, x in indices]
        while not all(thread.done for thread in threads):
            for thread in threads:
                if not thread.done:
                    self._until_barrier(thread)

    def _until_barrier(self, thread: _Thread) -> None:
        for _ in range(_LIMIT):
            if thread.pc >= len(self.code):
                thread.done = True
                return
            number, instruction = thread.pc, self.code[thread.pc]
            thread.pc += 1
            self.counts.executed[number] += 1
            guard = instruction.guard
            if guard and bool(thread.registers[guard.register]) == guard.negated:
                continue
            found = self.matches[number]
            assert found is not None, instruction
            control = found.row.control
            if control is not None:
                self.counts.taken[number] += 1
            if control == "branch":
                target = instruction.operands[0]
                assert isinstance(target, tree.Symbol)
                thread.pc = self.labels[target.name]
            elif control == "exit":
                thread.done = True
                return
            elif control == "barrier":
                return
            elif control == "trap":
                raise Trapped
            elif control is None:
                self._compute(number, found, thread)
        raise AssertionError(f"thread {thread.tid} of block {self.ctaid} does not end")

    # ------------------------------------------------------------------------------------ instructions
    def _compute(self, number: int, found: isa.Match, thread: _Thread) -> None:
        opcode = found.instruction.opcode
        if opcode in ("ld", "st"):
            self._access(number, found, thread)
            return
        forms = found.forms()
        sources = [
            self._source(operand, type_, thread) for form, operand, type_ in forms if not form.destination
        ]
        oracle = oracle_for(opcode, found.values, len(sources))
        assert oracle is not None, f"no oracle for {found.instruction}"
        result = oracle(found.values, *sources)
        _, operand, type_ = forms[0]
        if isinstance(operand, tree.Pair):
            for target, value in zip((operand.first, operand.second), result, strict=True):
                self._write(target, type_, value, thread)
        else:
            self._write(operand, type_, result[0] if isinstance(result, tuple) else result, thread)

    def _access(self, number: int, found: isa.Match, thread: _Thread) -> None:
        forms = found.forms()
        load = found.instruction.opcode == "ld"
        (_, register, type_), (_, address, _) = forms if load else reversed(forms)
        assert isinstance(address, tree.Address)
        size = width(type_) // 8
        elements = register.elements if isinstance(register, tree.Vector) else (register,)
        base = address.base
        if isinstance(base, tree.Symbol) and base.name in self.parameters:
            self._write(register, type_, self.parameters[base.name], thread)
            return
        self.counts.accesses[number] += 1
        if isinstance(base, tree.Symbol):
            where = self.shared[base.name] + address.offset
        else:
            assert isinstance(base, tree.Register)
            where = thread.registers[base.name] + address.offset
        if found.space == "shared":
            where &= (1 << 32) - 1
            memory = self.shared_memory
        else:
            memory, where = self.memory[where // _STRIDE], where % _STRIDE
        assert where % (size * len(elements)) == 0, f"misaligned: {found.instruction}"
        assert where + size * len(elements) <= len(memory), (
            f"out of bounds: {found.instruction}, byte {where}"
        )
        for k, element in enumerate(elements):
            place = slice(where + k * size, where + (k + 1) * size)
            if load:
                self._write(element, type_, int.from_bytes(memory[place], "little"), thread)
            else:
                value = int(self._source(element, type_, thread)) & ((1 << 8 * size) - 1)
                memory[place] = value.to_bytes(size, "little")

    # ------------------------------------------------------------------------------------ operands
    def _source(self, operand: tree.Operand, type_: str, thread: _Thread) -> int:
        match operand:
            case tree.Register(name):
                pattern = thread.registers[name]
            case tree.Negated(inner):
                return not thread.registers[inner.name]
            case tree.Integer(value):
                pattern = value
            case tree.Float(bits, size):
                source = FORMATS["f64" if size == 64 else "f32"]
                pattern = bits if size == width(type_) else FORMATS[type_].encode(source.decode(bits))
            case tree.Special(name):
                pattern = self._special(name, thread)
            case tree.Symbol(name):
                pattern = self.shared[name]
            case _:
                raise AssertionError(operand)
        if type_ == "pred":
            return bool(pattern)
        return pattern & ((1 << width(type_)) - 1) if type_ in FORMATS else wrap(type_, pattern)

    def _special(self, name: str, thread: _Thread) -> int:
        register, _, axis = name.removeprefix("%").partition(".")
        linear = thread.tid[0] + self.block[0] * (thread.tid[1] + self.block[1] * thread.tid[2])
        flat = {"laneid": linear % 32, "warpid": linear // 32}
        if register in flat:
            return flat[register]
        extents = {"tid": thread.tid, "ntid": self.block, "ctaid": self.ctaid, "nctaid": self.grid}
        return extents[register]["xyz".index(axis)]

    def _write(self, target: tree.Operand, type_: str, value: int, thread: _Thread) -> None:
        if not isinstance(target, tree.Register):
            return
        whole = width(self.function.registers[target.name])
        pattern = int(value) if type_ in FORMATS or type_ == "pred" else wrap(type_, int(value))
        thread.registers[target.name] = pattern & ((1 << whole) - 1)
