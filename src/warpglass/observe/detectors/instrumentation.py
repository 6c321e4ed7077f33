"""What all detectors share in the code of one kernel: a worker's state, places, calls of native functions.

`Instrumentation` is the first probe of the checker. It has the events that move the clocks by which all of
them tell what is ordered: warps begin, arrive at barriers and go on. The words that it takes of a worker are
the addresses of the state and of the native functions, which the checker puts there before a launch, and room
for the lanes' addresses, values and masks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...codegen import Emission, Probe, WorkerWords
from ...codegen.builder import constant_vector
from ...codegen.context import BARRIER_WORDS, SLOT, START
from ...codegen.memory.sites import Site
from ...codegen.values.value import Value
from ...isa.ordering import ordering_of
from ...program import Barrier, Block, Branch, Program, Step
from ...program.fairness import find_block_waits
from ...ptx import tree
from ...ptx.tree import SourceLocation
from . import layout, native
from .blocks import begin
from .detector import Detector
from .emit import where
from .races.only_read import OnlyRead
from .races.order_dependence import depends_on_order
from .sync.barrier_code import next_phase
from .sync.clocks import arrive, settle
from .value_uses import compared_loads

_EVERYONE = 0xFFFFFFFF
_SURFACES = ("surface store", "surface reduction")  # of memory that has no stamps
_ROOM = 32  # words for one value of every lane


class Instrumentation(Probe):
    """The first probe; `detectors` are the others, `places` has the step of each place, by number."""

    alone = True  # blocks follow one another on one thread
    any_order = True  # stamps have a block's place in their order
    judges_reads = True

    def __init__(self, families: Sequence[Callable[[Instrumentation], Detector]]):
        self.detectors = tuple(family(self) for family in families)

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self.program = program
        self.state = words.take(1)
        self.functions = {name: words.take(1) for name in native.names()}
        self.addresses, self.values, self.members = (words.take(_ROOM) for _ in range(3))
        self.resumed = ""  # an i64 in the code of a warp that goes on behind a barrier: its time
        self.places: list[Step | None] = [None]
        self._numbers: dict[object, int] = {}
        self._together: set[int] = set()
        self._apart: set[int] = set()
        self.copies: set[int] = set()  # places of asynchronous copies
        self.steps = {step.number: step for block in program.blocks for step in block.all_steps}
        self.orderings = {number: ordering_of(step.match) for number, step in self.steps.items()}
        self.only_read = OnlyRead(program, words)
        self.copying = any(step.match.row.access == "copy" for step in self.steps.values())
        # Whether all barriers are the whole block's.
        self.uncounted = not any(_counts(block) for block in program.blocks)
        # Whether shared memory has a journal: barriers are the block's, copies are done at once.
        self.journals = self.uncounted and not self.copying and not program.clustered
        # Whether anything but barriers orders threads: then host code follows who knows of whom.
        fencing = [one for one in self.orderings.values() if one.fence or one.releases]
        communicates = any(one.fence or (one.orders and one.strong) for one in fencing)
        # Whether nothing but barriers of blocks and of clusters does.
        self.meets_in_clusters = program.clustered and not communicates
        self.communicates = communicates or program.clustered
        # Whether more than barriers of the whole block and of whole warps order threads: then no few accesses
        # stand for all others of a place.
        partial = any(_names_some(step) for step in self.steps.values())
        self.waits = bool(find_block_waits(program.blocks, program.registers, program.live))
        self.exact = self.communicates or partial or self.waits or not self.uncounted
        self.chained = self._find_chained(program)
        self.strong = any(one.strong for one in self.orderings.values())
        self._divides: bool | None = None  # not known yet

    def _find_chained(self, program: Program) -> set[int]:
        """The updates that acquire and release, by themselves or by a fence right before them."""
        found: set[int] = set()
        for block in program.blocks:
            fenced = False
            for step in block.all_steps:
                one = self.orderings[step.number]
                near = one.block and step.match.space != "shared"
                updates = one.atomic and one.acquires and one.reads and one.writes and not near
                if updates and (one.releases or fenced):
                    found.add(step.number)
                if one.fence or step.match.row.access is not None:
                    fenced = one.fence and one.releases and not one.block
        return found

    def divides(self, sites: Sequence[Site]) -> bool:
        """Whether blocks on several threads show what they show on one, as long as no two of them meet.

        That takes accesses that do not follow from who came first. And what threads learn from others by
        values is kept in one place.
        """
        if self._divides is None:
            kinds = {step.match.row.access for step in self.steps.values()}
            apart = not (self.communicates or self.waits) and kinds.isdisjoint(_SURFACES)
            self._divides = apart and not depends_on_order(
                self.program, sites, self.orderings, compared_loads(self.program), communicates=False
            )
        return self._divides

    def is_chained(self, site: Site) -> bool:
        """Whether an access acquires what came with a value and releases all before it with the next."""
        chained = site.step in self.chained and not self.program.clustered
        return chained and site.write and site.size in (4, 8)

    # ------------------------------------------------------------------------------------ events
    def block(self, at: Emission, index: int, block: Block) -> None:
        if index == 0:
            with where(at.builder, at.builder.value(f"icmp eq i32 %state, {START}")):
                place = at.builder.load("i64", at.builder.offset("%context", 8 * SLOT["place"]))
                self.call(at, begin, place, *self.who(at))

    def resume(self, at: Emission) -> None:
        if self.uncounted:
            self.resumed = next_phase(at.builder, self.pointer(at), self.warp(at))
        else:
            self.call(at, settle, self.warp(at))

    def arrive(self, at: Emission, barrier: str, count: str | None, *, wait: bool) -> None:
        b = at.builder
        number = b.value(f"and i32 {barrier}, 15")
        table = b.load("ptr", b.offset("%context", 8 * SLOT["barriers"]))
        row = b.value(f"mul i64 {self.wide(at, number)}, {4 * BARRIER_WORDS}")
        generation = b.load("i32", b.offset(b.offset(table, row), 4))
        given = "0" if count is None else self.wide(at, count)
        waits = "1" if wait else "0"
        warp, number = self.warp(at), self.wide(at, number)
        self.call(at, arrive, warp, number, given, waits, self.wide(at, generation))

    def branch(self, at: Emission, end: Branch, taken: str, together: bool) -> None:
        (self._together if together else self._apart).add(end.step.number)

    @property
    def together(self) -> frozenset[int]:
        """The branches, by step, that all lanes of a warp are known to take alike."""
        return frozenset(self._together - self._apart)

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

    def epoch(self, time: int, state: np.ndarray) -> int | None:
        """How many barriers of the block a warp has passed at one of its times, where that is known."""
        return time >> int(state[layout.STEPS]).bit_length() if self.uncounted else None

    def access_word(self, at: Emission, site: Site) -> int:
        """What is known of an access when its code is generated (layout.py)."""
        step = self.steps[site.step]
        copies = site.write and step.match.row.access == "copy"
        place = self.place_of(step, "copy" if copies else "")
        if copies:
            self.copies.add(place)
            self.place_of(step, "copied")  # the next one: what it is once it has been waited for
        word = (
            site.size << layout.SIZE_FIELD
            | int(site.write) << layout.WRITE_FIELD
            | layout.SPACES[site.space] << layout.SPACE_FIELD
            | place << layout.PLACE_FIELD
            | int(copies) << layout.COPY_FIELD
        )
        for detector in self.detectors:
            word |= detector.access_bits(at, site, step)
        return word

    # ------------------------------------------------------------------------------------ emission
    def call(self, at: Emission, function: Any, *arguments: str) -> None:
        """Call an exported function on i64s."""
        self.call_at(at, self.functions[function.__name__], *arguments)

    def call_at(self, at: Emission, word: int, *arguments: str) -> None:
        """Call the function whose address is in a worker's word."""
        function = at.builder.load("ptr", self.place(at, word))
        state = at.builder.load("i64", self.place(at, self.state))
        listed = ", ".join(f"i64 {argument}" for argument in (state, *arguments))
        at.builder.emit(f"call void {function}({listed})")

    def pointer(self, at: Emission) -> str:
        """The worker's state, as a pointer."""
        return at.builder.load("ptr", self.place(at, self.state))

    def warp(self, at: Emission) -> str:
        """The warp's number as an i64."""
        return self.wide(at, "%warp")

    def who(self, at: Emission) -> tuple[str, str]:
        """The warp's number and the mask of its acting lanes, as i64s."""
        return self.warp(at), self.wide(at, at.mask)

    @staticmethod
    def wide(at: Emission, narrow: str) -> str:
        """An i32 as an i64."""
        return at.builder.value(f"zext i32 {narrow} to i64")

    def room(self, at: Emission, word: int) -> str:
        """The address of room for a word of every lane, as an i64."""
        return at.builder.value(f"ptrtoint ptr {self.place(at, word)} to i64")

    def keep(self, at: Emission, word: int, lanes: str) -> str:
        """Put a word of every lane there; returns the address."""
        place = self.place(at, word)
        at.builder.store("<32 x i64>", lanes, place, ", align 8")
        return at.builder.value(f"ptrtoint ptr {place} to i64")

    def keep_addresses(self, at: Emission, address: Value) -> str:
        """Put the lanes' addresses into their room."""
        return self.keep(at, self.addresses, at.lanes.as_vector(address).ir)

    def keep_masks(self, at: Emission, members: Value) -> str:
        """Put the lanes' member masks into their room."""
        if members.constant is not None:
            text = constant_vector("i64", [members.constant & 0xFFFFFFFF] * 32)
        else:
            text = at.builder.value(f"zext <32 x i32> {at.lanes.as_vector(members).ir} to <32 x i64>")
        return self.keep(at, self.members, text)


def inlining(step: Step) -> list[SourceLocation]:
    """Where a step is in the source, and where that is inlined, from the inside out; [] if unknown."""
    source = step.instruction.source
    return list(source.chain) if source is not None else []


def _names_some(step: Step) -> bool:
    """Whether an instruction may be for some lanes of a warp only."""
    mask = step.match.member_mask
    return mask is not None and not (isinstance(mask, tree.Integer) and mask.value & _EVERYONE == _EVERYONE)


def _counts(block: Block) -> bool:
    """Whether a block arrives at a barrier whose arrivals are counted."""
    waits = isinstance(block.end, Barrier) and not block.end.step.match.row.steers
    return waits or any(step.control == "arrive" for step in block.steps)
