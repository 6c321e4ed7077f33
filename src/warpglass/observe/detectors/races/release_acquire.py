"""What fences, atomic and volatile accesses order: who may know of whose accesses by reading a value.

Only kernels that have fences, or accesses that are ones, come here; the host follows them in Python. The
rules are PTX's, taken as programs rely on them:

* A fence notes what its thread knows. What the thread then stores or updates by a strong access **releases**
  that: it goes with the value. A barrier passes on to its threads what each of them knows and has fenced.
* Who reads the value by an atomic update, or by a load with acquire or followed by a fence, **acquires** it.
* An update continues the chain of what it replaces, a store begins a new one.

What a thread knows by reading is a set of chains, each up to the length that it had then. Fences of the
block's scope count within the block.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ....codegen import Emission, WorkerWords
from ....codegen.memory.access import Site
from ....codegen.values.value import Value
from ....isa.ordering import Ordering
from ....program import Barrier, Program, Step
from .. import layout
from ..detector import Detector, Watched
from ..emit import of_warp, where

if TYPE_CHECKING:
    from ..instrumentation import Instrumentation


Learned = Mapping["Chain", int]  # chains, and how many of their links are known; never changed, so shared
Thread = tuple[int, int]  # warp and lane


class Chain:
    """What came with the values of one place: links in order, found by block."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.by_block: dict[int, list[tuple[int, Link]]] = {}

    def add(self, link: Link) -> None:
        """Append a link."""
        self.by_block.setdefault(link.block, []).append((len(self.links), link))
        self.links.append(link)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a warp's lanes know of their own block at a fence."""

    warp: int
    time: int
    warps: Sequence[int]  # the time of each warp up to which all is known
    together: int  # the same of the warp's own lanes
    clocks: np.ndarray | None  # what its lanes know of each other beyond that

    def covers(self, lane: int, warp: int, other: int, time: int) -> bool:
        """Whether `lane` knows of an access of lane `other` of a warp at a time."""
        if warp != self.warp:
            return self.warps[warp] >= time
        if self.together >= time or (lane == other and self.time >= time):
            return True
        return self.clocks is not None and int(self.clocks[lane, other]) >= time


@dataclass(frozen=True, slots=True)
class Fenced:
    """What a lane has put behind a fence; `within` says that only its block may take it."""

    knowledge: Knowledge
    lane: int
    learned: Learned
    within: bool


@dataclass(frozen=True, slots=True)
class Link:
    """What one thread has released with a value."""

    block: int
    parts: tuple[Fenced, ...]


@dataclass
class BlockState:
    """What the threads of the block under way have learned and fenced, beyond what barriers say."""

    block: int
    everyone: Learned = field(default_factory=dict[Chain, int])
    learned: dict[Thread, Learned] = field(default_factory=dict)
    unfenced: dict[Thread, Learned] = field(default_factory=dict)  # read, waiting for a fence
    fenced: dict[Thread, tuple[Fenced, ...]] = field(default_factory=dict)
    fenced_by_all: dict[tuple[int, int, bool], Fenced] = field(default_factory=dict)
    waiting: dict[int, int] = field(default_factory=dict)  # by warp: its lanes that have come to a barrier
    chains: dict[int, Chain] = field(default_factory=dict)  # of shared memory


class ReleaseAcquire(Detector):
    """Fences, and the accesses that publish and read behind them."""

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._order_word = words.take(1)

    def begin(self, watched: Watched) -> None:
        if not self.code.communicates:
            return
        followed = Communication(watched, self.code)
        watched.kept.append(followed)
        for worker, state in zip(watched.begun.workers, watched.memory.states, strict=True):
            state[layout.ASK] = followed.ask
            worker.words[self._order_word] = followed.order

    def access(self, at: Emission, site: Site, address: Value) -> None:
        strong = self.code.orderings[site.step].strong
        if self.code.communicates and strong and site.space in layout.SPACES and site.space != "local":
            self._order(at, self.code.steps[site.step], self.code.keep_addresses(at, address))

    def fence(self, at: Emission, step: Step) -> None:
        if self.code.communicates and self.code.orderings[step.number].fence:
            self._order(at, step, "0")

    def barrier(self, at: Emission, end: Barrier, others: Mapping[int, str]) -> None:
        if self.code.communicates:
            self._order(at, end.step, "0")

    def meet(self, at: Emission, step: Step, members: Value) -> None:
        """Lanes meet: they pass on what some of them know, if any of the warp does."""
        if not self.code.communicates:
            return
        b = at.builder
        told = b.load("i64", of_warp(b, self.code.pointer(at), self.code.warp(at), layout.TOLD))
        with where(b, b.value(f"icmp ne i64 {told}, 0")):
            self._order(at, step, self.code.room(at, self.code.members))  # which Synchronisation has filled

    def _order(self, at: Emission, step: Step, words: str) -> None:
        """Tell the host's part of what a step orders."""
        mask, warp = self.code.wide(at, at.mask), self.code.warp(at)
        self.code.call_at(at, self._order_word, str(step.number), mask, warp, words)


