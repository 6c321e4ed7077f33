"""Kernels that run forms of answer_forms.py, one instruction a line, and what every lane of them stores.

Threads load operands by their number in the grid, so one block shows the lanes of warps, and blocks of one
thread show the same on uniform values. Every result has a region of the output with 8 bytes for each thread.

A form that accesses memory has a slot of 32 bytes of its own for each thread, in the state space that it
names; the slots of a kernel are filled before its forms run, and copied to the output afterwards.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tests.ptx_text import HEADER, kernel

from .answer_forms import SLOT_BYTES, SLOTS, Form, Place, operands, width

_HEADER = ".version 8.8\n.target sm_90\n.address_size 64\n"  # min and max of three came with 8.8
OUTPUT = 2  # the output's place among the arguments
_STRIDE = 16  # bytes from one operand of a source to the next
_AREA = SLOTS * SLOT_BYTES  # bytes of a form's slots
_MOST_SLOTS = 40  # forms of a kernel that access memory: 48 KiB of shared memory are static
# 64-bit registers with the address of the thread's slot of the first form.
_SLOT = {"global": "%rd80", "generic": "%rd80", "shared": "%rd81", "local": "%rd82", "const": "%rd83"}
_POLICY = "%rd7"  # of the cache: that of data used once
_READ_ONLY = "%rd84"  # in an array that no thread writes


@dataclass(frozen=True)
class Result:
    """Where a form's result lies: the byte of the output for its first lane, and bytes from lane to lane."""

    form: Form
    name: str
    bits: int
    first: int
    stride: int = 8


@dataclass
class AnswerKernel:
    """A kernel with the forms that it runs."""

    forms: Sequence[Form]
    text: str = ""
    results: list[Result] = field(default_factory=list)
    lines: dict[int, Form] = field(default_factory=dict)  # by the line of the text that the form stands in
    sources: list[list[int]] = field(default_factory=list)  # a column of operands for every register
    size: int = 0

    @property
    def lanes(self) -> int:
        """Threads of the launch."""
        return self.forms[0].lanes

    @property
    def space(self) -> str | None:
        """The state space that its forms access."""
        return self.forms[0].space

    def arguments(self) -> list[object]:
        """Operands, contents of the slots, the output, and for parameters the slots of lane 0."""
        given = np.zeros((max(1, len(self.sources)), self.lanes, 2), np.uint64)
        for place, column in zip(given, self.sources, strict=False):
            place[:] = [(pattern & (1 << 64) - 1, pattern >> 64) for pattern in column]
        if self.space is None:
            slots = np.zeros((1, SLOTS, SLOT_BYTES), np.uint8)
        else:
            slots = np.stack([contents(form) for form in self.forms])
        output = np.zeros(self.size, np.uint8)
        if self.space in ("global", "generic"):
            output[: slots.size] = slots.reshape(-1)
        structure = [slots[:, 0].tobytes()] if self.space == "param" else []
        return [given, slots, output, *structure]

    def patterns(self, result: Result, output: np.ndarray) -> tuple[int, ...]:
        """The lanes' patterns of a result."""
        wide = np.ndarray(self.lanes, np.uint64, output, result.first, (result.stride,))
        return tuple((wide & np.uint64((1 << result.bits) - 1)).tolist())


def contents(form: Form) -> np.ndarray:
    """What is in a form's slots at first: numbers of the type that it accesses, for every lane 32 bytes."""
    return _contents(form.type)


