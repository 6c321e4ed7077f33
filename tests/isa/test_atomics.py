"""Every atomic operation, type, space and order, against exact arithmetic.

Each thread of a kernel replaces an element of its own, so that what was there before and after is known;
where threads meet at one address, values are such that the order does not matter.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.errors import KernelFault

from . import floats
from .float_harness import ALL_FORMATS, NAN
from .float_harness import edges as float_edges
from .oracles import wrap
from .test_float_arithmetic import extreme, nan_of

BLOCK, GRID = 32, 8
THREADS = BLOCK * GRID
_SPACES = ("global", "shared", "generic", "generic-shared")
Oracle = Callable[..., int]


@dataclass(frozen=True)
class Form:
    """One instruction: its text with a place for the state space, and what it makes of an element."""

    text: str  # with {space}
    type: str
    oracle: Oracle
    count: int = 1  # elements of its vector
    operands: int = 1
    returns: bool = True
    tail: str = ""  # behind the operands

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return int(self.type.lstrip("bfsu").removesuffix("x2")) * (2 if self.type.endswith("x2") else 1)

    @property
    def size(self) -> int:
        """Bytes that a thread replaces."""
        return self.bits // 8 * self.count


# ---------------------------------------------------------------------------------------- oracles
def _wrapped(operation: Callable[[int, int], int], type_: str) -> Oracle:
    bits = int(type_[1:])
    return lambda old, given: operation(wrap(type_, old), wrap(type_, given)) & ((1 << bits) - 1)


_INTEGER: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "exch": lambda a, b: b,
    "add": lambda a, b: a + b,
    "min": min,
    "max": max,
    "inc": lambda a, b: 0 if a >= b else a + 1,
    "dec": lambda a, b: b if a == 0 or a > b else a - 1,
}
_INTEGER_TYPES = {
    "b32 b64": "and or xor exch",
    "u32": "inc dec",
    "u32 s32 u64": "add",
    "u32 s32 u64 s64": "min max",
}


def _add(type_: str, flushes: bool, shared: bool = False) -> Oracle:
    f = ALL_FORMATS[type_]

    def nan(old: int, given: int) -> int:
        """In shared memory the first is made quiet; global memory's own unit lets the last pass as it is."""
        if type_ != "f64" or not (f.is_nan(old) or f.is_nan(given)):
            return NAN[type_]
        return nan_of(type_, (old, given)) if shared else given if f.is_nan(given) else old

    def compute(old: int, given: int) -> int:
        a, b = (f.flush(old), f.flush(given)) if flushes else (old, given)
        result = floats.add(f.flushing if flushes else f, a, b)
        return nan(a, b) if f.is_nan(result) else result

    return compute


def _half(operation: str, type_: str) -> Oracle:
    base = type_.removesuffix("x2")
    f = ALL_FORMATS[base]

    def one(old: int, given: int) -> int:
        if operation != "add":
            return extreme(f, operation, (), NAN[base], (old, given))
        return _add(base, flushes=False)(old, given)

    if base == type_:
        return one
    return lambda old, given: one(old & 0xFFFF, given & 0xFFFF) | one(old >> 16, given >> 16) << 16


def _swap(old: int, expected: int, new: int) -> int:
    return new if old == expected else old


# ---------------------------------------------------------------------------------------- forms
def _integer_forms() -> list[Form]:
    forms: list[Form] = []
    for types, operations in _INTEGER_TYPES.items():
        for type_, operation in itertools.product(types.split(), operations.split()):
            oracle = _wrapped(_INTEGER[operation], type_)
            forms.append(Form(f"atom{{space}}.{operation}.{type_}", type_, oracle))
            if operation != "exch":
                forms.append(Form(f"red{{space}}.{operation}.{type_}", type_, oracle, returns=False))
    forms += [Form(f"atom{{space}}.cas.{t}", t, _swap, operands=2) for t in ("b16", "b32", "b64", "b128")]
    return [*forms, Form("atom{space}.exch.b128", "b128", _INTEGER["exch"])]