class Communication:
    """Follows one launch; `order` and `ask` are the addresses of functions for generated and native code."""

    def __init__(self, watched: Watched, code: Instrumentation):
        self._code = code
        self._block_shift = watched.memory.block_shift
        self._states = {state.ctypes.data: state for state in watched.memory.states}
        self._blocks: dict[int, BlockState] = {}
        self._chains: dict[int, Chain] = {}
        self._warps = watched.begun.scene.executable.shape.warps
        word = ctypes.c_int64
        self._order = ctypes.CFUNCTYPE(None, *[word] * 5)(self._pass)
        self._ask = ctypes.CFUNCTYPE(word, *[word] * 3)(self._knows)
        self.order, self.ask = (
            ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (self._order, self._ask)
        )

    # ------------------------------------------------------------------------------------ events
    def _pass(self, address: int, number: int, mask: int, warp: int, words: int) -> None:
        """Lanes of a warp pass a step that orders something; `words` has a word for each lane, if any."""
        state = self._states[address]
        step = self._code.steps[number]
        block = self._block(address, state, warp, mask)
        lanes = [lane for lane in range(layout.LANES) if mask >> lane & 1]
        ordering = self._code.orderings[number]
        if ordering.fence or ordering.strong:
            state[layout.TOLD + warp] = 1
        if ordering.fence:
            self._fence(state, block, warp, lanes, ordering)
        elif ordering.strong:
            places = (ctypes.c_int64 * layout.LANES).from_address(words)
            for lane in lanes:
                self._access(state, block, warp, lane, places[lane], ordering)
            if ordering.releases:
                self._advance(state, warp)
        elif step.match.member_mask is not None:
            members = (ctypes.c_int64 * layout.LANES).from_address(words)
            self._meet(block, warp, lanes, list(members))
        else:
            block.waiting[warp] = block.waiting.get(warp, 0) | mask

    def _block(self, address: int, state: np.ndarray, warp: int, mask: int) -> BlockState:
        number = int(state[layout.BLOCK])
        block = self._blocks.get(address)
        if block is None or block.block != number:
            block = self._blocks[address] = BlockState(number)
            state[layout.TOLD : layout.TOLD + layout.WARPS] = 0
        if block.waiting.get(warp, 0) & mask:  # they go on, so the barrier has opened
            self._share(state, block)
        return block

    def _share(self, state: np.ndarray, block: BlockState) -> None:
        """All threads get what each had learned and fenced when it came to the barrier."""
        came, block.waiting = block.waiting, {}
        for warp in came:
            state[layout.TOLD + warp] = 0
        told = [block.learned.pop(thread) for thread in [*block.learned] if thread[0] in came]
        block.everyone = _joined(block.everyone, *told)
        for thread in [one for one in block.fenced if one[0] in came]:
            for part in block.fenced.pop(thread):
                block.fenced_by_all[part.knowledge.warp, part.lane, part.within] = part

    def _meet(self, block: BlockState, warp: int, lanes: Sequence[int], members: Sequence[int]) -> None:
        threads = [(warp, lane) for lane in lanes]
        if not any(one in block.learned or one in block.fenced for one in threads):
            return
        groups: dict[int, list[Thread]] = {}
        for lane in lanes:
            groups.setdefault(members[lane], []).append((warp, lane))
        learned: dict[Thread, Learned] = {}
        fenced: dict[Thread, tuple[Fenced, ...]] = {}
        for mask, group in groups.items():
            met = [one for one in threads if mask >> one[1] & 1]
            known = _joined(*(block.learned[one] for one in met if one in block.learned))
            learned |= dict.fromkeys(group, known)
            parts = {id(parts): parts for parts in (block.fenced.get(one, ()) for one in met)}
            each = {id(part): part for some in parts.values() for part in some}
            fenced |= dict.fromkeys(group, tuple(each.values()))
        block.learned.update(learned)
        block.fenced.update(fenced)

    def _fence(
        self, state: np.ndarray, block: BlockState, warp: int, lanes: Sequence[int], ordering: Ordering
    ) -> None:
        knowledge = self._knowledge(state, warp)
        for lane in lanes:
            thread = warp, lane
            if ordering.acquires:
                known = _joined(block.learned.get(thread, {}), block.unfenced.pop(thread, {}))
                block.learned[thread] = known
            if ordering.releases:
                part = Fenced(knowledge, lane, self._learned(block, thread), ordering.block)
                # What the whole device may take stays valid behind a fence of the block.
                before = block.fenced.get(thread, ()) if ordering.block else ()
                block.fenced[thread] = (*(one for one in before if not one.within), part)
        self._advance(state, warp)

    def _access(
        self, state: np.ndarray, block: BlockState, warp: int, lane: int, address: int, ordering: Ordering
    ) -> None:
        thread = warp, lane
        chains = self._chains
        if (
            address >> layout.WINDOW_SHIFT <= layout.SHARED_WINDOW
        ):  # an address of shared memory, maybe a generic one
            chains, address = block.chains, address & layout.WITHIN_WINDOW
        chain = chains.get(address)
        if ordering.reads and chain is not None and chain.links:
            keep = block.learned if ordering.acquires else block.unfenced
            keep[thread] = _joined(keep.get(thread, {}), {chain: len(chain.links)})
        if not ordering.writes:
            return
        parts = (*block.fenced.get(thread, ()), *block.fenced_by_all.values())
        if ordering.releases:
            knowledge = self._knowledge(state, warp)
            parts = (*parts, Fenced(knowledge, lane, self._learned(block, thread), ordering.block))
        if chain is None or not ordering.atomic:
            chain = chains[address] = Chain()
        if parts:
            chain.add(Link(block.block, parts))

    # ------------------------------------------------------------------------------------ knowledge
    def _learned(self, block: BlockState, thread: Thread) -> Learned:
        return _joined(block.everyone, block.learned.get(thread, {}))

    def _knowledge(self, state: np.ndarray, warp: int) -> Knowledge:
        start = layout.KNOWN + warp * layout.WARPS
        clocks = None
        if state[layout.PARTIAL + warp]:
            first = layout.LANE_CLOCKS + warp * layout.LANES**2
            clocks = state[first : first + layout.LANES**2].reshape(layout.LANES, layout.LANES).copy()
        return Knowledge(
            warp,
            int(state[layout.TIMES + warp]),
            np.maximum(state[start : start + self._warps], state[layout.ALL_KNOWN + warp]).tolist(),
            int(state[layout.LANES_KNOWN + warp]),
            clocks,
        )

    @staticmethod
    def _advance(state: np.ndarray, warp: int) -> None:
        """What the warp does from now on is not behind the fence."""
        time = int(state[layout.TIMES + warp]) + 1
        if time & int(state[layout.STEPS]) and time <= state[layout.LAST_TIME]:
            state[layout.TIMES + warp] = time
        else:
            state[layout.OVERRUN] = 1

    def _knows(self, address: int, stamp: int, other: int) -> int:
        """Whether the thread of a stamp knows of the access of another."""
        state = self._states[address]
        warp, lane = stamp >> layout.WARP_SHIFT & 31, stamp >> layout.LANE_SHIFT & 31
        block = self._block(address, state, warp, 1 << lane)
        shift = self._block_shift
        target = (other >> shift) - 1
        time = (other & (1 << shift) - 1) >> layout.TIME_SHIFT
        other_warp, other_lane = other >> layout.WARP_SHIFT & 31, other >> layout.LANE_SHIFT & 31
        seen: dict[Chain, int] = {}
        work = [self._learned(block, (warp, lane))]
        while work:
            for chain, length in work.pop().items():
                before = seen.get(chain, 0)
                if before >= length:
                    continue
                seen[chain] = length
                for position, link in chain.by_block.get(target, ()):
                    if position < length and _covers(link, block.block, other_warp, other_lane, time):
                        return 1
                for link in chain.links[before:length]:
                    work += [part.learned for part in link.parts if part.learned and _open(part, link, block)]
        return 0


def _open(part: Fenced, link: Link, block: BlockState) -> bool:
    """Whether a block may take what was fenced."""
    return not part.within or link.block == block.block


def _covers(link: Link, taker: int, warp: int, lane: int, time: int) -> bool:
    parts: Iterable[Fenced] = link.parts
    if taker != link.block:
        parts = (part for part in parts if not part.within)
    return any(part.knowledge.covers(part.lane, warp, lane, time) for part in parts)


def _joined(*known: Learned) -> Learned:
    """What all of these say together; one of them where the others add nothing."""
    different = {id(one): one for one in known if one}
    largest = max(different.values(), key=len, default=_NOTHING)
    found: dict[Chain, int] | None = None
    for one in different.values():
        if one is largest:
            continue
        for chain, length in one.items():
            if length > (largest if found is None else found).get(chain, 0):
                found = dict(largest) if found is None else found
                found[chain] = length
    return largest if found is None else found


_NOTHING: Learned = {}
