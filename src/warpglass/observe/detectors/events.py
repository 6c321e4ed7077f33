"""The probe of the checker: calls of the compiled detectors at every event that they want.

Worker words: the state's address and the functions' addresses, which the checker puts there before a launch,
and room for lanes' addresses, values and masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...codegen import Emission, Probe, Words
from ...codegen.builder import constant_vector
from ...codegen.context import BARRIER_WORDS, SLOT, START
from ...codegen.memory.access import Site
from ...codegen.values.value import Offsets, Value
from ...isa.ordering import Ordering, ordering_of
from ...isa.types import integer_of
from ...program import Barrier, Block, Exit, Program, Step, Trap
from ...program.pointers import MEMORY, OWN, Base, find_bases
from ...ptx import tree
from . import fast_atomic, layout, native
from .carried import Carried
from .copies import EVERY_GROUP
from .fast import DECLARATIONS, Seen, Test
from .fast_any import any_test
from .fast_apart import apart
from .fast_barrier import meet_at_gate, next_phase, open_interval
from .fast_journal import DECLARATIONS as ENTERING_DECLARATIONS
from .fast_journal import Entering, function, name_of, table
from .fast_mixed import put_stamp
from .fast_run import run_test
from .uses import compared_loads, deciding_updates, uses_of_loads

_ROOM = 32  # words for one value of every lane
# Instructions that need a value of every lane in their mask. A vote or a warp barrier does without lanes that
# have ended.
_EXCHANGES = ("shuffle", "lane reduction")


class DetectorProbe(Probe):
    """Emits the calls; `places` has the step of each place in the program, by number."""

    alone = True  # blocks follow one another on one thread
    any_order = True  # stamps have a block's place in their order

    def prepare(self, program: Program, words: Words) -> None:
        self.program = program
        self._words = words
        self.state = words.take(1)
        self.functions = {name: words.take(1) for name in (*native.NAMES, "order")}
        self._addresses, self._values, self._members = (words.take(_ROOM) for _ in range(3))
        self.places: list[Step | None] = [None]
        self._numbers: dict[object, int] = {}
        self.steps = {step.number: step for block in program.blocks for step in block.all_steps}
        self.orderings = {number: ordering_of(step.match) for number, step in self.steps.items()}
        self._used = uses_of_loads(program)
        self._deciding = deciding_updates(program)
        self._compared = compared_loads(program)
        names = frozenset(variable.name for variable in program.variables)
        self._bases = find_bases(program.blocks, program.registers, names)
        self.stores: set[frozenset[Base]] = set()  # the bases of stores' addresses
        self.loads: dict[frozenset[Base], int] = {}  # of loads', numbered; of each a word in `passes`
        self.passes = words.take(layout.PASS_WORDS)
        self.carried = Carried(self._used, words, self._call, self.place_of)
        self.follows = any(self._used.stored(step) for step in self.steps.values())
        self._leads_to_barrier = _leads_to_barrier(program.blocks)
        self.uncounted = not any(_counts(block) for block in program.blocks)
        barriers = [block.end.step for block in program.blocks if isinstance(block.end, Barrier)]
        self._gates = {_lines_of(step): step for step in reversed(barriers)}  # the first step of each barrier
        self.copies: set[int] = set()  # places of asynchronous copies
        self._copying = any(step.match.row.access == "copy" for step in self.steps.values())
        # Whether shared memory has a journal: all barriers are the whole block's, copies are done at once.
        self.journals = self.uncounted and not self._copying
        self._tests: set[Test] = set()
        self._forgets = False  # whether some operations may be forgotten
        self.met_regions: list[int] = []  # words, by test: the row of the region that it met last
        self._entering: set[Entering] = set()
        self._patterns: dict[Offsets, int] = {}
        self._met: dict[int, str] = {}  # step -> where its member masks are
        # Whether anything but barriers orders threads: then host code follows who knows of whom.
        self.communicates = any(one.fence or (one.orders and one.strong) for one in self._fencing())

    def _fencing(self) -> list[Ordering]:
        """Fences, and accesses that are fences themselves."""
        return [one for one in self.orderings.values() if one.fence or one.releases]

    # ------------------------------------------------------------------------------------ events
    def block(self, at: Emission, index: int, block: Block) -> None:
        if index != 0:
            return
        b = at.builder
        fresh, on = b.label("fresh"), b.label("begun")
        b.branch(b.value(f"icmp eq i32 %state, {START}"), fresh, on)
        b.place(fresh)
        self._call(at, "begin", self._place_of_block(at), self._warp(at), self._wide(at, at.mask))
        b.jump(on)
        b.place(on)

    def access(self, at: Emission, site: Site, address: Value) -> None:
        if site.space not in layout.SPACES:
            return
        step = self.steps[site.step]
        ordering = self.orderings[site.step]
        copies = site.write and step.match.row.access == "copy"
        place = self.place_of(step, "copy" if copies else "")
        if copies:
            self.copies.add(place)
            self.place_of(step, "copied")  # the next one: what it is once it has been waited for
        if step.control == "copy-arrive":
            self._wait_copies(at, EVERY_GROUP)
        strong = layout.VOLATILE if site.step in self._compared else strength(ordering)
        loaded = {} if site.write else self._used.loaded(step)
        values, element = "0", site.size
        if at.values:
            element = max(1, site.size // len(at.values))
        else:
            element = self._used.element(site.step, site.size)
        whole = len(at.values) == 1 and site.size <= 8
        if whole:
            value = at.lanes.as_vector(at.values[0])
            pattern = at.lanes.extend(at.lanes.bitcast(value, integer_of(value.type)), "i64", signed=False)
            values = self._keep(at, self._values, at.lanes.as_vector(pattern).ir)
        info = (
            site.size << layout.SIZE_FIELD
            | int(site.write) << layout.WRITE_FIELD
            | strong << layout.STRENGTH_FIELD
            | layout.SPACES[site.space] << layout.SPACE_FIELD
            | place << layout.PLACE_FIELD
            | int(ordering.atomic and ordering.reads) << layout.UPDATE_FIELD
            | int(whole) << layout.VALUE_FIELD
            | int(copies) << layout.COPY_FIELD
            | int(site.step in self._deciding) << layout.MET_FIELD
            | int(bool(loaded)) << layout.NOTE_FIELD
            | (0xFF if site.write else self._used.elements(site.step)) << layout.USED_FIELD
            | (element.bit_length() - 1) << layout.ELEMENT_FIELD
        )
        passed = self._pass_only_read(at, site) if site.write or not loaded else None
        if loaded:
            self.carried.start(at, step)
        if site.space != "local":
            self._test(at, site, address, info, values)
        if site.space != "global":
            self._follow(at, site, address, info, element)
        if loaded:
            self.carried.loaded(at, step, at.lanes.as_vector(address).ir, place, element)
        if passed is not None:
            at.builder.jump(passed)
            at.builder.place(passed)
        if self.communicates and ordering.strong and site.space != "local":
            self._order(at, step, self._keep_addresses(at, address))

    def _pass_only_read(self, at: Emission, site: Site) -> str | None:
        """Pass over what follows if an access reads what the launch only reads; the label behind it."""
        if site.space not in ("global", "generic"):
            return None
        bases = self._bases[site.step]
        if site.space == "global":
            bases -= {OWN}
        if site.write:
            self.stores.add(bases)
        if site.write or not bases.isdisjoint((OWN, MEMORY)):
            return None
        number = self.loads.setdefault(bases, len(self.loads))
        if number >= layout.PASS_WORDS:
            return None
        b = at.builder
        passed, test = b.label("passed"), b.label("test")
        only = b.load("i64", self.place(at, self.passes + number))
        b.branch(b.value(f"icmp ne i64 {only}, 0"), passed, test)
        b.place(test)
        return passed

    def step(self, at: Emission, step: Step, sources: Sequence[Value | tuple[Value, ...]]) -> None:
        self.carried.step(at, step, sources)

    def _follow(self, at: Emission, site: Site, address: Value, info: int, element: int) -> None:
        """Keep which bytes of shared and local memory are undefined."""
        local = site.space == "local" or self.program.local.size > 0
        if not self.follows and (site.space == "shared" or not local):
            return
        found = self.carried.stored(at, self.steps[site.step], element) if site.write else None
        passed = self._pass_defined(at, found) if self.journals and site.space == "shared" else None
        given = str(info), self._wide(at, at.mask), self._warp(at), self._keep_addresses(at, address)
        if site.space != "shared" and local:
            self._call(at, "access_local", *given)
        if self.follows:
            kept = "0" if found is None else self._keep(at, self._values, found)
            self._call(at, "follow", *given, kept)
        if passed is not None:
            at.builder.jump(passed)
            at.builder.place(passed)

    def _pass_defined(self, at: Emission, found: str | None) -> str:
        """Pass over what follows while no undefined byte was copied to shared memory; the label behind it."""
        b = at.builder
        passed, follow = b.label("passed"), b.label("follow")
        some = b.load("i64", b.offset(self._state(at), 8 * layout.FOLLOWING))
        if found is not None:
            undefined = b.mask_bits(b.value(f"icmp ne <32 x i64> {found}, zeroinitializer"))
            some = b.value(f"or i64 {some}, {self._wide(at, b.value(f'and i32 {undefined}, {at.mask}'))}")
        b.branch(b.value(f"icmp ne i64 {some}, 0"), follow, passed, unlikely=True)
        b.place(follow)
        return passed

    def fence(self, at: Emission, step: Step) -> None:
        if step.control == "copy-commit":
            self._call(at, "commit", self._warp(at), self._wide(at, at.mask))
        if step.control == "copy-wait":
            count = next(
                (o.value for o in step.instruction.operands if isinstance(o, tree.Integer)), EVERY_GROUP
            )
            self._wait_copies(at, count)
        if self.communicates and self.orderings[step.number].fence:
            self._order(at, step, "0")

    def _wait_copies(self, at: Emission, left: int) -> None:
        self._call(at, "wait_copies", self._warp(at), self._wide(at, at.mask), str(left))

    def barrier(self, at: Emission, end: Barrier, others: Mapping[int, str]) -> None:
        b = at.builder
        apart = self._leads_to_barrier - _bound_for(self.program.blocks, end)
        waiting = {block: mask for block, mask in others.items() if block in apart}
        if waiting:
            everyone, where = "0", "0"
            for block in sorted(waiting, reverse=True):
                everyone = b.value(f"or i32 {everyone}, {waiting[block]}")
                there = b.value(f"icmp ne i32 {waiting[block]}, 0")
                step = next((s for s in self.program.blocks[block].all_steps if s.instruction.source), None)
                where = b.value(f"select i1 {there}, i64 {self.place_of(step)}, i64 {where}")
            self._call(
                at,
                "diverge",
                self._warp(at),
                self._wide(at, at.mask),
                self._wide(at, everyone),
                str(self.place_of(end.step)),
                where,
            )
        if self.communicates:
            self._order(at, end.step, "0")
        if self.uncounted and len(self._gates) > 1:
            gate = self.place_of(self._gates[_lines_of(end.step)])
            gather = "gather", self._warp(at), self._wide(at, at.mask), str(gate)
            meet_at_gate(at.builder, self._state(at), self._warp(at), gate, lambda: self._call(at, *gather))

    def resume(self, at: Emission) -> None:
        if self.uncounted:
            begun = next_phase(at.builder, self._state(at), self._warp(at))
            if self.journals:
                open_interval(at.builder, self._state(at), begun, lambda: self._call(at, "reopen", begun))
        else:
            self._call(at, "settle", self._warp(at))

    def arrive(self, at: Emission, barrier: str, count: str | None, *, wait: bool) -> None:
        b = at.builder
        number = b.value(f"and i32 {barrier}, 15")
        table = b.load("ptr", b.offset("%context", 8 * SLOT["barriers"]))
        row = b.value(f"mul i64 {self._wide(at, number)}, {4 * BARRIER_WORDS}")
        generation = b.load("i32", b.offset(b.offset(table, row), 4))
        self._call(
            at,
            "arrive",
            self._warp(at),
            self._wide(at, number),
            "0" if count is None else self._wide(at, count),
            "1" if wait else "0",
            self._wide(at, generation),
        )

    def park(self, at: Emission, step: Step, members: Value, others: str) -> None:
        place = self.place_of(step)
        self._call(
            at,
            "park",
            self._warp(at),
            self._wide(at, at.mask),
            self._masks(at, members),
            self._wide(at, others),
            str(place),
        )

    def meet(self, at: Emission, step: Step, members: Value) -> None:
        self._met[step.number] = masks = self._masks(at, members)
        place, exchanges = str(self.place_of(step)), str(int(step.match.row.operation in _EXCHANGES))
        self._call(at, "meet", self._warp(at), self._wide(at, at.mask), masks, place, exchanges)
        if self.communicates:
            self._order_meeting(at, step, masks)

    def exchange(self, at: Emission, sources: Value) -> None:
        step = self.steps[at.lanes.access.step]
        if step.match.row.operation != "shuffle" or step.number not in self._met:
            return
        kept = self._keep(at, self._values, at.lanes.as_vector(at.lanes.extend(sources, "i64", False)).ir)
        members = self._met[step.number]
        chosen = "1" if step.match.mode == "idx" else "0"
        place = str(self.place_of(step))
        self._call(at, "exchange", self._warp(at), self._wide(at, at.mask), kept, members, place, chosen)

    def _access(self, at: Emission, site: Site, address: Value, info: int, values: str) -> None:
        """Have every lane looked at, but for atomic operations that are to be forgotten."""
        b, mask, vector = at.builder, at.mask, at.lanes.as_vector(address).ir
        only_barriers = self.journals and not self.communicates
        atomic = info >> layout.STRENGTH_FIELD & 3 >= layout.ATOMIC and not info >> layout.MET_FIELD & 1
        done = b.label("looked")
        if only_barriers and atomic and site.write:
            self._forgets = True
            args = [("ptr", "%counters"), ("i32", mask), ("i32", "%warp"), ("<32 x i64>", vector)]
            mask = b.call("i32", fast_atomic.NAME, args)
            look = b.label("look")
            b.branch(b.value(f"icmp eq i32 {mask}, 0"), done, look)
            b.place(look)
        kept = self._keep(at, self._addresses, vector)
        self._call(at, "access", str(info), self._wide(at, mask), self._warp(at), kept, values)
        b.jump(done)
        b.place(done)

    def _test(self, at: Emission, site: Site, address: Value, info: int, values: str) -> None:
        """Emit the test of an access to memory that threads share."""
        b = at.builder
        low_bits = info >> layout.PLACE_FIELD & layout.PLACES - 1
        strong = info >> layout.STRENGTH_FIELD & 3
        # With asynchronous copies every stamp is looked at: some are of writes that are not there yet.
        elsewhere = self._copying or site.size > layout.WIDEST
        if strong or (elsewhere and site.space != "global"):
            self._access(at, site, address, info, values)
            return
        mask = at.mask
        if address.uniform and not site.write and not info >> layout.NOTE_FIELD & 1:
            mask = self._ends(at)  # the first and the last stand for all lanes that read one place

        met = self._words.take(1)
        self.met_regions.append(met)

        def test(where: str, pattern: Offsets | None) -> None:
            function = self._tester(site, pattern)
            args = [
                ("ptr", "%counters"),
                ("ptr", self.place(at, met)),
                ("i64", str(info)),
                ("i64", str(low_bits << layout.PLACE_SHIFT)),
                ("i32", mask),
                ("i32", "%warp"),
                ("<32 x i64>" if pattern is None else "i64", where),
                ("i64", values),
            ]
            b.call("void", function, args)

        pattern = self._pattern(site, address)
        if pattern is None:
            test(at.lanes.as_vector(address).ir, None)
        elif address.ok is None:
            test(address.ir, pattern)
        else:
            regular, other, tested = b.label("regular"), b.label("other"), b.label("tested")
            b.branch(address.ok, regular, other)
            b.place(regular)
            test(address.ir, pattern)
            b.jump(tested)
            b.place(other)
            test(at.lanes.as_vector(address).ir, None)
            b.jump(tested)
            b.place(tested)

    def _pattern(self, site: Site, address: Value) -> Offsets | None:
        """The lanes' offsets, if they are known and of use to the test of an access."""
        if self.journals and site.space != "global":
            useful = all(offset % site.size == 0 for offset in address.offsets or ())
        else:
            useful = address.offsets == tuple(site.size * lane for lane in range(32))
        return address.offsets if useful else None

    def _tester(self, site: Site, pattern: Offsets | None) -> str:
        """The name of the function that tests an access."""
        if not self.journals or site.space == "global":
            test = Test(pattern is not None, site.write, site.size, site.space == "shared")
            self._tests.add(test)
            return test.name
        if pattern is not None:
            self._patterns.setdefault(pattern, len(self._patterns))
        entering = Entering(site.write, site.size, site.space == "generic", pattern)
        self._entering.add(entering)
        self._tests.add(entering.stamped)
        return name_of(entering, self._patterns)

    def _ends(self, at: Emission) -> str:
        """The first and the last of the acting lanes."""
        b = at.builder
        first = b.value(f"and i32 {at.mask}, {b.value(f'sub i32 0, {at.mask}')}")
        leading = b.call("i32", "llvm.ctlz.i32", [("i32", at.mask), ("i1", "false")])
        shift = b.value(f"and i32 {leading}, 31")
        last = b.value(f"lshr i32 -2147483648, {shift}")
        return b.value(f"or i32 {first}, {b.value(f'and i32 {last}, {at.mask}')}")

    def helpers(self, declarations: set[str]) -> str:
        texts: list[str] = []
        for test in sorted(self._tests, key=lambda one: one.name):
            seen = Seen(test, self.state, self.functions, self._addresses)
            texts.append(run_test(seen) if test.run else any_test(seen))
            declarations |= DECLARATIONS | seen.b.declarations
        if texts:
            texts.append(put_stamp(self.functions["mix"]))
        for entering in sorted(self._entering, key=lambda one: name_of(one, self._patterns)):
            words = self.state, self.functions, self._addresses
            texts.append(function(entering, self._patterns, *words, declarations))
        if self._forgets:
            texts.append(fast_atomic.not_stood_for(self.state, declarations))
        if self._entering:
            texts.append(apart(declarations))
            declarations |= ENTERING_DECLARATIONS
        texts += [table(pattern, number) for pattern, number in self._patterns.items()]
        return "".join(texts)

    def epoch(self, time: int, state: np.ndarray) -> int | None:
        """How many barriers of the block a warp has passed at one of its times, where that is known."""
        return time >> int(state[layout.STEPS]).bit_length() if self.uncounted else None

    # ------------------------------------------------------------------------------------ places
    def place_of(self, step: Step | None, part: str = "") -> int:
        """The number of a step's place in the program; steps of one source line and kind share it."""
        if step is None:
            return 0
        source = step.instruction.source
        key = (source or step.instruction.line, step.instruction.opcode, part)
        number = self._numbers.get(key)
        if number is None:
            number = min(len(self.places), layout.PLACES - 1)
            self._numbers[key] = number
            if number == len(self.places):
                self.places.append(step)
        return number

    # ------------------------------------------------------------------------------------ emission
    def _call(self, at: Emission, name: str, *arguments: str) -> None:
        b = at.builder
        function = b.load("ptr", self.place(at, self.functions[name]))
        state = b.load("i64", self.place(at, self.state))
        listed = ", ".join(f"i64 {argument}" for argument in (state, *arguments))
        b.emit(f"call void {function}({listed})")

    def _state(self, at: Emission) -> str:
        """The worker's state, as a pointer."""
        return at.builder.load("ptr", self.place(at, self.state))

    def _order(self, at: Emission, step: Step, words: str) -> None:
        """Tell the host's part of what a step orders."""
        number, mask = str(step.number), self._wide(at, at.mask)
        self._call(at, "order", number, mask, self._warp(at), words)

    def _order_meeting(self, at: Emission, step: Step, masks: str) -> None:
        """Lanes meet: they pass on what some of them know, if any of the warp does."""
        b = at.builder
        of_warp = b.value(f"getelementptr i64, ptr {self._state(at)}, i64 {self._warp(at)}")
        told = b.load("i64", b.offset(of_warp, 8 * layout.TOLD))
        some, on = b.label("told"), b.label("met")
        b.branch(b.value(f"icmp ne i64 {told}, 0"), some, on)
        b.place(some)
        self._order(at, step, masks)
        b.jump(on)
        b.place(on)

    def _keep(self, at: Emission, word: int, lanes: str) -> str:
        b = at.builder
        place = self.place(at, word)
        b.store("<32 x i64>", lanes, place, ", align 8")
        return b.value(f"ptrtoint ptr {place} to i64")

    def _keep_addresses(self, at: Emission, address: Value) -> str:
        return self._keep(at, self._addresses, at.lanes.as_vector(address).ir)

    def _masks(self, at: Emission, members: Value) -> str:
        if members.constant is not None:
            text = constant_vector("i64", [members.constant & 0xFFFFFFFF] * 32)
            return self._keep(at, self._members, text)
        wide = at.builder.value(f"zext <32 x i32> {at.lanes.as_vector(members).ir} to <32 x i64>")
        return self._keep(at, self._members, wide)

    def _wide(self, at: Emission, narrow: str) -> str:
        return at.builder.value(f"zext i32 {narrow} to i64")

    def _warp(self, at: Emission) -> str:
        return self._wide(at, "%warp")

    def _place_of_block(self, at: Emission) -> str:
        return at.builder.load("i64", at.builder.offset("%context", 8 * SLOT["place"]))