def _float_forms(space: str) -> list[Form]:
    forms: list[Form] = []
    for head, returns in (("atom", True), ("red", False)):
        for type_ in ("f32", "f64"):
            oracle = _add(type_, flushes=type_ == "f32" and "shared" not in space, shared="shared" in space)
            forms.append(Form(f"{head}{{space}}.add.{type_}", type_, oracle, returns=returns))
        for type_ in ("f16", "bf16", "f16x2", "bf16x2"):
            text = f"{head}{{space}}.add.noftz.{type_}"
            forms.append(Form(text, type_, _half("add", type_), returns=returns))
    return forms


def _vector_forms() -> list[Form]:
    forms: list[Form] = []
    for head, returns in (("atom", True), ("red", False)):
        for count in (2, 4):
            text = f"{head}{{space}}.add.v{count}.f32"
            forms.append(Form(text, "f32", _add("f32", flushes=True), count, returns=returns))
        for type_, operation in itertools.product(("f16", "bf16", "f16x2", "bf16x2"), ("add", "min", "max")):
            oracle = _half(operation, type_)
            for count in (2, 4) if type_.endswith("x2") else (2, 4, 8):
                text = f"{head}{{space}}.{operation}.noftz.v{count}.{type_}"
                forms.append(Form(text, type_, oracle, count, returns=returns))
    other = "atom{space}.v2.f16.max.noftz"  # as the manual's examples have it
    return [*forms, Form(other, "f16", _half("max", "f16"), 2)]


def _ordered_forms() -> list[Form]:
    """Every order and scope, in front of the operation and behind it, and cache policies."""
    forms: list[Form] = []
    plus = _wrapped(_INTEGER["add"], "u32")
    for sem, scope in itertools.product(("relaxed", "acquire", "release", "acq_rel"), _SCOPES):
        forms.append(Form(f"atom.{sem}.{scope}{{space}}.add.u32", "u32", plus))
        forms.append(Form(f"atom.add.{sem}.{scope}{{space}}.u32", "u32", plus))
        forms.append(Form(f"atom.{sem}.{scope}{{space}}.cas.b32", "b32", _swap, operands=2))
        forms.append(Form(f"atom.cas.{sem}.{scope}{{space}}.b64", "b64", _swap, operands=2))
        forms.append(Form(f"atom.add.noftz.{sem}.{scope}{{space}}.f16x2", "f16x2", _half("add", "f16x2")))
    for sem, scope in itertools.product(("relaxed", "release"), _SCOPES):
        forms.append(Form(f"red.{sem}.{scope}{{space}}.add.u32", "u32", plus, returns=False))
        forms.append(Form(f"red.add.{sem}.{scope}{{space}}.u32", "u32", plus, returns=False))
    for scope in _SCOPES:  # as compilers write atomicAdd_block() and the like
        forms.append(Form(f"atom{{space}}.{scope}.max.s32", "s32", _wrapped(max, "s32")))
        forms.append(Form(f"atom{{space}}.{scope}.cas.b32", "b32", _swap, operands=2))
        forms.append(Form(f"atom{{space}}.{scope}.add.noftz.f16x2", "f16x2", _half("add", "f16x2")))
        forms.append(Form(f"red{{space}}.{scope}.add.u32", "u32", plus, returns=False))
    policy = ", %rd60"
    single, pair = _add("f32", flushes=True), _half("add", "bf16x2")
    forms += [
        Form("atom{space}.add.L2::cache_hint.u32", "u32", plus, tail=policy),
        Form("red.relaxed.gpu{space}.add.L2::cache_hint.u32", "u32", plus, returns=False, tail=policy),
        Form("atom{space}.exch.L2::cache_hint.b64", "b64", _INTEGER["exch"], tail=policy),
        Form("atom{space}.add.noftz.L2::cache_hint.bf16x2", "bf16x2", pair, tail=policy),
        Form("red{space}.add.L2::cache_hint.v4.f32", "f32", single, 4, returns=False, tail=policy),
        Form("red{space}.add.noftz.L2::cache_hint.v2.bf16x2", "bf16x2", pair, 2, returns=False, tail=policy),
    ]
    return forms


