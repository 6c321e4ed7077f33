"""Random structured kernels in PTX: one seed, one kernel with its launch and its arrays.

No kernel leaves its arrays, reads a register that was never written, or depends on races: inputs are only
read, every store goes to an element that belongs to the thread (through some permutation of the threads), and
shared memory is exchanged between two barriers that all threads of the block reach. Kernels with `features`
also have the statements of features.py, which the one-thread-at-a-time interpreter does not know.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

from tests.ptx_text import HEADER, function, kernel

from .features import SHARED_BYTES, Features
from .operations import CONSTANTS, FLOAT_OPS, INPUTS, INTEGER_OPS, POOLS, PREDICATES, REGULAR_OPS

SHAPES = (
    (33, 1, 1),
    (7, 5, 1),
    (1, 1, 1),
    (16, 4, 1),
    (31, 1, 1),
    (32, 1, 1),
    (64, 1, 1),
    (4, 3, 5),
    (96, 1, 1),
)
LARGE_SHAPES = ((16, 16, 1), (32, 4, 2), (128, 1, 1), (33, 3, 3), (256, 1, 1))
GRIDS = ((1, 1, 1), (3, 1, 1), (2, 2, 1), (5, 1, 1), (1, 2, 2))
PAD = 64  # elements in front of and behind every input that kernels may reach


@dataclass
class RandomKernel:
    """A kernel and its launch; arguments of a fresh run come from `arguments`."""

    seed: int
    text: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    n: int
    outputs: tuple[str, ...]  # the type of each output region, in order

    @property
    def threads(self) -> int:
        """Threads of the whole grid."""
        x, y, z = self.block
        return x * y * z * self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def padded(self) -> int:
        """Threads rounded up to a power of two, the elements of each region and input."""
        return 1 << (self.threads - 1).bit_length()

    def arguments(self) -> list[object]:
        """Inputs of each type, an integer, and the zeroed output."""
        rng = np.random.default_rng(self.seed)
        size = self.padded + 2 * PAD
        small = rng.random(size) < 0.6

        def integers(bits: int) -> np.ndarray:
            wide = rng.integers(0, 1 << bits, size, dtype=np.uint64)
            near = rng.integers(-9, 10, size).astype(np.int64).view(np.uint64)
            return np.where(small, near, wide).astype(f"u{bits // 8}")

        whole = [integers(16), integers(32), integers(64)]
        floating = [np.round(rng.normal(0, 30, size), 1).astype(dtype) for dtype in (np.float32, np.float64)]
        return [*whole, *floating, self.n, np.zeros(len(self.outputs) * self.padded * 8, np.uint8)]

    def differences(self, have: np.ndarray, want: np.ndarray, *, exact: bool = False) -> list[str]:
        """Elements that differ between two outputs; unless `exact`, any NaN equals any other."""
        found: list[str] = []
        for region, type_ in enumerate(self.outputs):
            bytes_ = slice(region * self.padded * 8, (region + 1) * self.padded * 8)
            a, b = (x[bytes_].view(np.uint64) for x in (have, want))
            different = a != b
            if type_[0] == "f" and not exact:
                dtype = np.float32 if type_ == "f32" else np.float64
                x, y = (v.astype(np.uint32).view(dtype) if type_ == "f32" else v.view(dtype) for v in (a, b))
                different &= ~(np.isnan(x) & np.isnan(y))
            for element in np.flatnonzero(different)[:3]:
                found.append(
                    f"region {region} ({type_}), element {element}: {a[element]:#x}, not {b[element]:#x}"
                )
        return found


def random_kernel(seed: int, *, large: bool = False, size: int = 14, features: bool = False) -> RandomKernel:
    """The kernel of a seed; `size` is about how many statements it has."""
    rng = random.Random(seed)
    block = rng.choice(LARGE_SHAPES if large else SHAPES)
    grid = rng.choice(GRIDS[:3] if block[0] * block[1] * block[2] > 64 else GRIDS)
    writer = _Writer(rng, block, grid)
    text = writer.write(size, features)
    return RandomKernel(seed, text, grid, block, rng.randrange(1, 12), tuple(writer.outputs))


@dataclass
class _Loop:
    """Labels that break and continue go to."""

    end: str
    next: str


@dataclass
class _Writer:
    rng: random.Random
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    lines: list[str] = field(default_factory=list)
    elsewhere: list[list[str]] = field(default_factory=list)  # blocks of code placed at the end of the text
    outputs: list[str] = field(default_factory=list)
    loops: list[_Loop] = field(default_factory=list)
    labels: int = 0
    counters: int = 0
    budget: int = 0
    regular: float = 0.0  # how often an integer operation keeps lanes a known distance apart
    trips: int = 1  # how often the code being written runs at most
    features: Features | None = None
    inner: bool = False  # whether this is the body of a function, without memory

    # ------------------------------------------------------------------------------------ the whole kernel
    def write(self, size: int, features: bool) -> str:
        """The PTX."""
        x, y, z = self.block
        self.threads = x * y * z
        total = self.threads * self.grid[0] * self.grid[1] * self.grid[2]
        self.padded = 1 << (total - 1).bit_length()
        self.budget = size
        self.regular = self.rng.choice((0.0, 0.5, 0.9, 1.0))
        if features:
            functions = [self._function(f"f{number}") for number in range(self.rng.randint(1, 3))]
            self.features = Features(self, functions, exits=self.rng.random() < 0.3)
            self.budget = min(size, 6) if self.features.with_lock else size
        self._prelude()
        self.lines += self.features.prelude() if self.features else []
        self._statements(uniform=True, depth=0)
        while self.budget > 0:
            self._statements(uniform=True, depth=0)
        if self.features:
            self.lines += self.features.epilogue()
            self._store_digest()
        else:
            self._store_everything()
        self.lines.append("DONE: ret;")
        for block in self.elsewhere:
            self.lines += block
        parameters = "u64 in16, u64 in32, u64 in64, u64 inf, u64 ind, u32 n, u64 out"
        text = kernel("\n".join(self.lines), parameters, shared=f".align 16 .b8 buffer[{SHARED_BYTES}]")
        functions = self.features.functions if self.features else []
        return text.replace(HEADER, "\n".join([HEADER.rstrip(), *functions, ""]), 1)

    def _function(self, name: str) -> str:
        """A device function of two arguments that computes a number."""
        inner = _Writer(self.rng, self.block, self.grid, regular=self.regular, inner=True)
        inner.threads, inner.padded, inner.budget = self.threads, self.padded, self.rng.randint(2, 6)
        inner.lines += [
            "ld.param.b32 %r93, [a]; mov.u32 %r94, %r93; mov.u32 %r89, %r93; mov.u32 %r90, %tid.x;",
            "mov.u32 %r91, %tid.y; mov.u32 %r96, %ctaid.x; mov.u32 %r97, %ctaid.y; mov.u32 %r95, 3;",
        ]
        inner.set_variables()
        inner.lines.append("ld.param.b64 %rd2, [b];")
        while inner.budget > 0:
            inner._statements(uniform=False, depth=1)
        inner.lines += [f"st.param.b32 [r], {inner.register('u32')};", "ret;"]
        for block in inner.elsewhere:
            inner.lines += block
        body = "\n".join(inner.lines)
        return function(name, ".param .b32 r", ".param .b32 a, .param .b64 b", body)

    def _prelude(self) -> None:
        emit, (x, y, _) = self.lines.append, self.block
        emit("mov.u32 %r90, %tid.x; mov.u32 %r91, %tid.y; mov.u32 %r92, %tid.z;")
        # The thread's number within its block: r93; within the grid: r94; the block's number: r95.
        emit(f"mad.lo.u32 %r93, %r92, {y}, %r91; mad.lo.u32 %r93, %r93, {x}, %r90;")
        emit("mov.u32 %r96, %ctaid.x; mov.u32 %r97, %ctaid.y; mov.u32 %r98, %ctaid.z;")
        emit("mov.u32 %r99, %nctaid.y; mad.lo.u32 %r95, %r98, %r99, %r97;")
        emit("mov.u32 %r99, %nctaid.x; mad.lo.u32 %r95, %r95, %r99, %r96;")
        emit(f"mad.lo.u32 %r94, %r95, {self.threads}, %r93;")
        emit("ld.param.u32 %r89, [n]; ld.param.u64 %rd90, [out];")
        for k, name in enumerate(("in16", "in32", "in64", "inf", "ind")):
            emit(f"ld.param.u64 %rd{91 + k}, [{name}];")
        # What threads exchange is there from the beginning, also from threads that will have ended.
        last = (1 << (self.threads - 1).bit_length()) - 1
        emit(f"mov.u32 %r86, buffer; mad.lo.u32 %r87, %r93, 8, %r86; sub.u32 %r88, {last}, %r93;")
        emit("mad.lo.u32 %r88, %r88, 8, %r86; st.shared.u64 [%r87], 0; st.shared.u64 [%r88], 0; bar.sync 0;")
        self.set_variables()

    def set_variables(self) -> None:
        """Give every variable a value."""
        emit = self.lines.append
        starts = [
            "mov.u32 %r1, %r90;",
            "mov.u32 %r2, %r94;",
            "mov.u32 %r3, %r96;",
            "mov.u32 %r4, %r89;",
            "mov.u32 %r5, %laneid;",
            "mov.u32 %r6, %r91;",
            "mov.u32 %r7, 1;",
        ]
        for line in starts:
            emit(line)
        for number in range(1, 6):
            emit(f"cvt.{self.rng.choice(('u64.u32', 's64.s32'))} %rd{number}, {self.register('u32')};")
        for number in range(1, 5):
            emit(f"cvt.u16.u32 %rs{number}, {self.register('u32')};")
        for number in range(1, 4):
            emit(f"cvt.rn.f32.s32 %f{number}, {self.register('u32')};")
            emit(f"cvt.rn.f64.u32 %fd{number}, {self.register('u32')};")
        for number in range(1, PREDICATES + 1):
            self._set_predicate(f"%p{number}")

    def _store_everything(self) -> None:
        for type_, (prefix, count, _) in POOLS.items():
            for number in range(1, count + 1):
                self._store(type_, f"%{prefix}{number}")

    def _store_digest(self) -> None:
        """One number made of all variables: cheaper to compile than to store each."""
        emit = self.lines.append
        emit("mov.u64 %rd88, 0;")
        for type_, (prefix, count, size) in POOLS.items():
            for name in (f"%{prefix}{number}" for number in range(1, count + 1)):
                if type_[0] == "f":  # any NaN counts as any other
                    one = CONSTANTS[type_][0]
                    emit(f"setp.nan.{type_} %p9, {name}, {name}; selp.{type_} {name}, {one}, {name}, %p9;")
                bits = f"mov.b64 %rd87, {name};"
                if size == 4 and type_[0] == "f":
                    bits = f"mov.b32 %r82, {name}; cvt.u64.u32 %rd87, %r82;"
                elif size < 8:
                    bits = f"cvt.u64.{type_} %rd87, {name};"
                emit(f"{bits} mad.lo.u64 %rd88, %rd88, 1000003, %rd87;")
        self._store("u64", "%rd88")

    # ------------------------------------------------------------------------------------ statements
    def _statements(self, uniform: bool, depth: int) -> None:
        for _ in range(self.rng.randint(1, 4)):
            self._statement(uniform, depth)

    def _statement(self, uniform: bool, depth: int) -> None:
        self.budget -= 1
        choices: list[tuple[int, object]] = [
            (6, self._assign),
            (3, self._guarded),
            (2, self._convert),
            (2, lambda: self._set_predicate(self.predicate())),
        ]
        if not self.inner:
            choices += [(3, self._load), (1, lambda: self._store(*self._pick()))]
        if self.features:
            choices += self.features.choices(uniform, depth)
        if self.budget > 0 and depth < 4:
            choices.append((4, lambda: self._if(uniform, depth)))
            if self.trips <= 30:
                choices.append((3, lambda: self._loop(uniform, depth)))
        if uniform and self.trips <= 12 and not self.inner:
            choices.append((2, self._exchange))
        if self.loops and not uniform:
            choices.append((2, self._leave_loop))
        if not uniform and not self.inner and (self.features is None or self.features.exits):
            choices.append((1, self._return))
        weights = [weight for weight, _ in choices]
        self.rng.choices([action for _, action in choices], weights)[0]()  # type: ignore[operator]

    def _assign(self, guard: str = "") -> None:
        type_ = self.rng.choice(("u32", "u32", "u32", "u64", "u64", "u16", "f32", "f64"))
        self.lines.append(guard + self._operation(type_))

    def _operation(self, type_: str) -> str:
        regular = self.rng.random() < self.regular
        pattern = self.rng.choice(FLOAT_OPS if type_[0] == "f" else REGULAR_OPS if regular else INTEGER_OPS)
        if type_ == "u64" and pattern[:3] in ("div", "rem") and (self.features or self.inner):
            pattern = INTEGER_OPS[0]  # these take a hundred times as long to compile as others
        bits = type_[1:]
        return pattern.format(
            t=self.rng.choice((type_, f"s{bits}")) if type_[0] == "u" else type_,
            st=f"s{bits}",
            bt=f"b{bits}",
            d=self.register(type_),
            a=self.source(type_),
            b=self.source(type_, immediate=True),
            c=self.source(type_),
            s=self.rng.choice((self.register("u32"), str(self.rng.choice((0, 1, 3, 8, 15, 31, 40))))),
            k=self.rng.choice((0, 1, 2, 3, 4, 8, 12, 31, 1000)),
            s1=self.rng.choice((0, 1, 2, 5)),
            p=self.predicate(),
        )

    def _guarded(self) -> None:
        guard = f"@{self.rng.choice(('', '!'))}{self.predicate()} "
        if not self.inner and self.rng.random() < 0.3:
            type_ = self.rng.choice(list(POOLS))
            address = self._input_address(type_)
            self.lines.append(f"{guard}ld.global.{type_} {self.register(type_)}, [{address}];")
        else:
            self._assign(guard)

    def _convert(self) -> None:
        if self.rng.random() < 0.3:
            to, from_ = self.rng.sample(("u32", "f32", "f64", "s32"), 2)
            pair = {to, from_}
            rounding = {"f": "rn", "u": "rzi", "s": "rzi"}[to[0]] if pair & {"f32", "f64"} else ""
            if pair == {"f32", "f64"}:
                rounding = "" if to == "f64" else "rn"
            a, d = (self.register(t.replace("s", "u")) for t in (from_, to))
            self.lines.append(f"cvt.{rounding + '.' if rounding else ''}{to}.{from_} {d}, {a};")
            return
        to, from_ = (self.rng.choice(("u16", "u32", "u64")) for _ in range(2))
        kinds = [self.rng.choice((t, t.replace("u", "s"))) for t in (to, from_)]
        if self.rng.random() < 0.3 and from_ != "u64":
            wide = {"u16": "u32", "u32": "u64"}[from_]
            operation = self.rng.choice(("mul.wide.{} {}, {}, {};", "mad.wide.{} {}, {}, {}, {};"))
            sources = self.source(from_), self.source(from_, immediate=True), self.source(wide)
            self.lines.append(operation.format(kinds[1], self.register(wide), *sources))
            return
        self.lines.append(f"cvt.{kinds[0]}.{kinds[1]} {self.register(to)}, {self.register(from_)};")

    def _set_predicate(self, target: str) -> None:
        type_ = self.rng.choice(("u32", "u32", "u64", "u16", "f32", "f64"))
        operator = self.rng.choice(("eq", "ne", "lt", "le", "gt", "ge"))
        if type_[0] == "u":
            type_ = self.rng.choice((type_, type_.replace("u", "s")))
        pool = type_.replace("s", "u")
        a, b = self.source(pool), self.source(pool, immediate=True)
        if self.rng.random() < 0.2 and target not in ("%p1", "%p2"):
            combine = self.rng.choice(("and", "or", "xor"))
            self.lines.append(
                f"setp.{operator}.{combine}.{type_} {target}|%p1, {a}, {b}, {self.predicate_or(target)};"
            )
            return
        self.lines.append(f"setp.{operator}.{type_} {target}, {a}, {b};")

    # ------------------------------------------------------------------------------------ control flow
    def _condition(self, uniform: bool) -> str:
        """A predicate in a register of its own; a uniform one is the same for the whole block."""
        self.counters += 1
        name = f"%p{10 + self.counters}"
        if uniform:
            value = self.rng.choice(("%r96", "%r97", "%r89", "%r95"))
            operator = self.rng.choice(("eq", "ne", "lt", "ge"))
            self.lines.append(f"setp.{operator}.u32 {name}, {value}, {self.rng.randrange(4)};")
        else:
            self._set_predicate(name)
        return name

    def _if(self, uniform: bool, depth: int) -> None:
        same = uniform and self.rng.random() < 0.5
        condition = self._condition(same)
        skip, end = self.new_label(), self.new_label()
        style = self.rng.random()
        negate, plain = self.rng.sample(("!", ""), 2)
        inside = uniform and same
        if style < 0.35:  # if
            self.lines.append(f"@{negate}{condition} bra {end};")
            self._statements(inside, depth + 1)
        elif style < 0.7:  # if, else
            self.lines.append(f"@{negate}{condition} bra {skip};")
            self._statements(inside, depth + 1)
            self.lines += [f"bra.uni {end};", f"{skip}:"]
            self._statements(inside, depth + 1)
        else:  # the body stands at the end of the text
            self.lines.append(f"@{plain}{condition} bra {skip};")
            if self.rng.random() < 0.5:
                self._statements(inside, depth + 1)
            self.lines.append(f"bra {end};" if self.rng.random() < 0.3 else "")
            here, self.lines = self.lines, [f"{skip}:"]
            self._statements(inside, depth + 1)
            self.lines.append(f"bra {end};")
            self.elsewhere.append(self.lines)
            self.lines = here
        self.lines.append(f"{end}:")

    def _loop(self, uniform: bool, depth: int) -> None:
        same = uniform and self.rng.random() < 0.5
        self.counters += 1
        counter, limit, test = (
            f"%r{100 + 2 * self.counters}",
            f"%r{101 + 2 * self.counters}",
            f"%p{10 + self.counters}",
        )
        mask = self.rng.choice((1, 3, 3, 7))
        bound = self.rng.choice(
            ("%r89", "%r96") if same else ("%r90", "%r93", self.register("u32"), self.register("u32"))
        )
        self.lines.append(
            f"and.b32 {limit}, {bound}, {mask};" if self.rng.random() < 0.8 else f"mov.u32 {limit}, {mask};"
        )
        top, head, end, next_ = self.new_label(), self.new_label(), self.new_label(), self.new_label()
        start = self.rng.choice(("0", "0", "1"))
        before, self.trips = self.trips, self.trips * (mask + 1)
        self.loops.append(_Loop(end, next_))
        self.lines.append(f"mov.u32 {counter}, {start};")
        if self.rng.random() < 0.5:  # test at the top
            self.lines += [
                f"{top}:",
                f"setp.ge.u32 {test}, {counter}, {limit};",
                f"@{test} bra {end};",
                f"{head}:",
            ]
            self._loop_body(same, depth, counter)
            self.lines += [f"{next_}:", f"add.u32 {counter}, {counter}, 1;", f"bra {top};", f"{end}:"]
        else:
            self.lines.append(f"{top}:")
            self._loop_body(same, depth, counter)
            self.lines += [f"{next_}:", f"add.u32 {counter}, {counter}, 1;"]
            self.lines += [f"setp.lt.u32 {test}, {counter}, {limit};", f"@{test} bra {top};", f"{end}:"]
        self.loops.pop()
        self.trips = before

    def _loop_body(self, uniform: bool, depth: int, counter: str) -> None:
        if self.rng.random() < 0.5:
            target = self.register("u32")
            self.lines.append(f"add.u32 {target}, {target}, {counter};")
        self._statements(uniform, depth + 1)

    def _leave_loop(self) -> None:
        condition = self._condition(uniform=False)
        loop = self.rng.choice(self.loops)
        self.lines.append(f"@{condition} bra {self.rng.choice((loop.end, self.loops[-1].next))};")

    def _return(self) -> None:
        if self.rng.random() < 0.5:
            self._store(*self._pick())
        condition = self._condition(uniform=False)
        self.lines.append(f"@{condition} {self.rng.choice(('ret', 'bra DONE', 'exit'))};")

    # ------------------------------------------------------------------------------------ memory
    def _load(self) -> None:
        type_ = self.rng.choice(list(POOLS))
        address = self._input_address(type_)
        space = self.rng.choice((".global", ".global", "", ".global.nc", ".volatile.global"))
        head = "ld.volatile.global" if "volatile" in space else f"ld{space}"
        self.lines.append(f"{head}.{type_} {self.register(type_)}, [{address}];")

    def _input_address(self, type_: str) -> str:
        """An address within the padded input of a type, in one of the ways that kernels compute them."""
        size = POOLS[type_][2]
        base = f"%rd{91 + list(INPUTS).index(type_)}"
        index, address = "%r88", "%rd89"
        shift = PAD * size
        self.input_index()
        if self.rng.random() < 0.4:
            self.lines.append(
                f"mul.wide.s32 {address}, {index}, {size}; add.s64 {address}, {base}, {address};"
            )
        elif self.rng.random() < 0.5:
            self.lines.append(
                f"cvt.s64.s32 {address}, {index}; shl.b64 {address}, {address}, {size.bit_length() - 1};"
            )
            self.lines.append(f"add.s64 {address}, {address}, {base};")
        else:
            self.lines.append(f"mad.wide.s32 {address}, {index}, {size}, {base};")
        return f"{address}+{shift}"

    def input_index(self) -> None:
        """Leave in r88 an index that inputs have, not counting what pads them."""
        mask = self.padded - 1
        index = "%r88"
        ways = (
            f"mov.u32 {index}, %r94;",
            f"mov.u32 {index}, %r93;",
            f"mov.u32 {index}, %r90;",
            f"mov.u32 {index}, %r96;",
            f"sub.u32 {index}, {mask}, %r94;",
            f"add.u32 {index}, %r94, {self.rng.randint(1, PAD)};",
            f"sub.u32 {index}, %r94, {self.rng.randint(1, PAD)};",
            f"shl.b32 {index}, %r94, {self.rng.choice((1, 2, 3))}; and.b32 {index}, {index}, {mask};",
            f"mul.lo.u32 {index}, %r90, {self.rng.choice((2, 3, 5, 7))}; and.b32 {index}, {index}, {mask};",
            f"rem.u32 {index}, {self.register('u32')}, {self.padded};",
            f"and.b32 {index}, {self.register('u32')}, {mask};",
            f"min.u32 {index}, {self.register('u32')}, {mask};",
            f"max.s32 {index}, {self.register('u32')}, 0; min.s32 {index}, {index}, {mask};",
        )
        self.lines.append(self.rng.choice(ways))

    def _store(self, type_: str, register: str) -> None:
        """A store to the thread's own element of a region of its own."""
        region = self.new_region(type_)
        self.own_element()
        space = self.rng.choice((".global", ".global", ""))
        self.lines.append(f"st{space}.{type_} [%rd89+{region}], {register};")

    def new_region(self, type_: str) -> int:
        """The first byte of a new region of the output."""
        self.outputs.append(type_)
        return (len(self.outputs) - 1) * self.padded * 8

    def own_element(self) -> None:
        """Leave in rd89 the address of an element of the output that no other thread has."""
        mask = self.padded - 1
        element = self.rng.choice(
            (
                "mov.u32 %r88, %r94;",
                "mov.u32 %r88, %r94;",
                f"sub.u32 %r88, {mask}, %r94;",
                f"xor.b32 %r88, %r94, {self.rng.randrange(self.padded)};",
                f"mul.lo.u32 %r88, %r94, {self.rng.choice((3, 5, 7))}; and.b32 %r88, %r88, {mask};",
                f"add.u32 %r88, %r94, {self.rng.randrange(self.padded)}; rem.u32 %r88, %r88, {self.padded};",
            )
        )
        # Elements are 8 bytes apart, so narrower ones are strided.
        self.lines.append(element + " mad.wide.u32 %rd89, %r88, 8, %rd90;")

    def _exchange(self) -> None:
        """All threads of the block give a value and take another thread's."""
        type_ = self.rng.choice(("u32", "u32", "u64", "f32"))
        size = POOLS[type_][2]
        wrap = 1 << (self.threads - 1).bit_length()
        taken = self.rng.choice(
            (
                f"add.u32 %r87, %r93, {self.rng.randrange(1, 40)}; rem.u32 %r87, %r87, {self.threads};",
                f"sub.u32 %r87, {self.threads - 1}, %r93;",
                f"xor.b32 %r87, %r93, 1; and.b32 %r87, %r87, {wrap - 1};",
                f"and.b32 %r87, {self.register('u32')}, {wrap - 1};",
                "mov.u32 %r87, %r89;",
            )
        )
        self.lines.append(f"mov.u32 %r86, buffer; mad.lo.u32 %r88, %r93, {size}, %r86;")
        self.lines.append(f"st.shared.{type_} [%r88], {self.register(type_)};")
        self.lines.append("bar.sync 0;")
        self.lines.append(f"{taken} mad.lo.u32 %r87, %r87, {size}, %r86;")
        self.lines.append(f"ld.shared.{type_} {self.register(type_)}, [%r87];")
        self.lines.append("bar.sync 0;")

    def block_of(self, uniform: bool, depth: int) -> None:
        """Some statements."""
        self._statements(uniform, depth)

    # ------------------------------------------------------------------------------------ operands
    def _pick(self) -> tuple[str, str]:
        type_ = self.rng.choice(list(POOLS))
        return type_, self.register(type_)

    def register(self, type_: str) -> str:
        """A variable of a type."""
        prefix, count, _ = POOLS[type_]
        return f"%{prefix}{self.rng.randint(1, count)}"

    def source(self, type_: str, immediate: bool = False) -> str:
        """A variable, or sometimes a constant or a fixed register."""
        if immediate and self.rng.random() < 0.35:
            if type_[0] == "f":
                return self.rng.choice(CONSTANTS[type_])
            return str(self.rng.choice((0, 1, 2, 3, 5, 7, 8, 16, 31, 100, 255, 1000)))
        if type_ == "u32" and self.rng.random() < 0.2:
            return self.rng.choice(("%r90", "%r93", "%r94", "%r96", "%r89"))
        return self.register(type_)

    def predicate(self) -> str:
        """A predicate variable."""
        return f"%p{self.rng.randint(1, PREDICATES)}"

    def predicate_or(self, other: str) -> str:
        """A predicate variable that has been set when `other` is being set the first time."""
        return f"{self.rng.choice(('', '!'))}%p{self.rng.choice((1, 2))}"

    def new_label(self) -> str:
        """A label that the text does not have yet."""
        self.labels += 1
        return f"L{self.labels}"
