"""Loads and stores of a warp: the check that every access passes, and the host memory behind it.

Kernels see virtual device addresses. Each access site remembers the range it last hit: first address, number
of whole elements, and the distance to host memory. An address a belongs to it if

    rotate_right(a - low, log2(size)) < limit

for an access of `size` bytes: one comparison that fails for addresses outside and for misaligned ones, whose
low bits the rotation moves to the top. What fails goes to a helper (runtime.py) that serves the lanes one by
one, searching all ranges, remembers where it ended, and records a fault for a lane that may not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...isa.lanes import Fetch
from ...isa.types import BITS
from ..builder import Arg, Builder, vector
from ..context import SHARED_WINDOW, SITE_WORDS, SLOT, service_code
from ..values.value import Value
from .atomic_forms import Atomic, RowChange
from .gather_scatter import outside_range
from .prefetch import Prefetch
from .row_stores import RowStores
from .sites import DECLARED, Bounds, Site
from .streaming import RunType
from .structures import Structure
from .textures import Requested
from .tiles import Tiles
from .unchecked import Unchecked

_SPELLED = 32
_SEGMENTED = 192


class Access(Unchecked):
    """Emits the accesses of one warp function.

    `sites` lists them in order; `gathers` (types), `reaches` (type, whether it writes), `rows` and `atomics`
    (by name) are further outlined functions that are called.
    """

    def __init__(self, builder: Builder):
        super().__init__(builder)
        self.sites: list[Site] = []
        self.gathers: set[str] = set()
        self.rows: dict[str, RowChange] = {}
        self.reaches: set[tuple[str, bool]] = set()
        self.atomics: dict[str, Atomic] = {}
        self.deferred: frozenset[int] = frozenset()  # steps of sums that may be left for a block's end
        self.fetches_of_objects: dict[str, Requested] = {}
        self.streaming: frozenset[int] = frozenset()  # steps whose stores may go past the caches
        self.prefetches: Mapping[int, Prefetch] = {}  # what loads of neighbours ask for, by their steps
        self.tiles = Tiles()  # the rows along which lanes walk
        self.row_stores = RowStores()  # those along which they store
        self.masks_boundaries = False  # whether accesses across the end of shared memory are masked
        self.by_segments = False  # whether lanes in a few places far apart have an access for each
        self.uses_streaming = False  # whether some stores do
        self.runs: set[RunType] = set()  # of which functions store some that begin between lines
        self._spelled = 0  # accesses that are written out lane by lane
        self._segmented = 0  # accesses that are written out place by place
        self.step = 0
        self.fault_label = "fault"
        # In functions for several steps: the i64 that says which site their first one is.
        self.first_site: str | None = None
        # Emits what is to be done where an access of some lanes was refused; None: the kernel stops.
        self.refuse: Callable[[int], None] | None = None
        # Steps whose accesses are known to lie within a range, and the sites that have found it; or, where
        # they may not (merged_checks.py), sites of steps that are to be served by functions.
        self.proven: Mapping[int, Bounds] = {}
        self.placed: Mapping[int, tuple[str, int]] = {}  # the scalar of another address, and how far from it
        self.words: Mapping[int, tuple[int, int]] = {}  # where words begin that narrow loads share; when
        self.loaded_words: dict[tuple[str, int, int], str] = {}  # those of all lanes that were loaded
        self.structures: Mapping[int, Structure] = {}  # what steps access elements of, several for each lane
        self.loaded_fields: dict[int, list[list[str]]] = {}  # the registers of all elements, by the last step
        self.stored_fields: dict[
            tuple[int, int], list[str]
        ] = {}  # those to be stored by it, by their numbers
        self.found_tiles: dict[tuple[int, str], str] = {}  # where loads of one base are in a tile
        self.loaded_columns: dict[tuple[int, str, int], str] = {}  # what was loaded there, by tile and place
        # Vectors of bytes that were cut out of words: these words, and the byte's place in each.
        self.parts_of_words: dict[str, tuple[str, int]] = {}
        self.row_places: dict[tuple[int, ...], int] = {}  # the numbers of tables of lanes' places
        self.tile_units: set[int] = set()  # the functions that fill tiles, by the size of their elements
        self.declared = False  # whether active lanes' addresses are known to be declared shared memory
        self.finders: Mapping[int, int] = {}
        self.apart: Mapping[int, int | None] = {}
        self.reach: dict[int, int] = {}  # elements that the lanes of a site reach, where it is one check

    def spells_out(self) -> bool:
        """Whether one more access may be written out lane by lane: each takes as much code as ten others."""
        self._spelled += 1
        return self._spelled <= _SPELLED

    def spells_segments(self) -> bool:
        """Whether one more access may have an instruction for each place where its lanes lie side by side."""
        self._segmented += self.by_segments
        return self.by_segments and self._segmented <= _SEGMENTED

    def cut_out(self, wide: str, words: str, type_: str, place: int) -> str:
        """A narrow element of each of all lanes' words of a type, so many bytes behind their beginnings."""
        b, narrow = self.builder, f"i{BITS[type_]}"
        moved = b.value(f"lshr {b.vector(wide)} {words}, {b.splat(wide, str(8 * place))}") if place else words
        part = b.value(f"trunc {b.vector(wide)} {moved} to {b.vector(narrow)}")
        if type_ != narrow:
            return b.value(f"bitcast {b.vector(narrow)} {part} to {b.vector(type_)}")
        if (wide, narrow) == ("i32", "i8"):
            self.parts_of_words[part] = words, place
        return part

    # ------------------------------------------------------------------------------------ parameters
    def load_parameter(self, address: Value, type_: str, count: int) -> list[str]:
        """Scalars from the kernel's parameter block; the address is a constant byte offset."""
        assert address.constant is not None, "parameters are addressed by constants"
        b = self.builder
        size = BITS[type_] // 8
        return [
            b.load(
                type_,
                b.offset("%parameters", address.constant + k * size),
                f", align {size}, !invariant.load !0",
            )
            for k in range(count)
        ]

    # ------------------------------------------------------------------------------------ checks
    def new_site(self, space: str, write: bool, size: int) -> int:
        """Register an access of the current step; returns the site's number."""
        known = self.apart.get(self.step)
        if known is not None:
            return known
        self.sites.append(Site(self.step, space, write, size))
        return len(self.sites) - 1

    def number_of(self, site: int) -> str:
        """A site's number as an i64."""
        if self.first_site is None:
            return str(site)
        return self.builder.value(f"add i64 {self.first_site}, {site}")

    def word_of(self, site: int) -> str:
        """Where a site's words begin in their table, in bytes, as an i64."""
        if self.first_site is None:
            return str(site * SITE_WORDS * 8)
        return self.builder.value(f"mul i64 {self.number_of(site)}, {SITE_WORDS * 8}")

    def bounds(self, site: int) -> Bounds:
        """The range that an access is checked against first."""
        b = self.builder
        size = self.sites[site].size
        if self.sites[site].space == "shared":
            limit = b.value(f"lshr i64 %shared_size, {size.bit_length() - 1}")
            return Bounds("0", limit, "%shared_address")
        where = b.offset("%sites", self.word_of(site))
        return Bounds(
            b.load("i64", where), b.load("i64", b.offset(where, 8)), b.load("i64", b.offset(where, 16))
        )

    def behind(self, site: int) -> str:
        """How many elements behind the first one that the lanes of a site reach are within its last limit."""
        return str(self.reach.get(site, 1) - 1)

    def _check_vector(self, site: int, address: str, mask: str, *, behind: int = 0) -> tuple[str, Bounds]:
        """An i1 that holds if an active lane, or an element `behind` it, is outside the range, and that."""
        if self.declared:
            return "false", DECLARED
        bounds = self.bounds(site)
        limit, size = bounds.limit, self.sites[site].size
        if behind:
            limit = self.builder.intrinsic("usub.sat", "i64", limit, str(behind))
        return outside_range(self.builder, address, bounds.low, limit, size, mask), bounds

    # ------------------------------------------------------------------------------------ vectors
    def load_vector(self, site: int, address: str, type_: str, count: int, mask: str) -> list[str]:
        """`count` neighbouring elements from any addresses (vectors of i64); inactive lanes get zero."""
        bad, bounds = self._check_vector(site, address, mask)
        return self.load_either(
            bad,
            self.builder.vector(type_),
            lambda: self.gather(address, bounds.delta, type_, count, mask),
            lambda: self.load_slowly(site, address, type_, count, mask),
        )

    def store_vector(self, site: int, address: str, type_: str, values: list[str], mask: str) -> None:
        """Neighbouring elements to any addresses (vectors of i64); the highest lane wins a shared address."""
        bad, bounds = self._check_vector(site, address, mask)
        self.store_either(
            bad,
            lambda: self.scatter(address, bounds.delta, type_, values, mask),
            lambda: self.store_slowly(site, address, type_, values, mask),
        )

    def load_either(
        self,
        bad: str,
        type_: str,
        quick: Callable[[], list[str]],
        careful: Callable[[], tuple[list[str], str]],
    ) -> list[str]:
        """What `quick` loads or, if the check has failed, `careful`, which also says where it comes from."""
        b = self.builder
        if bad == "false":
            return quick()
        if bad == "true":
            return careful()[0]
        fast, slow, join = b.label("fast"), b.label("slow"), b.label("join")
        b.branch(bad, slow, fast, unlikely=True)
        b.place(fast)
        usual, from_fast = quick(), b.block
        b.jump(join)
        b.place(slow)
        served, from_slow = careful()
        b.jump(join)
        b.place(join)
        return [b.phi(type_, (x, from_fast), (y, from_slow)) for x, y in zip(usual, served, strict=True)]

    def store_either(self, bad: str, quick: Callable[[], object], careful: Callable[[], object]) -> None:
        """Store by `quick` or, if the check has failed, by `careful`."""
        b = self.builder
        if bad in ("false", "true"):
            (quick if bad == "false" else careful)()
            return
        fast, slow, join = b.label("fast"), b.label("slow"), b.label("join")
        b.branch(bad, slow, fast, unlikely=True)
        b.place(fast)
        quick()
        b.jump(join)
        b.place(slow)
        careful()
        b.jump(join)
        b.place(join)

    # ------------------------------------------------------------------------------------ one by one
    def load_slowly(
        self, site: int, address: str, type_: str, count: int, mask: str
    ) -> tuple[list[str], str]:
        """Serve each lane on its own; returns the elements and the label that they come from."""
        b = self.builder
        b.store(vector(type_, b.width * count), "zeroinitializer", "%lane_buffer", ", align 64")
        label = self._serve(site, address, mask)
        whole = b.load(vector(type_, b.width * count), "%lane_buffer", ", align 64")
        return [self._every(whole, type_, count, k) for k in range(count)], label

    def store_slowly(self, site: int, address: str, type_: str, values: list[str], mask: str) -> str:
        """Serve each lane on its own; returns the label where control goes on."""
        b = self.builder
        whole = b.interleaved(type_, values, b.width)
        b.store(vector(type_, b.width * len(values)), whole, "%lane_buffer", ", align 64")
        return self._serve(site, address, mask)

    def _serve(self, site: int, address: str, mask: str) -> str:
        info = self.sites[site]
        generic = self._keep_addresses(site, address)
        args = [
            ("ptr", "%context"),
            ("i64", self.number_of(site)),
            ("i64", str(info.size)),
            ("i64", self.behind(site)),
            generic,
            self.mask_for_helper(mask),
            ("ptr", "%lane_addresses"),
            ("ptr", "%lane_buffer"),
        ]
        return self._call_or_fault("wg_store_lanes" if info.write else "wg_load_lanes", args, site)

    def mask_for_helper(self, mask: str) -> Arg:
        """A mask as the functions take it that serve lanes one by one."""
        return self.builder.lanes, mask

    def _keep_addresses(self, site: int, address: str) -> Arg:
        """Put the lanes' generic addresses where helpers read them; whether windows count, for the helper."""
        b = self.builder
        space = self.sites[site].space
        if space == "shared":
            address = b.value(f"add {b.vector('i64')} {address}, splat (i64 {SHARED_WINDOW})")
        b.store(b.vector("i64"), address, "%lane_addresses", ", align 64")
        return "i1", "true" if space in ("generic", "shared") else "false"

    def _call_or_fault(self, helper: str, args: list[Arg], site: int | None = None) -> str:
        """Call a helper that returns true after a fault; the label where control goes on otherwise.

        `site` is that of an access which may be refused to some lanes.
        """
        b = self.builder
        failed = b.call("i1", helper, args)
        on = b.label("served")
        if site is None or self.refuse is None:
            b.branch(failed, self.fault_label, on, unlikely=True)
        else:
            refused = b.label("refused")
            b.branch(failed, refused, on, unlikely=True)
            b.place(refused)
            self.refuse(site)
            b.jump(on)
        b.place(on)
        return on

    def call_system(self, site: int, name: str, operands: list[str], mask: str) -> str:
        """Let the engine serve a call of the CUDA runtime; operands and result are vectors of i64."""
        b = self.builder
        for k, operand in enumerate(operands):
            b.store(b.vector("i64"), operand, b.offset("%lane_buffer", 256 * k), ", align 64")
        wide = {part: b.value(f"zext i32 %{part} to i64") for part in ("ctaid_x", "ctaid_y", "ctaid_z")}
        rows = b.value(f"mul i64 {wide['ctaid_z']}, {b.value('zext i32 %nctaid_y to i64')}")
        row = b.value(f"add i64 {rows}, {wide['ctaid_y']}")
        first = b.value(f"mul i64 {row}, {b.value('zext i32 %nctaid_x to i64')}")
        args = [
            ("ptr", "%context"),
            ("i64", self.number_of(site)),
            ("i64", str(service_code(name))),
            (b.lanes, mask),
            ("i32", "%warp"),
            ("i64", b.value(f"add i64 {first}, {wide['ctaid_x']}")),
            ("ptr", "%lane_buffer"),
        ]
        self._call_or_fault("wg_system", args)
        return b.load(b.vector("i64"), "%lane_buffer", ", align 64")

    def fetch(self, site: int, fetch: Fetch, given: Sequence[Value], mask: str, *, traced: bool) -> list[str]:
        """What the objects at handles, the first of `given` (vectors), make of the others."""
        b = self.builder
        requested = Requested(fetch, tuple(value.type for value in given), traced)
        self.fetches_of_objects[fetch.name] = requested
        for value, place in zip(given, requested.operand_places, strict=True):
            b.store(b.vector(value.type), value.ir, b.offset("%lane_buffer", place), ", align 64")
        b.store(b.vector("i64"), given[0].ir, "%lane_addresses", ", align 64")
        args = [("ptr", "%context"), ("i64", self.number_of(site)), (b.lanes, mask), ("ptr", "%lane_buffer")]
        self._call_or_fault(requested.function, args, site)
        return [
            b.load(b.vector(type_), b.offset("%lane_buffer", place), ", align 64")
            for type_, place in zip(fetch.results, requested.result_places, strict=True)
        ]

    def fail(self, site: int, address: str, lanes: str) -> None:
        """Stop: the lowest of some lanes (a mask, not zero) may not access its generic address."""
        self._note_fault(site, address, lanes)
        self.builder.jump(self.fault_label)

    def _note_fault(self, site: int, address: str, lanes: str) -> None:
        b = self.builder
        b.store(b.vector("i64"), address, "%lane_addresses", ", align 64")
        wide = b.first_lane(lanes)
        found = b.load("i64", b.value(f"getelementptr i64, ptr %lane_addresses, i64 {wide}"))
        words = {"fault_site": self.number_of(site), "fault_lane": wide, "fault_address": found}
        for word, value in words.items():
            b.store("i64", value, b.offset("%context", 8 * SLOT[word]))

    def leave_out(self, site: int, address: str, lanes: str) -> None:
        """Go on without some lanes (a mask, not zero), which may not access their generic addresses."""
        assert self.refuse is not None, "an observer wants it"
        self._note_fault(site, address, lanes)
        b = self.builder
        b.store("i64", b.value(f"zext i32 {lanes} to i64"), b.offset("%context", 8 * SLOT["refused"]))
        self.refuse(site)

    def _every(self, whole: str, type_: str, count: int, first: int) -> str:
        b = self.builder
        if count == 1:
            return whole
        return b.shuffle(type_, b.width * count, whole, range(first, b.width * count, count))

    # ------------------------------------------------------------------------------------ atomics, shuffles
    def atomic(
        self, site: int, atomic: Atomic, address: str, given: Sequence[Sequence[str]], mask: str
    ) -> list[str]:
        """Replace the elements at any addresses (<32 x i64>) in lane order; returns the old ones.

        `given` has the operands of each element.
        """
        b = self.builder
        generic = self._keep_addresses(site, address)
        buffers = ["%lane_buffer", b.offset("%lane_buffer", 32 * b.width)]
        size, whole = BITS[atomic.type] // 8 * b.width, b.vector(atomic.type)
        places = [[b.offset(buffer, k * size) for buffer in buffers] for k in range(atomic.count)]
        for values, kept in zip(given, places, strict=True):
            for value, place in zip(values, kept, strict=False):
                b.store(whole, value, place, ", align 64")
        self.atomics[atomic.name] = atomic
        args = [
            ("ptr", "%context"),
            ("i64", self.number_of(site)),
            generic,
            self.mask_for_helper(mask),
            ("ptr", "%lane_addresses"),
            ("ptr", buffers[0]),
            ("ptr", buffers[1]),
        ]
        self._call_or_fault(atomic.name, args, site)
        return [b.load(whole, kept[0], ", align 64") for kept in places]

    def shuffle(self, type_: str, value: str, lane: str) -> str:
        """The value of the lane that each lane names (<32 x i32>, below 32)."""
        b = self.builder
        b.store(b.vector(type_), value, "%lane_buffer", ", align 64")
        pointers = b.value(f"getelementptr {type_}, ptr %lane_buffer, <32 x i32> {lane}")
        return self.gather_one(pointers, type_, "-1")