_SCOPES = ("cta", "cluster", "gpu", "sys")


# ---------------------------------------------------------------------------------------- operands
def _values(type_: str, rng: random.Random, nan: bool) -> list[int]:
    """Patterns for all elements of all threads: edges, then random ones."""
    base = type_.removesuffix("x2")
    if base in ALL_FORMATS:
        f = ALL_FORMATS[base]
        pool = [*float_edges(base), *(rng.getrandbits(f.width) for _ in range(200))]
        if base == "f32":  # about where subnormal numbers are lost in sums
            pool += [rng.randrange(24 << 23, 30 << 23) | rng.getrandbits(1) << 31 for _ in range(60)]
        pool = [pattern for pattern in pool if nan or not f.is_nan(pattern)]
        low = rng.choices(pool, k=THREADS * 8)
        high = rng.choices(pool, k=THREADS * 8)
        return low if base == type_ else [x | y << 16 for x, y in zip(low, high, strict=True)]
    bits = int(type_[1:])
    top = 1 << (bits - 1)
    pool = [
        0,
        1,
        2,
        top - 1,
        top,
        top + 1,
        2 * top - 1,
        2 * top - 2,
        *(rng.getrandbits(bits) for _ in range(60)),
    ]
    return rng.choices(pool, k=THREADS * 8)


def _register(type_: str, number: int) -> str:
    if type_ in ("f32", "f64"):
        return f"%{type_.replace('f32', 'f').replace('f64', 'fd')}{number}"
    bits = Form("", type_, lambda: 0).bits
    return f"%{ {16: 'rs', 32: 'r', 64: 'rd', 128: 'rq'}[bits] }{number}"


def _list(registers: list[str]) -> str:
    return registers[0] if len(registers) == 1 else "{" + ", ".join(registers) + "}"