@cache
def _contents(type_: str) -> np.ndarray:
    bits = max(8, width(type_))
    count = SLOT_BYTES * 8 // bits
    columns = operands(tuple(Place("m", type_) for _ in range(count)), SLOTS, in_warp=False)
    rows = zip(*columns, strict=True)
    data = b"".join(value.to_bytes(bits // 8, "little") for row in rows for value in row)
    return np.frombuffer(data, np.uint8).reshape(SLOTS, SLOT_BYTES)


def digest(form: Form) -> str:
    """A digest of all that a form's lanes read."""
    return _digest(form.sources, form.lanes, form.in_warp, form.type if form.space else None)


@cache
def _digest(sources: tuple[Place, ...], lanes: int, in_warp: bool, memory: str | None) -> str:
    columns = operands(sources, lanes, in_warp) if sources else []
    slots = _contents(memory).tobytes() if memory else b""
    return f"{zlib.crc32(repr(columns).encode() + slots):08x}"


def kernels(forms: Iterable[Form], largest: int) -> list[AnswerKernel]:
    """Kernels for all forms, each of at most so many."""
    return [build(some) for some in groups_of(forms, largest)]


def groups_of(forms: Iterable[Form], largest: int) -> list[list[Form]]:
    """The forms of each kernel, at most so many; those with the same sources stand together."""
    groups: dict[object, dict[object, list[Form]]] = {}
    for form in forms:
        same = groups.setdefault((form.space, form.in_warp), {})
        same.setdefault(form.sources, []).append(form)
    found: list[list[Form]] = []
    for same in groups.values():
        ordered = [form for alike in same.values() for form in alike]
        step = min(largest, _MOST_SLOTS) if ordered[0].space else largest
        found += [ordered[first : first + step] for first in range(0, len(ordered), step)]
    return found


def build(forms: Sequence[Form]) -> AnswerKernel:
    """The kernel for forms that access the same space, or none."""
    made = AnswerKernel(forms)
    lines = _Writer(made).lines()
    body = "\n".join(["", *lines, "ret;"])
    area = len(forms) * _AREA if made.space else _AREA
    own = area // SLOTS
    parameters = "u64 given, u64 slots, u64 out"
    if made.space == "param":
        parameters += f", align 16 .b8 block[{own}]"
    variables = f".local .align 32 .b8 own[{own}];\n" if made.space == "local" else ""
    shared = f".align 32 .b8 taken[{area}]" if made.space == "shared" else ""
    text = kernel(variables + body, parameters, shared=shared)
    fixed = ""
    if made.space == "const":
        numbers = ", ".join(str(byte) for form in forms for byte in contents(form).reshape(-1).tolist())
        fixed = f".const .align 32 .b8 fixed[{area}] = {{{numbers}}};\n"
    made.text = text.replace(HEADER, _HEADER + fixed, 1)
    for number, line in enumerate(made.text.splitlines(), 1):
        if line.startswith("/*form "):
            made.lines[number] = forms[len(made.lines)]
    return made


def register(type_: str, number: int, *, wide: bool = False) -> str:
    """A register for a type; what is loaded from memory goes to a wide one, where its extension shows."""
    if type_ in ("f32", "f64"):
        return f"%{'f' if type_ == 'f32' else 'fd'}{number}"
    bits = 64 if wide and width(type_) < 64 else width(type_)
    return f"%{ {1: 'p', 8: 'rb', 16: 'rs', 32: 'r', 64: 'rd', 128: 'rq'}[bits] }{number}"


class _Writer:
    """Writes the body of a kernel."""

    def __init__(self, made: AnswerKernel):
        self.made = made
        self.space = made.space
        self.area = len(made.forms) * _AREA if made.space else 0
        made.size = self.area

    def lines(self) -> Iterator[str]:
        """All lines; a form's begins with its name."""
        yield from self._prelude()
        loaded = None
        for number, form in enumerate(self.made.forms):
            if form.sources != loaded:
                yield from self._load(form)
                loaded = form.sources
            yield f"/*form {form.text}*/ " + " ".join(self._form(form, number))
        if self.space in ("shared", "local"):
            yield from self._copy("AFTER", self.space, _SLOT[self.space], "global", "%rd80")

    def _prelude(self) -> Iterator[str]:
        yield f"mov.b64 {_POLICY}, 0x12F0000000000000;"
        yield "ld.param.u64 %rd90, [given]; ld.param.u64 %rd91, [out]; ld.param.u64 %rd80, [out];"
        yield "mov.u32 %r90, %tid.x; mov.u32 %r91, %ctaid.x; mov.u32 %r92, %ntid.x;"
        yield "mad.lo.u32 %r93, %r91, %r92, %r90; mad.wide.u32 %rd91, %r93, 8, %rd91;"
        yield f"mad.wide.u32 %rd90, %r93, {_STRIDE}, %rd90;"
        if self.space in (None, "param"):
            return
        yield f"ld.param.u64 {_READ_ONLY}, [slots];"
        own = {"shared": "taken", "const": "fixed"}.get(self.space)
        if own:
            yield f"mov.u64 {_SLOT[self.space]}, {own};"
        for address in dict.fromkeys((_READ_ONLY, "%rd80", *([_SLOT[self.space]] if own else []))):
            yield f"mad.wide.u32 {address}, %r93, {SLOT_BYTES}, {address};"
        if self.space == "local":
            yield "mov.u64 %rd82, own;"
        if self.space in ("shared", "local"):
            yield from self._copy("BEFORE", "global", _READ_ONLY, self.space, _SLOT[self.space])

    def _copy(self, label: str, source: str, from_: str, target: str, to: str) -> Iterator[str]:
        """A loop over the thread's slots of all forms."""
        steps = {"local": SLOT_BYTES}
        yield f"mov.u64 %rd70, {from_}; mov.u64 %rd71, {to}; mov.u32 %r70, 0;"
        yield f"{label}: ld.{source}.v2.b64 {{%rd72, %rd73}}, [%rd70];"
        yield f"ld.{source}.v2.b64 {{%rd74, %rd75}}, [%rd70+16];"
        yield f"st.{target}.v2.b64 [%rd71], {{%rd72, %rd73}};"
        yield f"st.{target}.v2.b64 [%rd71+16], {{%rd74, %rd75}};"
        yield f"add.u64 %rd70, %rd70, {steps.get(source, _AREA)};"
        yield f"add.u64 %rd71, %rd71, {steps.get(target, _AREA)};"
        yield f"add.u32 %r70, %r70, 1; setp.lt.u32 %p9, %r70, {len(self.made.forms)}; @%p9 bra {label};"

    def _load(self, form: Form) -> Iterator[str]:
        """Load the operands of a form and of those that follow with the same."""
        number = 10
        columns = operands(form.sources, form.lanes, form.in_warp) if form.sources else []
        for place in form.sources:
            for _ in place.names:
                first = len(self.made.sources) * form.lanes * _STRIDE
                yield _take(place.type, number, f"[%rd90+{first}]")
                self.made.sources.append(columns[number - 10])
                number += 1

    # ------------------------------------------------------------------------------------ one form
    def _form(self, form: Form, number: int) -> Iterator[str]:
        """What a form needs before it, the instruction, and the stores of its results."""
        if any(place.name == "carry" for place in form.sources):
            before = sum(len(place.names) for place in form.sources) - 1
            yield f"add.cc.u32 %r9, %r{10 + before}, -1;"
        yield self._instruction(form, number)
        if any(place.name == "carry" for place in form.results):
            yield "addc.u32 %r59, 0, 0;"
        target = 50
        for place in form.results:
            for name in place.names:
                wide = form.row.pattern.opcode == "ld"
                yield from self._keep(
                    form,
                    name,
                    place.type,
                    register(place.type, target if place.name != "carry" else 59, wide=wide),
                )
                target += 1
        if form.changes_memory:
            for k in range(0, SLOT_BYTES, 8):
                place = number * _AREA + k
                self.made.results.append(Result(form, f"bytes {k} to {k + 7}", 64, place, SLOT_BYTES))

    def _instruction(self, form: Form, number: int) -> str:
        source, target = 10, 50
        written: list[str] = []
        for operand, place in form.operands:
            if operand.address:
                written.append(f"[{self._address(form, number)}]")
                continue
            if not operand.destination and place not in form.sources:
                written.append(_POLICY if operand.name == "policy" else form.shown(operand, place))
                continue
            first = target if operand.destination else source
            wide = form.row.pattern.opcode == "ld"
            names = [register(place.type, first + k, wide=wide) for k in range(len(place.names))]
            written.append("{" + ", ".join(names) + "}" if place.count else names[0])
            if operand.destination:
                target += len(names)
            else:
                source += len(names)
            if operand.second:
                written[-1] += f"|%p{target}"
                target += 1
        return f"{form.opcode} {', '.join(written)};"

    def _address(self, form: Form, number: int) -> str:
        if self.space == "param":
            return f"block+{number * SLOT_BYTES}"
        if form.row.pattern.opcode == "ld" and self.space in ("global", "generic"):
            return f"{_READ_ONLY}+{number * _AREA}"
        step = SLOT_BYTES if self.space == "local" else _AREA
        return f"{_SLOT[self.space or 'generic']}+{number * step}"

    def _keep(self, form: Form, name: str, type_: str, target: str) -> Iterator[str]:
        """Store a result."""
        if target.startswith("%p"):
            yield f"selp.u16 %rs8, 1, 0, {target};"
            yield self._store(form, name, 1, "b16", "%rs8")
        elif target.startswith("%rq"):
            yield f"mov.b128 {{%rd8, %rd9}}, {target};"
            yield self._store(form, f"{name} low", 64, "b64", "%rd8")
            yield self._store(form, f"{name} high", 64, "b64", "%rd9")
        else:
            bits = 64 if target.startswith("%rd") else width(type_)
            yield self._store(form, name, bits, type_ if type_ in ("f32", "f64") else f"b{bits}", target)

    def _store(self, form: Form, name: str, bits: int, kind: str, source: str) -> str:
        first = self.made.size
        self.made.size += self.made.lanes * 8
        self.made.results.append(Result(form, name, bits, first))
        return f"st.global.{kind} [%rd91+{first}], {source};"


def _take(type_: str, number: int, address: str) -> str:
    """Load an operand."""
    bits = width(type_)
    if bits == 1:
        return f"ld.global.u16 %rs9, {address}; setp.ne.u16 %p{number}, %rs9, 0;"
    if bits == 128:
        return f"ld.global.v2.b64 {{%rd8, %rd9}}, {address}; mov.b128 %rq{number}, {{%rd8, %rd9}};"
    kind = type_ if type_ in ("f32", "f64") else f"b{bits}"
    return f"ld.global.{kind} {register(type_, number)}, {address};"