def strength(ordering: Ordering) -> int:
    """How strong an access is, as stamps say it."""
    if not ordering.strong:
        return layout.PLAIN
    if ordering.volatile:
        return layout.VOLATILE
    return layout.BLOCK_ATOMIC if ordering.block else layout.ATOMIC


def _lines_of(step: Step) -> tuple[object, ...]:
    """Where a step is in the author's file, and the calls there that it was inlined from.

    Code that a compiler has doubled is told by it to be the same.
    """
    source = step.instruction.source
    if source is None:
        return (step.number,)
    chain = [source]
    while (outer := chain[-1].inlined_at) is not None:
        chain.append(outer)
    return tuple((one.file, one.line) for one in chain if one.file == chain[-1].file)


def _counts(block: Block) -> bool:
    """Whether a block arrives at a barrier whose arrivals are counted."""
    waits = isinstance(block.end, Barrier) and not block.end.step.match.row.steers
    return waits or any(step.control == "arrive" for step in block.steps)


def _bound_for(blocks: tuple[Block, ...], barrier: Barrier) -> frozenset[int]:
    """The blocks from which every way leads to a barrier before any other and before an exit."""
    found = {
        index
        for index, block in enumerate(blocks)
        if block.end == barrier or not isinstance(block.end, Barrier | Exit | Trap)
    }
    changed = True
    while changed:
        lost = {
            index
            for index in found
            if blocks[index].end != barrier and not found.issuperset(blocks[index].successors)
        }
        found -= lost
        changed = bool(lost)
    return frozenset(found)


def _leads_to_barrier(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The blocks from which lanes may come to a barrier."""
    found = {index for index, block in enumerate(blocks) if isinstance(block.end, Barrier)}
    changed = True
    while changed:
        more = {index for index, block in enumerate(blocks) if found & set(block.successors)} - found
        found |= more
        changed = bool(more)
    return frozenset(found)
