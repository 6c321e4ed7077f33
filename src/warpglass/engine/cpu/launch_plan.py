"""What is decided about a launch before it runs, and the memory of it for launches that come again.

Belongs here: the LaunchPlan, how it is made, and when one holds for another launch. Running one is
execution.py's.

How it works: most programs launch a kernel with the same grid and the same arrays many times. What a plan
follows from is its key: the kernel, the configuration, the settings, and of each argument all that binding
looks at (for an array where it lies, its layout, whether it may be written, its owner). Arguments of other
kinds, and kernels that take more than arrays and numbers (calls of the runtime, a grid barrier), are planned
each time, so whatever is refused is refused each time as well. A plan holds no array.

What a program counts up from launch to launch, as the step of an elimination, leaves most plans as they are:
such a plan is found by the key without the numbers, and gets the parameters of each launch.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf, prod
from typing import Any

import numpy as np

from ...codegen.context import RANGE_WORDS
from ...host.budget import MEMORY, memory_limit
from ...host.cores import core_count, cpu_name, spare_cores
from ...host.environment import reader
from ..launch.arguments import Bound, Renumber
from ..launch.arrays import signature_of
from ..launch.backend import Launch
from .address_space import Laid, grid_workspace, lay_out
from .footprint import affordable, footprint
from .heap import Heap
from .prepared import MODE, Executable, Prepared, engine_mode
from .privatisation import PrivateArray, Sharing, choose_private, may_defer
from .replay import is_short, is_soon_over
from .system import System
from .thread_pool import THREADS, thread_count
from .tiers import VARIABLE as TIER
from .tiers import chosen_tier, only_tier

# Blocks below which a second worker is not worth waking, unless launches have been found to take long.
_SMALL_GRID = 4
# Parts of a grid that each worker takes, so that none has much left to do when the others have ended.
_SHARES = 64
# Those of a single worker, and the most blocks of each part: it goes on with better code behind any of them,
# and whenever it takes one, processors first write all that has been stored.
_LONE_SHARES, _MOST_TAKEN, _MOST_TAKEN_ALONE = 16, 64, 512
# Blocks that are under way at once at most if they wait for each other and are watched.
_MOST_WATCHED = 256
# Sums that a block may leave for its end: with their addresses they stay in the caches.
_MOST_DEFERRED = 1 << 14
# PlanCache that a device remembers; the oldest goes first.
_PLANS = 1024
# Numbers that have come twice in a row, of launches that differ in numbers: more than there are versions.
_REPEATED = 64
_DOUBLE = struct.Struct("d")
# Types of which equal values are the same to a kernel, and others that a key has by their bytes.
_BY_VALUE = frozenset([int, bool, type(None), *[np.dtype(char).type for char in "bBhHiIlLqQ"]])
_NUMBERS = (np.number, np.bool_)
# What a plan follows from: all but the numbers among a launch's arguments, and these.
Key = tuple[Hashable, Hashable]


@dataclass(frozen=True, slots=True, eq=False)
class LaunchPlan:
    """How blocks of a launch will run."""

    prepared: Prepared
    executable: Executable
    laid: Laid
    ranges: Sequence[int]  # the range table's entries for global memory
    system: System
    shared: int  # bytes, static and dynamic
    blocks: range
    count: int  # of threads
    resident: int  # blocks that may be under way at once since they may wait for others; 0 if they do not
    chunk: int  # blocks that a worker takes at once
    worker_bytes: int
    joins: bool  # the launching thread is a worker itself
    may_join: bool  # and if not, it may be one under guard (guard.py), when launches are known to be short
    private: tuple[PrivateArray, ...]  # arrays that each worker but the first has of its own
    alone: bool  # no two threads come to one address by atomic operations
    defers: int  # sums that a block may leave for its end
    known: tuple[int | None, int, bool]  # the kernel's experience that it follows from
    clustered: bool  # blocks of a cluster wait for each other, or reach each other's shared memory
    whole: bool  # the code runs all blocks, even if it is small code and there is better before the end
    device: str  # the engine, in words
    lasting: bool  # it holds whatever numbers are passed, if the code does

    @property
    def shared_work(self) -> bool:
        """Whether workers take blocks from one place, and none waits for another's."""
        return not (self.clustered or self.resident or self.prepared.cooperative)

    @property
    def small(self) -> bool:
        """Whether it has so few blocks that they run on one thread unless they take long."""
        return 1 < len(self.blocks) < _SMALL_GRID

    def beside(self) -> LaunchPlan:
        """The same with buffers of its own, for a launch that is made while this one's are in use."""
        return replace(self, executable=self.executable.free(), system=self.system.again())

    def apart(self) -> LaunchPlan:
        """The same with buffers that other plans leave alone, if it has come on theirs.

        Two launches that take turns, as steps from one array to another and back, fill them in once each.
        """
        ready = self.executable.ready
        if ready is None or ready.plan is self:
            return self
        other = self.executable.other(self.count * self.worker_bytes)
        return self if other is self.executable else replace(self, executable=other)

    @property
    def left(self) -> range | None:
        """The blocks that small code has left to better code, if it has any."""
        first = self.executable.control.taken
        left = self.executable.small and not self.whole and first < self.blocks.stop
        return range(first, self.blocks.stop) if left else None


