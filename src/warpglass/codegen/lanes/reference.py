"""The reference implementation of isa/lanes.py: every value is a vector of 32 lanes, nothing is clever.

It stays as the oracle that the fast implementation (fast.py) is compared with, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...isa import Lanes
from ...isa.lanes import Fetch, Outline, Table, Update
from ...isa.specials import SPECIALS
from ...isa.types import bits, is_float
from ..builder import constant_vector, suffix, vector
from ..context import SLOT, WINDOWS
from ..machine.target import converts_half
from ..memory.access import Access
from ..memory.atomic_forms import Atomic
from ..memory.local import LocalMemory
from ..memory.textures import visited
from ..probes import Emission, Probe
from ..shape import BlockShape
from ..values.division import total_division
from ..values.operations import DIVISIONS
from ..values.specials import LANE_TABLES
from ..values.value import Value, literal
from .specials import scalar_special
from .tables import looked_up


class ReferenceLanes(Lanes[Value]):
    """Operations on vectors of all lanes, emitted as LLVM IR.

    `mask` is the name of the integer whose bits are the lanes that execute the current step.
    """

    def __init__(self, access: Access, local: LocalMemory, shape: BlockShape, probes: Sequence[Probe] = ()):
        self.builder = access.builder
        self.width = access.builder.width
        self.access = access
        self.local = local
        self.shape = shape
        self.probes = probes
        self.mask = "-1"
        self.outlines: dict[str, tuple[Outline, tuple[str, ...]]] = {}  # with the types of their operands
        if any(probe.refuses for probe in probes):
            access.refuse = self._refuse

    @property
    def converts_half(self) -> bool:
        return converts_half()

    # ------------------------------------------------------------------------------------ values
    def constant(self, type_: str, pattern: int) -> Value:
        text = literal(type_, pattern, bits(type_))
        return Value(type_, f"splat ({type_} {text})", constant=pattern & ((1 << bits(type_)) - 1))

    def type_of(self, a: Value) -> str:
        return a.type

    def as_vector(self, a: Value) -> Value:
        """The same value as a general vector."""
        return a

    def guard_like(self, a: Value, guarded: bool) -> Value:
        """The same value, with a guard if a register wants one."""
        return a

    def exact(self, a: Value) -> Value:
        """The same value, with the payload that each NaN stands for."""
        return a

    def exact_all(self, values: Sequence[Value]) -> list[Value]:
        """The same values, each exact."""
        return [self.exact(value) for value in values]

    def late(self, a: Value) -> bool:
        """Whether a value has yet to be made exact, which is cheaper for several values at once."""
        return False

    def apply(self, operation: str, *operands: Value) -> Value:
        if operation in DIVISIONS:
            a, b = operands
            return total_division(self, operation, a, b, lambda a, b: self.emit(operation, a, b))
        return self.emit(operation, *operands)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        return self.emit(f"{'fcmp' if is_float(a.type) else 'icmp'} {predicate}", a, b)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        return self.emit("select", condition, a, b)

    def convert(self, operation: str, a: Value, type_: str) -> Value:
        return self.emit(operation, a, type_=type_)

    def note_extended(self, a: Value) -> None:
        """A value from another block is a narrower integer that has been extended."""

    def look_up(self, table: Table, index: Value) -> Value:
        return Value(table.type, looked_up(self.builder, table, index.ir, self.width))

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        votes = self.builder.mask_bits(rare.ir)
        someone = self.builder.someone(votes)
        return self.around(someone, usual, lambda: self.emit("select", rare, other(), usual))

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        given = [self.as_vector(operand) for operand in operands]
        vector = self.builder.vector
        self.outlines[outline.name] = outline, tuple(value.type for value in given)
        whole = "{ " + ", ".join(vector(type_) for type_ in outline.results) + " }"
        found = self.builder.call(whole, f"wg_{outline.name}", [(vector(v.type), v.ir) for v in given])
        return tuple(
            Value(type_, self.builder.value(f"extractvalue {whole} {found}, {k}"))
            for k, type_ in enumerate(outline.results)
        )

    def around(self, someone: str, usual: Value, other: Callable[[], Value], *, lanes: int = 0) -> Value:
        """A branch around what is seldom needed; the lanes' values meet again behind it."""
        b = self.builder
        start, detour, back, join = b.label("usual"), b.label("rare"), b.label("back"), b.label("join")
        b.jump(start)
        b.place(start)
        b.branch(someone, detour, join, unlikely=True)
        b.place(detour)
        value = other()
        b.jump(back)
        b.place(back)
        b.jump(join)
        b.place(join)
        whole = vector(value.type, lanes or self.width)
        return Value(value.type, b.phi(whole, (usual.ir, start), (value.ir, back)))

    # ------------------------------------------------------------------------------------ the machine
    def special(self, name: str) -> Value:
        register, _, axis = name.partition(".")
        b = self.builder
        if register == "tid" and axis != "w":
            where = b.offset("%threads_of_warp", self.shape.table_offset(axis))
            return Value("i32", b.load(b.vector("i32"), where, ", align 64"))
        if register in LANE_TABLES:
            return self.lane_constants("i32", LANE_TABLES[register])
        return self._splat(SPECIALS[name], scalar_special(b, self.shape, name))

    def window(self, space: str) -> Value:
        return self.constant("i64", WINDOWS.get(space, 0))

    def load(self, space: str, address: Value, type_: str, count: int, volatile: bool) -> tuple[Value, ...]:
        if space == "param":
            return tuple(
                self._splat(type_, name) for name in self.access.load_parameter(address, type_, count)
            )
        space, address = self.reached(space, address)
        site = self.announce(space, False, address, type_, count)
        if space == "local":
            return tuple(
                Value(type_, name) for name in self.local.load(site, address, type_, count, self.mask)
            )
        names = self.access.load_vector(site, address.ir, type_, count, self.mask)
        return self.show_loaded(site, tuple(Value(type_, name) for name in names))

    def reached(self, space: str, address: Value) -> tuple[str, Value]:
        """The space and address of an access: generic ones where shared addresses name a block."""
        if space != "shared" or not self.shape.ranked:
            return space, address
        return "generic", self.add(address, self.window("shared"))

    def store(self, space: str, address: Value, values: tuple[Value, ...], volatile: bool) -> None:
        space, address = self.reached(space, address)
        site = self.announce(space, True, address, values[0].type, len(values), values)
        if space == "local":
            self.local.store(site, address, values[0].type, [v.ir for v in values], self.mask)
            return
        self.access.store_vector(site, address.ir, values[0].type, [v.ir for v in values], self.mask)

    def announce(
        self,
        space: str,
        write: bool,
        address: Value,
        type_: str,
        count: int,
        values: tuple[Value, ...] = (),
    ) -> int:
        """Register an access and let the probes see it; returns the site's number."""
        site = self.access.new_site(space, write, bits(type_) // 8 * count)
        for probe in self.probes:
            probe.access(Emission(self, self.mask, values), self.access.sites[site], address)
        return site

    def show_loaded(self, site: int, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """Let the probes see what an access has read; returns it."""
        for probe in self.probes:
            probe.loaded(Emission(self, self.mask, values), self.access.sites[site])
        return values

    def _refuse(self, site: int) -> None:
        """Tell the probes of lanes that may not make an access."""
        for probe in self.probes:
            probe.refused(Emission(self, self.mask), self.access.sites[site], site)

    def atomic(self, space: str, operation: str, address: Value, operands: tuple[Value, ...]) -> Value:
        return self._replace(space, operation, address, (operands,))[0]

    def update(
        self, space: str, change: Update, address: Value, given: Sequence[tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        return self._replace(space, change, address, given)

    def _replace(
        self, space: str, change: str | Update, address: Value, given: Sequence[tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        type_ = given[0][-1].type
        space, address = self.reached(space, address)
        atomic = Atomic(change, type_, len(given), len(given[0]))
        site = self.announce(space, atomic.writes, address, type_, len(given))
        names = [[self.as_vector(operand).ir for operand in operands] for operands in given]
        old = self.access.atomic(site, atomic, self.as_vector(address).ir, names, self.mask)
        return self.show_loaded(site, tuple(Value(type_, name) for name in old))

    def fetch(self, fetch: Fetch, handle: Value, operands: Sequence[Value]) -> tuple[Value, ...]:
        given = [self.as_vector(self.exact(one)) for one in (handle, *operands)]
        traced = bool(self.probes)
        site = self.access.new_site("texture", fetch.writes, 8)
        names = self.access.fetch(site, fetch, given, self.mask, traced=traced)
        if traced:
            self._announce_texels(fetch)
        return tuple(Value(type_, name) for type_, name in zip(fetch.results, names, strict=True))

    def _announce_texels(self, fetch: Fetch) -> None:
        """Let the probes see the texels that lanes have read or written.

        Their size is known at run time: of those of four bytes and more, the first four stand for all.
        """
        b = self.builder
        sizes = Value("i64", b.load(b.vector("i64"), visited(b, fetch.texels), ", align 8"))
        places = [
            Value("i64", b.load(b.vector("i64"), visited(b, k), ", align 8")) for k in range(fetch.texels)
        ]
        zero, wide = (self.as_vector(self.constant("i64", one)) for one in (0, 4))
        for address in places:
            seen = self.compare("ne", address, zero)
            for type_, fits in (("i8", "ult"), ("i32", "uge")):
                with self.only(self.and_(seen, self.compare(fits, sizes, wide))):
                    self.announce("global", fetch.writes, address, type_, 1)

    @contextmanager
    def only(self, condition: Value) -> Iterator[None]:
        b = self.builder
        outer, inner = self.mask, b.votes(self.as_vector(condition).ir, self.mask)
        inside, behind = b.label("only"), b.label("behind")
        b.branch(b.someone(inner), inside, behind)
        b.place(inside)
        self.mask = inner
        yield
        self.mask = outer
        b.jump(behind)
        b.place(behind)

    def system(self, name: str, result: str, operands: tuple[Value, ...]) -> Value:
        site = self.access.new_site("system", False, 0)
        names = [self.as_vector(self.extend(operand, "i64", signed=False)).ir for operand in operands]
        words = Value("i64", self.access.call_system(site, name, names, self.mask))
        return words if result == "i64" else self.emit("trunc", words, type_=result)

    def arrive(self, barrier: Value, count: Value | None, predicate: Value | None, wait: bool) -> None:
        number = self.one_of(barrier)
        expected = None if count is None else self.one_of(count)
        for probe in self.probes:
            probe.arrive(Emission(self, self.mask), number, expected, wait=wait)
        args = [
            ("ptr", "%context"),
            ("i32", "%warp"),
            ("i32", number),
            ("i32", expected or "0"),
            ("i32", self.mask),
            ("i32", self.one_of(self.ballot(predicate)) if predicate is not None else "0"),
            ("i1", "true" if wait else "false"),
        ]
        self.builder.call("void", "wg_arrive", args)

    def cluster_phase(self, arrives: bool) -> Value:
        b = self.builder
        barrier = b.load("ptr", b.offset("%context", 8 * SLOT["cluster"]))
        if arrives:
            arrived = b.offset(barrier, 4)
            here = b.call("i32", "llvm.ctpop.i32", [("i32", self.mask)])
            b.store("i32", b.value(f"add i32 {b.load('i32', arrived)}, {here}"), arrived)
        return self.everywhere("i32", b.load("i32", barrier))

    def barrier_votes(self, barrier: Value) -> tuple[Value, Value]:
        args = [("ptr", "%context"), ("i32", "%warp"), ("i32", self.one_of(barrier))]
        both = self.builder.call("i64", "wg_barrier_votes", args)
        everyone = self.builder.value(f"lshr i64 {both}, 32")
        counts = [self.builder.value(f"trunc i64 {name} to i32") for name in (both, everyone)]
        return self.everywhere("i32", counts[0]), self.everywhere("i32", counts[1])

    def one_of(self, a: Value) -> str:
        """A value that is the same in all active lanes, as a scalar."""
        within = self.builder.value(f"and i64 {self.builder.first_lane(self.mask)}, {self.width - 1}")
        return self.builder.value(f"extractelement {self.builder.vector(a.type)} {a.ir}, i64 {within}")

    def everywhere(self, type_: str, scalar: str) -> Value:
        """A scalar as the value of all lanes."""
        return self._splat(type_, scalar)

    # ------------------------------------------------------------------------------------ across lanes
    def known(self, a: Value) -> int | None:
        return None

    def lane_constants(self, type_: str, patterns: tuple[int, ...]) -> Value:
        width = bits(type_)
        return Value(type_, constant_vector(type_, (literal(type_, pattern, width) for pattern in patterns)))

    def permute(self, a: Value, sources: tuple[int, ...]) -> Value:
        self.note_exchange(self.lane_constants("i32", sources))
        return Value(a.type, self.builder.shuffle(a.type, 32, a.ir, sources))

    def shuffle(self, a: Value, source: Value) -> Value:
        self.note_exchange(source)
        lane = self.emit("and", source, self.as_vector(self.constant("i32", 31)))
        return Value(a.type, self.access.shuffle(a.type, a.ir, lane.ir))

    def note_exchange(self, sources: Value) -> None:
        """Let the probes see which lanes are read."""
        for probe in self.probes:
            probe.exchange(Emission(self, self.mask), sources)

    def active(self) -> Value:
        return self._splat("i32", self.mask)

    def ballot(self, predicate: Value) -> Value:
        return self._splat("i32", self.builder.votes(predicate.ir, self.mask))

    def mask_predicate(self, mask: Value) -> Value:
        one = self.builder.value(f"extractelement <32 x i32> {mask.ir}, i32 0")
        return Value("i1", self.builder.mask_vector(one))

    def reduce(self, operation: str, a: Value) -> Value:
        return self._splat(a.type, self._reduced(operation, a))

    def _reduced(self, operation: str, a: Value) -> str:
        name = f"llvm.vector.reduce.{operation}.{suffix(a.type)}"
        return self.builder.call(a.type, name, [(vector(a.type), a.ir)])

    def equal_lanes(self, a: Value) -> Value:
        whole = vector(a.type)
        found = "zeroinitializer"
        for lane in range(32):
            one = self.builder.value(f"extractelement {whole} {a.ir}, i32 {lane}")
            same = self.builder.value(f"icmp eq {whole} {a.ir}, {self.builder.splat(a.type, one)}")
            mask = self.builder.mask_bits(same)
            found = self.builder.value(f"insertelement <32 x i32> {found}, i32 {mask}, i32 {lane}")
        return Value("i32", found)

    def _splat(self, type_: str, scalar: str) -> Value:
        return Value(type_, self.builder.splat(type_, scalar))

    # ------------------------------------------------------------------------------------ emission

    def emit(self, name: str, *operands: Value, type_: str = "", lanes: int = 0) -> Value:
        """One LLVM instruction on vectors, or on so many lanes.

        `name` is that of an operation as `apply` has it, `icmp` or `fcmp` with a predicate, `select`, or a
        conversion to `type_`.
        """
        lanes = lanes or self.width
        have, texts = operands[-1].type, [operand.ir for operand in operands]
        whole = vector(have, lanes)
        if name == "select":
            condition, a, b = texts
            text = f"select {vector('i1', lanes)} {condition}, {whole} {a}, {whole} {b}"
        elif type_ and not name.startswith("llvm."):
            text = f"{name} {whole} {texts[0]} to {vector(type_, lanes)}"
        elif name.startswith("llvm."):
            return self._call(name, texts, have, type_, lanes)
        else:
            text = f"{name} {whole} {', '.join(texts)}"
        return Value("i1" if name[1:4] == "cmp" else type_ or have, self.builder.value(text))

    def _call(self, name: str, texts: Sequence[str], have: str, type_: str, lanes: int) -> Value:
        whole, want = vector(have, lanes), vector(type_ or have, lanes)
        args = [(whole, text) for text in texts]
        if name in ("llvm.ctlz", "llvm.cttz"):
            args.append(("i1", "false"))
        overload = f"{suffix(type_, lanes)}.{suffix(have, lanes)}" if type_ else suffix(have, lanes)
        return Value(type_ or have, self.builder.call(want, f"{name}.{overload}", args))