@dataclass
class Run:
    """A kernel that runs each form once, each thread on elements of its own."""

    space: str
    lines: list[str] = field(default_factory=list)
    memory: list[bytes] = field(default_factory=list)
    given: tuple[list[bytes], list[bytes]] = field(default_factory=lambda: ([], []))
    length: int = 0

    def add(self, form: Form, columns: list[list[int]]) -> None:
        """Memory before, and the operands, of all elements."""
        kind = f"b{form.bits}"
        used = THREADS * form.size
        stores = [columns[0], *columns[1:], *[[0] * len(columns[0])] * (3 - len(columns))]
        for target, values in zip((self.memory, *self.given), stores, strict=True):
            data = b"".join(v.to_bytes(form.bits // 8, "little") for v in values[: THREADS * form.count])
            target.append(data + bytes(-used % 16))
        at, step = self.length, form.bits // 8
        self.length += used + -used % 16
        old, first, second = (
            [_register(form.type, start + k) for k in range(form.count)] for start in (10, 20, 30)
        )
        self.lines += [f"mul.wide.u32 %rd9, %r1, {form.size};"]
        self.lines += [
            f"add.u64 %rd{10 + k}, %rd{k}, %rd9; add.u64 %rd{10 + k}, %rd{10 + k}, {at};" for k in range(1, 5)
        ]
        for registers, place in ((first, "%rd12"), (second, "%rd13"))[: form.operands]:
            self.lines += [
                f"ld.global.{_kind(form)} {r}, [{place}+{k * step}];" for k, r in enumerate(registers)
            ]
        word, address = self._space(form, kind, step)
        operands = [_list(first), _list(second)][: form.operands]
        result = [_list(old)] if form.returns else []
        self.lines.append(
            f"{form.text.format(space=word)} {', '.join([*result, f'[{address}]', *operands])}{form.tail};"
        )
        if form.returns:
            self.lines += [f"st.global.{_kind(form)} [%rd14+{k * step}], {r};" for k, r in enumerate(old)]
        self._take_back(form, kind, step)

    def _space(self, form: Form, kind: str, step: int) -> tuple[str, str]:
        """Bring the thread's elements into the space; the word for it and the address there."""
        if "shared" not in self.space:
            return (".global" if self.space == "global" else ""), "%rd11"
        self.lines.append(
            f"mov.u32 %r5, room; mad.lo.u32 %r5, %r2, {form.size}, %r5; cvt.u64.u32 %rd15, %r5;"
        )
        self.lines.append("cvta.shared.u64 %rd15, %rd15;")
        for k in range(form.count):
            copy = _register(kind, 40)
            self.lines.append(
                f"ld.global.{kind} {copy}, [%rd11+{k * step}]; st.shared.{kind} [%r5+{k * step}], {copy};"
            )
        return (".shared", "%r5") if self.space == "shared" else ("", "%rd15")

    def _take_back(self, form: Form, kind: str, step: int) -> None:
        if "shared" in self.space:
            for k in range(form.count):
                copy = _register(kind, 40)
                self.lines.append(
                    f"ld.shared.{kind} {copy}, [%r5+{k * step}]; st.global.{kind} [%rd11+{k * step}], {copy};"
                )

    def launch(self, engine: str) -> tuple[bytes, bytes]:
        """Memory afterwards, and the old elements."""
        head = [
            *(
                f"ld.param.u64 %rd{k}, [{name}];"
                for k, name in enumerate(("memory", "first", "second", "old"), 1)
            ),
            "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;",
            "mad.lo.u32 %r1, %r3, %r4, %r2;",
            "createpolicy.fractional.L2::evict_last.b64 %rd60;",
        ]
        text = kernel(
            "\n".join([*head, *self.lines, "ret;"]),
            "u64 memory, u64 first, u64 second, u64 old",
            shared=".align 16 .b8 room[1024]",
        )
        arrays = [np.frombuffer(b"".join(x), np.uint8).copy() for x in (self.memory, *self.given)]
        old = np.zeros(self.length, np.uint8)
        run_ptx(text, GRID, BLOCK, [*arrays, old], engine=engine)
        return arrays[0].tobytes(), old.tobytes()


def _kind(form: Form) -> str:
    return form.type if form.type in ("f32", "f64") else f"b{form.bits}"


def check(forms: list[Form], space: str, engine: str, nan: bool = False) -> None:
    """Run forms on elements of a space and compare memory and results."""
    rng = random.Random(zlib.crc32(space.encode()))
    run = Run(space)
    places: list[tuple[Form, int, list[list[int]]]] = []
    for form in forms:
        columns = [_values(form.type, rng, nan) for _ in range(1 + form.operands)]
        if form.operands == 2:  # every other comparison holds
            columns[1] = [a if k % 2 else b for k, (a, b) in enumerate(zip(*columns[:2], strict=True))]
        places.append((form, run.length, columns))
        run.add(form, columns)
    memory, old = run.launch(engine)
    wrong: list[str] = []
    for form, at, columns in places:
        step = form.bits // 8
        for k in range(THREADS * form.count):
            place = slice(at + k * step, at + (k + 1) * step)
            patterns = [column[k] for column in columns]
            want = form.oracle(*patterns)
            found = int.from_bytes(memory[place], "little")
            before = int.from_bytes(old[place], "little")
            if found != want or before != (patterns[0] if form.returns else 0):
                shown = ", ".join(f"{x:#x}" for x in patterns)
                wrong.append(f"{form.text} on {shown}: {found:#x}, should be {want:#x}; returned {before:#x}")
                break
    assert not wrong, "\n".join(wrong)


# ---------------------------------------------------------------------------------------- tests
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("space", _SPACES)
def test_integers(space: str, engine: str):
    check(_integer_forms(), space, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("space", _SPACES)
def test_floats(space: str, engine: str):
    check(_float_forms(space), space, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("space", _SPACES)
def test_floats_that_are_nan(space: str, engine: str):
    check(_float_forms(space), space, engine, nan=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("space", ["global", "generic"])
def test_vectors(space: str, engine: str):
    check(_vector_forms(), space, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_orders_scopes_and_policies(engine: str):
    check(_ordered_forms(), "global", engine)


# Type -> pattern of n, for small n that all sums up to 256 are exact in.
_NUMBERS: dict[str, Callable[[int], int]] = {
    "u32": lambda n: n,
    "u64": lambda n: n,
    "f32": lambda n: int(np.float32(n).view(np.uint32)),
    "f64": lambda n: int(np.float64(n).view(np.uint64)),
    "f16": lambda n: int(np.float16(n).view(np.uint16)),
    "bf16": lambda n: int(np.float32(n).view(np.uint32)) >> 16,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "type_", "count"),
    [
        ("red.global.add.u64", "u64", 1),
        ("red.global.add.f32", "f32", 1),
        ("red.global.add.f64", "f64", 1),
        ("red.global.add.noftz.f16", "f16", 1),
        ("red.global.add.noftz.bf16", "bf16", 1),
        ("red.global.add.noftz.f16x2", "f16", 2),
        ("red.global.add.noftz.bf16x2", "bf16", 2),
        ("red.global.add.v4.f32", "f32", 4),
        ("red.global.add.noftz.v8.f16", "f16", 8),
        ("red.global.add.noftz.v4.bf16x2", "bf16", 8),
    ],
)
def test_sums_of_threads_that_meet(text: str, type_: str, count: int, engine: str):
    """A histogram: thread i adds 1, 2, 3, ... to the elements of bin i % 8."""
    packed = text.endswith("x2")
    one = _NUMBERS[type_]
    step = Form("", type_, lambda: 0).bits // 8
    given = b"".join(one(1 + k % 3).to_bytes(step, "little") for k in range(count))
    width = step * (2 if packed else 1)
    pieces = [
        (_register(f"b{8 * width}" if type_[0] != "f" or type_ == "f16" else type_, 10 + k), k * width)
        for k in range(count * step // width)
    ]
    kind = type_ if type_ in ("f32", "f64") else f"b{8 * width}"
    body = [
        "ld.param.u64 %rd1, [bins]; ld.param.u64 %rd2, [given]; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 7;",
        f"mad.wide.u32 %rd1, %r1, {count * step}, %rd1;",
        *(f"ld.global.{kind} {register}, [%rd2+{at}];" for register, at in pieces),
        f"{text} [%rd1], {_list([register for register, _ in pieces])};",
        "ret;",
    ]
    bins = np.zeros(8 * count * step, np.uint8)
    run_ptx(
        kernel("\n".join(body), "u64 bins, u64 given"),
        4,
        128,
        [bins, np.frombuffer(given, np.uint8).copy()],
        engine=engine,
    )
    want = b"".join(one(64 * (1 + k % 3)).to_bytes(step, "little") for k in range(count)) * 8
    assert bins.tobytes() == want


@pytest.mark.parametrize("engine", ENGINES[:2])
@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("atom.global.cas.b16 %rs1, [%rd1], %rs2, %rs3", 2),
        ("atom.global.add.noftz.bf16x2 %r10, [%rd1], %r11", 4),
        ("red.global.add.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}", 16),
        ("atom.global.exch.b128 %rq1, [%rd1], %rq2", 16),
    ],
)
def test_faults(text: str, size: int, engine: str):
    """The first lane past the end is named, as is one whose address is not aligned."""
    body = (
        "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; ld.param.u32 %r2, [at];"
        f"mad.lo.u32 %r1, %r1, {size}, %r2; cvt.u64.u32 %rd2, %r1; add.u64 %rd1, %rd1, %rd2; {text}; ret;"
    )
    made = kernel(body, "u64 x, u32 at")
    x = np.zeros(20 * size, np.uint8)
    with pytest.raises(KernelFault) as caught:
        run_ptx(made, 1, 32, [x, np.uint32(0)], engine=engine)
    assert caught.value.place.thread == (20, 0, 0)
    assert f"x[{x.size}.." in str(caught.value)
    with pytest.raises(KernelFault, match=f"no multiple of {size}"):
        run_ptx(made, 1, 1, [x, np.uint32(1)], engine=engine)