def make_plan(
    launch: Launch,
    prepared: Prepared,
    executable: Executable,
    bound: Bound,
    heap: Heap,
    blocks: range,
    resident: int,
    rehearsed: bool = False,
) -> LaunchPlan:
    """Decide how blocks of a launch run; raises LaunchError if the memory limit does not allow it.

    `resident` is how many blocks the modelled GPU could hold at once. Where a launch is `rehearsed`, no probe
    needs its blocks on one thread.
    """
    laid = lay_out(bound) if launch.resident is None else launch.resident.lay_out()
    workspace = grid_workspace() if prepared.cooperative else ()
    parameters = prepared.parameters.fill(laid.parameters) if prepared.parameters else ()
    others = [*laid.low, *parameters, *workspace, *laid.with_variables(prepared.module.words)]
    ranges = [*others, *laid.words, *heap.words()]
    facts = prepared.facts
    shared = facts.shared.static + launch.shared
    turns = executable.code.turns
    # Blocks that wait for each other cannot take turns: each needs the others to go on.
    watched = not rehearsed and any(probe.alone for probe in executable.probes)
    meets = len(blocks) > 1 or launch.timeout == inf  # a single block waits for other launches, or in vain
    waits = facts.waits_for_blocks and meets and not (prepared.cooperative or facts.clustered)
    apart = not (prepared.cooperative or waits or facts.clustered)  # no block needs another to go on
    alone = watched or prepared.allocates or (turns and not apart)
    short = is_short(prepared, launch) and not executable.probes
    experience = executable.experience
    many = len(blocks) >= _SMALL_GRID or experience.long
    count = thread_count() if many and not (alone or short) else 1
    if turns:  # who waits for a turn keeps a core busy
        count = min(count, spare_cores() + 1)
    if apart:
        count = min(count, experience.workers_for(len(blocks)) or count)
    need = footprint(facts, executable.code, executable.shape, shared)
    together = len(blocks) if prepared.cooperative else None
    if facts.clustered:
        together = prod(executable.shape.cluster)
        count = affordable(need, launch.compiled.name, count * together, together) // together
    else:
        count = affordable(need, launch.compiled.name, count, together)
    if waits:
        watched = executable.probes or prepared.allocates  # what is known of all workers from the start
        resident = min(resident, len(blocks), affordable(need, launch.compiled.name, 2 * resident, None) // 2)
        resident = max(count, min(resident, _MOST_WATCHED) if watched else resident)
    private, own, defers = (), False, False
    if count > 1 and apart and not (facts.services or executable.probes):
        arrays = range(len(others) // RANGE_WORDS, (len(others) + len(laid.words)) // RANGE_WORDS)
        given = laid.parameters, prepared.symbols.parameters
        sharing = Sharing(len(blocks) * prod(launch.block), count, experience.changes)
        private, own = choose_private(facts.privatisable, ranges, arrays, given, sharing)
        defers = executable.code.defers and may_defer(facts.deferrable, ranges, given)
    return LaunchPlan(
        prepared,
        executable,
        laid,
        ranges,
        System(launch.grid, launch.block, heap, goes_on=any(one.refuses for one in executable.probes)),
        shared,
        blocks,
        count,
        resident if waits else 0,
        1 if turns or waits else _taken_at_once(len(blocks), count, executable.shape.blocks, rehearsed),
        need.each,
        not executable.probes and is_soon_over(prepared, launch),
        apart and not (watched or alone or facts.services or executable.small or executable.probes),
        private,
        count == 1 or own or (turns and facts.in_turns),
        _MOST_DEFERRED if defers else 0,
        experience.known,
        facts.clustered,
        executable.small and (waits or not apart),
        describe(thread_count()),
        count == 1 or not (executable.code.defers or facts.privatisable.anything),
    )


@lru_cache
def describe(threads: int) -> str:
    """The engine as reports name it."""
    plural = "" if threads == 1 else "s"
    return f"warpglass engine on {cpu_name()}, {threads} thread{plural} (CPU; no GPU is involved)"


def _taken_at_once(blocks: int, workers: int, together: int, rehearsed: bool) -> int:
    """How many blocks a worker takes at once, of which so many run together.

    What observers keep of neighbouring blocks lies in the same pages, which each worker has of its own.
    """
    most, shares = (_MOST_TAKEN_ALONE, _LONE_SHARES) if workers == 1 else (_MOST_TAKEN, workers * _SHARES)
    if rehearsed:
        most, shares = _MOST_TAKEN_ALONE, workers * _LONE_SHARES
    return -(-max(1, min(most, blocks // shares)) // together) * together


@dataclass(slots=True)
class _Kept:
    """A plan, and what must still be so for it to hold.

    With `parameters` it is that of launches that differ in numbers, for those with these.
    """

    plan: LaunchPlan
    compiled: object  # alive, so that its id is its own
    general: Executable
    hot: bool  # whether the general one was, when this was planned
    parameters: bytes | None = None

    @property
    def holds(self) -> bool:
        """Whether it follows from what is known now."""
        now = self.plan.executable.experience
        known = now.workers, now.changes, now.long  # as `known`, without a call
        return self.general.tiers.hot == self.hot and self.plan.known == known


@dataclass(slots=True)
class _Lasting:
    """A plan for launches that differ in numbers, the numbers of the latest, and those that came twice.

    Arguments become parameters by `renumber`, None for those that come packed. Of these the code may take
    some for granted, which are `baked`; of arguments that is part of their arrays' layout.
    """

    kept: _Kept
    renumber: Renumber | None
    baked: object
    latest: Hashable
    repeated: set[Hashable] = field(default_factory=set)

    def parameters(self, launch: Launch) -> bytes | None:
        """The block of a launch's parameters; None if the plan is not for it. Raises ArgumentError."""
        if self.renumber is not None:
            return self.renumber(launch.args)
        assert launch.resident is not None, "parameters come packed"
        prepared = self.kept.plan.prepared
        if prepared.structural and prepared.baked(self.values(launch)) != self.baked:
            return None
        return launch.resident.parameters

    def values(self, launch: Launch) -> Sequence[object]:
        """The values of its parameters."""
        if self.renumber is not None:
            return self.renumber.values(launch.args)
        assert launch.resident is not None, "parameters come packed"
        return launch.resident.bind(self.kept.plan.prepared).values


class PlanCache:
    """The plans of one device's earlier launches."""

    def __init__(self, heap: Heap) -> None:
        self._heap = heap
        self._kept: dict[Key, _Kept] = {}
        self._lasting: dict[Hashable, _Lasting] = {}

    def find(self, launch: Launch) -> tuple[Key | None, LaunchPlan | None, bytes | None]:
        """The launch's key, None if it has to be planned each time, and the plan if there is one.

        With a plan that is for other launches as well come the parameters of this one. Raises ArgumentError.
        """
        key = _key(launch)
        kept = self._kept.get(key) if key is not None else None
        if key is not None and kept is not None and not kept.holds:
            del self._kept[key]
            kept = None
        if kept is None:
            return key, *self._find_lasting(launch, key)
        if not self._heap.unused:
            return key, None, None
        kept.plan = kept.plan.apart()
        return key, kept.plan, kept.parameters

    def latest(self, launch: Launch) -> LaunchPlan | None:
        """The plan that a launch has just been run by, if it is kept."""
        key = _key(launch)
        if key is None:
            return None
        kept = self._kept.get(key)
        if kept is None and (lasting := self._lasting.get(key[0])) is not None:
            kept = lasting.kept
        return None if kept is None or not kept.holds else kept.plan

    def _find_lasting(self, launch: Launch, key: Key | None) -> tuple[LaunchPlan | None, bytes | None]:
        """A plan for launches that differ in numbers, and this one's parameters.

        Numbers that come twice in a row are better off with a plan of their own.
        """
        frame, numbers = key or (None, None)
        found = self._lasting.get(frame)
        if found is None or not self._heap.unused or not found.kept.holds:
            _settings()
            return None, None
        parameters = found.parameters(launch)
        if parameters is None:
            return None, None
        plan, general = found.kept.plan.apart(), found.kept.general
        found.kept.plan = plan
        repeats, found.latest = numbers == found.latest, numbers
        if repeats and len(found.repeated) < _REPEATED:
            found.repeated.add(numbers)
        if numbers not in found.repeated:  # there is no version for them
            return plan, parameters
        code, settled = plan.prepared.specialised(general, launch.grid, found.values(launch))
        if code is not general:
            return None, None
        if settled and repeats:
            _put(self._kept, key, _Kept(plan, launch.compiled, general, general.tiers.hot, parameters))
        return plan, parameters

    def keep(
        self, key: Key, launch: Launch, plan: LaunchPlan, general: Executable, hot: bool, settled: bool
    ) -> None:
        """Remember a plan for the launch's key.

        It holds as long as `general`, the version for all integers, is or is not as hot as it was, if such
        launches will get the same version until then, which is `settled`.
        """
        prepared = plan.prepared
        apart = prepared.cooperative or plan.clustered or plan.resident > 0  # blocks that wait for each other
        alike = not (apart or prepared.parameters or prepared.facts.services)
        if not alike or launch.compiled.exceptions is not None or not self._heap.unused:
            return
        kept, (frame, numbers) = _Kept(plan, launch.compiled, general, hot), key
        if plan.lasting and plan.executable is general and not general.small:
            if launch.resident is None:
                renumber, baked = prepared.binder.renumber(plan.laid.parameters, launch.args), ()
            else:
                renumber, baked = None, prepared.baked(launch.resident.bind(prepared).values)
            _put(self._lasting, frame, _Lasting(kept, renumber, baked, numbers))
        elif settled:
            _put(self._kept, key, kept)

    def clear(self) -> None:
        """Forget all plans."""
        self._kept.clear()
        self._lasting.clear()


def _put(plans: dict[Any, Any], key: Hashable, plan: object) -> None:
    """Remember a plan as the newest one."""
    plans.pop(key, None)
    plans[key] = plan
    if len(plans) > _PLANS:
        del plans[next(iter(plans))]


# What the variables hold that `_settings` follow from.
_said = reader(THREADS, MODE, TIER, MEMORY)


def _settings() -> None:
    """Raise ArgumentError for a variable that is wrong, where nothing has been planned with it."""
    for setting in (engine_mode, chosen_tier, thread_count, memory_limit):
        setting()


def _key(launch: Launch) -> Key | None:
    """What a plan for a launch follows from; None if that cannot be said in short."""
    frame: list[Hashable] = []
    numbers: list[Hashable] = []
    resident = launch.resident
    for arg in launch.args if resident is None else ():
        kind = type(arg)
        if kind is np.ndarray or kind is np.memmap:
            frame.append(signature_of(arg))  # type: ignore[arg-type]
            continue
        if kind in _BY_VALUE:
            numbers.append(arg)
        elif kind is float:  # by its bits: zeros have a sign
            numbers.append(_DOUBLE.pack(arg))  # type: ignore[arg-type]
        elif isinstance(arg, _NUMBERS):
            numbers.append(arg.tobytes())
        else:
            return None
        frame.append(kind)
    if resident is not None:
        frame += resident.layout, launch.cooperative
        numbers.append(resident.parameters)
    said = _said()
    shape = launch.grid, launch.block, launch.shared, launch.cluster
    settings = said, only_tier(), said[0] or core_count()
    return (id(launch.compiled), shape, settings, tuple(frame)), tuple(numbers)
