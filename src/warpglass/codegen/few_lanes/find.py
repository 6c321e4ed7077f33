"""Loops that few lanes may run in code of their own: which they are, and what goes in and out.

Where lanes have parted, a vector instruction takes as long for one lane as for all. So a loop in which they
part is emitted a second time, for vectors of a few elements: once that many lanes are left in it, or come to
it, they are moved side by side, in their order, and go on in that code until they leave the loop. Since all
of them do each step together as before, stores, atomic operations and faults come in the same order.

A region is a loop's blocks or, where its lanes take turns with those behind it (fair loops), what comes
after it as well. It has nothing that other lanes could see besides memory: no barriers, no exchange.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...isa.atomic import commutes
from ...program import Block, Branch, Exit, Jump, Program, Step, Switch, Trap
from ...program.blocks import loops_of
from ...program.turns import find_read
from ...ptx import tree
from ..counting import is_short
from ..infer import Inference
from ..shape import BlockShape
from ..values.value import one_value
from .guarded import Guarded, find_guarded


@dataclass(frozen=True, slots=True)
class Form:
    """Code for up to `most` lanes in vectors of `width` elements; one lane alone is all scalars."""

    name: str
    most: int
    width: int
    again: bool = False  # whether a lane may begin again

    @property
    def alone(self) -> bool:
        """Whether every value is a scalar."""
        return self.most == 1


# A mask has two bits at least.
ONE, APART = Form("one", 1, 2), Form("apart", 1, 2, again=True)
# Few are as many as the widest vector registers have addresses; of many lanes that go together this part, as
# a round of those takes the longer.
_FEW, _PART = 8, 8
# Steps of a region's functions, of those of a kernel, and of a kernel: longer ones are slow to compile.
_LONGEST, _MOST, _KERNEL = 320, 960, 2000
_SPACES = frozenset(("global", "const", "generic", "shared", "local", "param"))
_KINDS = frozenset(("load", "store", "atomic", "reduction", "parameter"))
_SPECIALS = frozenset(("tid", "ntid", "ctaid", "nctaid"))
# What a region saves in each round, in instructions of a vector register: for an access of each lane's own,
# for arithmetic by the number of registers that all lanes take; and what is lost: for a row of local memory,
# which all lanes have side by side and few have not, and for a register that is moved.
_ACCESS, _WIDE, _DIVISION, _ROW, _MOVED, _CALL = 24, 4, 8, 12, 4, 24
# Rounds that few lanes go at least, as is assumed.
_ROUNDS = 4
# Ways beyond the first that lanes take in a round that makes it worth to try them apart if none stays behind.
_WAYS = 4
# Bytes of a thread's local memory that are copied, in case lanes have to begin again and by one for itself.
_MOST_LOCAL, _MOST_OWN = 1024, 128


@dataclass(frozen=True, slots=True)
class FewRegion:
    """Blocks `header` to `last`, entered at the header.

    `exits` are the blocks outside that lanes may leave for, `waits` those inside at which other lanes may
    wait. Registers that are `taken` along go in, those that are `kept` come out; a lane that goes on in other
    code of the region takes those that are `carried` as well. `leaves` are all blocks in front of which lanes
    may stand when the region's code ends. A region that is `alone` is only entered while no lane waits
    elsewhere.
    """

    header: int
    last: int
    exits: tuple[int, ...]
    waits: frozenset[int]
    leaves: tuple[int, ...]
    taken: tuple[str, ...]
    kept: tuple[str, ...]
    carried: tuple[str, ...]
    alone: bool
    few: Form | None
    apart: bool
    together: bool
    full: bool
    stores: bool  # to local memory
    copies: bool  # a lane's local memory while it is alone
    keeps: bool  # changes of memory until all lanes that go apart are through
    firsts: dict[int, str]  # the addresses of the first loads, in registers that are taken, by step
    guarded: Mapping[int, Guarded]  # stores that lanes do not branch around, by the block before them

    @property
    def forms(self) -> tuple[Form, ...]:
        """What it has functions for."""
        forms = [ONE, self.few] if self.few else []
        return tuple(dict.fromkeys([*forms, self.one] if self.apart else forms))

    @property
    def one(self) -> Form:
        """The form of one lane apart: it begins again if that undoes all that it has done."""
        return APART if self.copies or not self.stores else ONE

    def __contains__(self, block: int) -> bool:
        return self.header <= block <= self.last


def find_few_lanes(
    program: Program,
    shape: BlockShape,
    found: Inference,
    full: Sequence[bool],
    deserted: frozenset[int] = frozenset(),
) -> dict[int, FewRegion]:
    """The regions by their headers, but for those that are deserted."""
    if found.pending.gates or program.clustered:
        return {}
    if sum(1 + len(block.steps) for block in program.blocks) > _KERNEL:
        return {}
    most = max(_FEW, shape.width // _PART)
    if most >= shape.width:  # in a block of a few threads all lanes are few
        return {}
    search = _Search(program, found, full, Form("few", most, most))
    loops = search.loops
    regions: dict[int, FewRegion] = {}
    left = _MOST
    for header, body in sorted(loops.items(), key=lambda one: len(one[1])):
        region = None if header in deserted else search.region(header, body)
        length = 0 if region is None else _length(program, region)
        if region is not None and length <= min(left, _LONGEST):
            regions[header] = region
            left -= length
    return regions


def _length(program: Program, region: FewRegion) -> int:
    length = sum(1 + len(program.blocks[index].steps) for index in range(region.header, region.last + 1))
    return length * (2 if region.few else 1)  # one lane apart has little code


class _Search:
    """Looks at one program."""

    def __init__(self, program: Program, found: Inference, full: Sequence[bool], form: Form):
        self.program = program
        self.form = form
        self.found = found
        self.full = full
        self.loops = loops_of(program.blocks)

    def region(self, header: int, body: set[int]) -> FewRegion | None:
        """The region of a loop, if it may have one and gains by it."""
        blocks, live, pending = self.program.blocks, self.program.live, self.found.pending
        last = max(body)
        if is_short(self.program, self.found.kinds, body) or not all(
            self._is_simple(index) for index in range(header, last + 1)
        ):
            return None
        alone = bool(self.program.fair)
        while alone and last + 1 < len(blocks) and self._is_simple(last + 1):
            last += 1
        inside = range(header, last + 1)
        steps = [step for index in inside for step in blocks[index].steps]
        targets = {target for index in inside for target in blocks[index].successors}
        exits = {one for one in targets if one not in inside and not blocks[one].only_exits}
        waits = frozenset() if alone else pending.sets[header].intersection(inside)
        within = inside if alone else [index for index in inside if waits and index >= min(waits)]
        leaves = tuple(sorted(exits.union(within)))
        written = frozenset(name for step in steps for name in step.writes)
        kept = written & frozenset().union(*(live[index] for index in leaves))
        read = frozenset(name for step in steps for name in step.reads)
        read |= frozenset().union(*(blocks[index].read_at_end for index in inside))
        kept = frozenset(name for name in kept if self._stored(name))
        if any(not self._comes_back(name) for name in kept):
            return None
        taken = kept | {name for name in live[header] & (read | written) if self._moved(name)}
        spaces = [step.match.state_space for step in steps if step.match.row.access is not None]
        # Lanes that come out wait for those inside only behind the region, where others may come to stand.
        staying = not alone and exits <= pending.sets[header]
        apart = (staying or not waits) and not alone and all(one > last for one in exits)
        copies = self._copies(body, spaces.count("local"))
        changes = [step for step in steps if step.match.row.is_atomic]
        apart = apart and self._is_private(steps)
        apart = apart and (not changes or (self._may_be_kept(changes) and (copies or "local" not in spaces)))
        full = any(self.full[index] for index in inside)
        few = not full and self._gets_few(header, body)
        ways = sum(len(set(blocks[index].successors)) - 1 for index in body if self._by_data(blocks[index]))
        parts = ways >= _WAYS or (ways > 0 and not full and self._gets_few(header, body))
        if not (few or (parts and apart)) or not self._pays(body, len(taken) + len(kept)):
            return None
        return FewRegion(
            header,
            last,
            tuple(sorted(exits)),
            waits,
            leaves,
            tuple(sorted(taken)),
            tuple(sorted(kept)),
            tuple(sorted((taken & written) - kept)),
            alone,
            self.form if few else None,
            apart,
            not staying,
            self.full[header],
            "local" in _written(steps),
            copies,
            apart and bool(changes),
            self._firsts(blocks[header], taken),
            find_guarded(self.program, self.found, inside),
        )

    def _firsts(self, block: Block, taken: frozenset[str]) -> dict[int, str]:
        """The registers in which lanes bring the addresses that they load from at once, each its own."""
        found, written = dict[int, str](), set[str]()
        for step in block.steps:
            access = step.match.load_or_store
            base = None if access is None or access.writes else step.address_register
            if base is not None and base in taken - written and self.found.offsets(base) is None:
                found[step.number] = base
            written.update(step.writes)
        return found

    def _copies(self, body: set[int], accesses: int) -> bool:
        """Whether one lane takes its local memory along: it is little, and used often or in nested loops."""
        size = self.program.local.size
        nested = sum(one <= body for one in self.loops.values()) > 1
        return accesses > 0 and size <= (_MOST_OWN if nested else 4 * accesses)

    def _gets_few(self, header: int, body: set[int]) -> bool:
        """Whether lanes part from those of a loop by what they have loaded or computed each for itself.

        What guarded values decide, mostly does not part them.
        """
        blocks, waiting = self.program.blocks, self.found.pending.sets[header]
        return any(
            target not in body and (target in waiting or blocks[target].only_exits)
            for index in {*range(header), *body}
            if self._by_data(blocks[index])
            for target in blocks[index].successors
        )

    def _by_data(self, block: Block) -> bool:
        """Whether a block's lanes part by a vector."""
        return block.splits is not None and self.found.offsets(block.splits) is None

    # ------------------------------------------------------------------------------------ registers
    def _stored(self, name: str) -> bool:
        """Whether a register has a home."""
        kind = self.found.kinds.get(name)
        return kind is None or kind.offsets is None or (kind.constant is None and kind.line is None)

    def _moved(self, name: str) -> bool:
        """Whether a register goes in: all but those of one value that is known without a home."""
        return self._stored(name) or not one_value(self.found.offsets(name))

    def _comes_back(self, name: str) -> bool:
        """Whether a register's form follows from some lanes' values."""
        kind = self.found.kinds.get(name)
        return kind is None or kind.offsets is None or (kind.ok is None and one_value(kind.offsets))

    # ------------------------------------------------------------------------------------ steps
    def _is_simple(self, index: int) -> bool:
        block = self.program.blocks[index]
        return isinstance(block.end, Branch | Jump | Switch | Exit | Trap) and all(
            self._is_simple_step(step) for step in block.steps
        )

    def _is_simple_step(self, step: Step) -> bool:
        row = step.match.row
        if not _specials(step) <= _SPECIALS or step.number in self.program.strays:
            return False
        if row.steers:
            return row.control in ("hint", "fence")
        if row.access is not None:
            return row.access in _KINDS and step.match.state_space in _SPACES
        return row.computes

    def _is_private(self, steps: Sequence[Step]) -> bool:
        """Whether steps store only to registers, and to local memory that is small enough to be copied."""
        if any(step.match.row.steers for step in steps):
            return False
        spaces = _written(steps)
        return not spaces or (spaces == {"local"} and self.program.local.size <= _MOST_LOCAL)

    def _may_be_kept(self, changes: Sequence[Step]) -> bool:
        """Whether atomic operations are of one kind that may wait: they commute and nobody reads results."""
        kinds = {(one.match.op, one.match.type) for one in changes}
        return len(kinds) == 1 and all(
            commutes(one.match)
            and one.match.state_space == "global"
            and one.match.vec is None
            and self._read.isdisjoint(one.writes)
            for one in changes
        )

    @cached_property
    def _read(self) -> set[str]:
        return find_read(self.program.blocks)

    def _pays(self, body: set[int], moved: int) -> bool:
        """Whether some rounds of few lanes save more than it takes to move them."""
        saved = sum(self._saves(step) for index in body for step in self.program.blocks[index].steps)
        return _ROUNDS * saved >= _CALL + _MOVED * moved

    def _saves(self, step: Step) -> int:
        row = step.match.row
        if row.is_atomic or row.steers:
            return 0
        access = step.match.load_or_store
        if access is not None:
            base = step.address_register
            form = None if base is None else self.found.offsets(base)
            if base is None or one_value(form):
                return -_ROW if step.match.state_space == "local" else 0
            return _ACCESS if form is None else -1
        wide = [name for name in step.writes if self.found.offsets(name) is None]
        each = _DIVISION if row.operation == "division" else 1
        return each * sum(_WIDE if self.program.registers[name][1:] == "64" else _WIDE // 2 for name in wide)


def _written(steps: Sequence[Step]) -> set[str]:
    """The state spaces that steps store to."""
    accesses = (step.match.load_or_store for step in steps)
    return {access.space for access in accesses if access is not None and access.writes}


def _specials(step: Step) -> set[str]:
    named = (one for one in step.instruction.operands if isinstance(one, tree.Special))
    return {one.name.removeprefix("%").partition(".")[0] for one in named}
