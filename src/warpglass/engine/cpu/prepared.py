"""A kernel made ready for the CPU engine: compiled once per block shape, buffers per worker."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache, partial
from itertools import count

from ... import ptx
from ...codegen import (
    BlockShape,
    Instrument,
    KernelCode,
    Probe,
    Promises,
    Symbols,
    generate,
    grid_class,
)
from ...errors import ArgumentError, WarpglassError
from ...host.background import in_background
from ...host.budget import compile_deadline
from ...host.environment import read
from ...program import Program, Step, build_program
from ...program.facts import Facts, find_facts
from ...program.pointers import Base, bases_of
from ...ptx.tree import Module
from ...source.apart import FailedApart
from ...source.compiled import Compiled
from ..launch.arguments import Binder, Bound
from ..launch.backend import Dim3
from ..launch.parameters import parameters_of
from ..launch.values import Parameter
from .address_space import ModuleMemory, ParameterMemory
from .experience import Experience
from .generated import Generated, fresh, known_code, known_facts
from .ready import Ready
from .specialisation import Specialisations, simplifies
from .tiers import OPTIMISED, QUICK, SMALL, Tiers, chosen_tier, compiled_before
from .worker import Control, Worker

# Block shapes and the like for which a kernel's code is kept loaded; the oldest goes first.
_SHAPES = 128
# Characters of quick code's IR up to which there are versions for launches that repeat their integers.
_LONGEST = 1 << 20
# Lines of IR, as the reference spells steps out, up to which quick code is waited for: about a second, three
# times as long as for small code. Kernels of few steps have fewer.
_MOST_LINES, _FEW_STEPS = 8_000, 300
# Bytes of a worker that a kernel keeps from launch to launch.
_KEEP = 16 << 20
# How many kept plans have buffers of their own, the bytes of these, and how many times others come on buffers
# that are taken until one gets those that were given longest ago: its launches may be over.
_MOST_ALIKE, _ALIKE, _COME = 8, 8 << 20, 64

# What code is compiled for: block shape, class of grids, structural parameters with their values, what
# watches it, and the clusters in blocks.
_Key = tuple[Dim3, Dim3 | None, tuple[tuple[int, int], ...], Instrument | None, Dim3 | None]


_LOGGER = logging.getLogger("warpglass")


MODE = "WARPGLASS_ENGINE"


def engine_mode() -> str:
    """ "reference" (every register a vector) or "kinds", from WARPGLASS_ENGINE."""
    mode = read(MODE) or "kinds"
    if mode not in ("reference", "kinds"):
        raise ArgumentError(f"WARPGLASS_ENGINE is {mode!r}; it may be 'reference' or 'kinds'")
    return mode


class Executable:
    """Machine code for one block shape, and the buffers it runs on."""

    def __init__(
        self,
        prepared: Prepared,
        shape: BlockShape,
        promises: Promises | None,
        instrument: Instrument | None,
        tier: str | None = None,
        *,
        small: bool = False,
        apart: bool = False,
        generated: Generated | None = None,
    ):
        """`tier`, `small` and `apart` as Tiers takes them; `generated` is the code, if known."""
        symbols = prepared.symbols
        self.small = small
        if instrument is None:
            self.probes: tuple[Probe, ...] = ()
            generated = generated or prepared.generated(shape, promises, small=small)
            assert generated is not None
        else:
            self.probes = tuple(instrument.probes(prepared.program))
            generated = fresh(generate(prepared.program, shape, symbols, self.probes, promises))
        self.code: KernelCode = generated.code
        self.shape = self.code.shape
        self.control = Control()
        self.experience = Experience()
        self.ready: Ready | None = None  # the workers as a kept plan has them filled in
        self.busy = False  # a launch uses the buffers while others are made
        self._superseded = False
        self._alike = [self]  # those with the same code, and buffers of their own
        self._come = count(1)
        self.tiers = Tiers(prepared.entry, generated, self._retire, tier, small=small, apart=apart)
        self._threads = self.shape.thread_table_aligned()
        self._parameters = prepared.binder.layout.size
        self._local = prepared.facts.local.size
        self._workers: list[Worker] = []
        self._leaving: list[Worker] = []
        self._clusters: list[Worker] = []

    def begin(self, first: int) -> None:
        """Make ready for a launch, or for the part of one that starts at block `first`."""
        self.control.clear(first)
        if self._superseded:
            self.control.retire()

    def stop(self) -> None:
        """End the launch that is under way."""
        self.control.stop()

    def come_back(self) -> None:
        """Let Python run once, between two blocks of each worker."""
        self.control.retire()

    def notice(self) -> None:
        """Note that the launch takes long."""
        self.tiers.notice()

    def supersede(self) -> None:
        """There is better code, which workers are to leave the blocks to that they have not taken yet."""
        for one in self._alike:
            one._superseded = True
        self._retire()

    def _retire(self) -> None:
        """Have all workers look for better code between two blocks."""
        for one in self._alike:
            one.control.retire()

    def free(self) -> Executable:
        """The same code with buffers that no launch uses: this, or a twin of it."""
        return next((one for one in self._alike if not one.busy), None) or self._twin()

    def other(self, size: int) -> Executable:
        """The same code for a plan that has come on buffers that are taken; it needs `size` bytes of them.

        With other buffers, or with these if there are as many as may be.
        """
        if len(self._alike) < min(_MOST_ALIKE, _ALIKE // max(1, size)):
            return self._twin()
        if next(self._come) % _COME:
            return self
        self._alike.append(self._alike.pop(0))
        return self._alike[-1]

    def _twin(self) -> Executable:
        twin = copy(self)
        twin.control, twin.busy = Control(), False
        twin._workers, twin._leaving, twin._clusters, twin.ready = [], [], [], None
        self._alike.append(twin)
        return twin

    def residents(self, blocks: int) -> list[Worker]:
        """A worker for each block of a cooperative grid, all of which are under way at once."""
        found: list[Worker] = []
        for block in range(blocks):
            control = Control(self.control, block)
            worker = self._worker(control)
            worker.make_resident()
            found.append(worker)
        return found

    def clusters(self, size: int, count: int) -> list[Worker]:
        """The workers of `count` clusters that are under way at once: `size` for each, by rank."""
        while len(self._clusters) < count * size:
            worker = self._worker(Control(self.control, 0))
            worker.make_resident()
            self._clusters.append(worker)
        return self._clusters[: count * size]

    def workers(self, count: int) -> list[Worker]:
        """The buffers of the first `count` workers."""
        while len(self._workers) < count:
            self._workers.append(self._worker(self.control, len(self._workers)))
        return self._workers[:count]

    def leaving(self, count: int, *, alone: bool) -> list[Worker]:
        """The buffers of the first `count` workers of those that leave a block which waits for another.

        With `alone` one thread has them all.
        """
        while len(self._leaving) < count:
            worker = self._worker(self.control)
            worker.make_resident()
            if alone:
                worker.share_turn()
            self._leaving.append(worker)
        return self._leaving[:count]

    def _worker(self, control: Control, number: int = 0) -> Worker:
        sizes = self._parameters, self._local
        return Worker(self.code, self.shape, self._threads, control, *sizes, number)

    def apart(self) -> tuple[Worker, Control]:
        """Buffers of one worker that no other launch uses, and their control."""
        control = Control()
        return self._worker(control), control

    def trim(self, each: int) -> None:
        """Give back the workers' buffers if one worker has so many bytes that they are not worth keeping."""
        if each > _KEEP:
            self.release()

    def release(self) -> None:
        """Give back the workers' buffers, which observers may have made large."""
        self.ready = None
        self._workers.clear()
        self._leaving.clear()
        self._clusters.clear()


class Prepared:
    """What launches need of a kernel, and its executables by block shape."""

    def __init__(self, compiled: Compiled, memory: ModuleMemory | None = None, tree: Module | None = None):
        """`memory` has the variables of a module that is loaded on a device, `tree` is its PTX, if it is."""
        self.text, self.entry, self.name = compiled.ptx, compiled.entry, compiled.name
        # A compiler's text has no mistakes in other kernels; an author's has been parsed for them.
        self._parse = ptx.parse_authored if compiled.language == "ptx" else ptx.parse
        self._tree = tree
        self.facts = facts = known_facts(self.text, self.entry, self._find_facts)
        # Cooperative groups find the grid's barrier through environment registers.
        self.cooperative = "%envreg" in compiled.ptx
        parameters = parameters_of(facts.parameters)
        self.binder = Binder(compiled, parameters)
        self.module = memory or ModuleMemory(facts.variables, {})
        self.module.relocate(facts.functions)
        size = self.binder.layout.size
        self.parameters = ParameterMemory(parameters, size) if facts.addressed else None
        addresses = {
            **facts.functions,
            **facts.shared.offsets,
            **facts.local.offsets,
            **self.module.addresses,
            **(self.parameters.addresses if self.parameters else {}),
        }
        ranked = frozenset(facts.shared.offsets) if facts.clustered else frozenset[str]()
        self.symbols = Symbols({p.name: p.offset for p in parameters}, addresses, ranked)
        self.allocates = not facts.services.isdisjoint(("malloc", "free"))
        self.most_steps = None if self.cooperative or facts.clustered else facts.most_steps
        self.structural = _structural_parameters(compiled, parameters)
        self._executables: dict[_Key, Executable] = {}
        self._small: dict[_Key, Executable] = {}  # those in small code, by the same keys
        self._specialisations: Specialisations[Executable] = Specialisations(parameters)

    @cached_property
    def program(self) -> Program:
        """The kernel's program, built when first asked for: machine code that is known needs none."""
        with compile_deadline(self.name):
            return build_program(self._module(), self.entry)

    @cached_property
    def steps(self) -> dict[int, Step]:
        """The program's steps by number."""
        return {step.number: step for block in self.program.blocks for step in block.all_steps}

    @cached_property
    def bases(self) -> Mapping[int, frozenset[Base]]:
        """What the addresses of its accesses are computed from, by step."""
        return bases_of(self.program)

    def _module(self) -> Module:
        return self._tree or self._parse(self.text, self.name, self.entry)

    def _find_facts(self) -> Facts:
        program = self.program
        return find_facts(next(f for f in self._module().functions if f.name == self.entry), program)

    def executable(
        self,
        block: Dim3,
        grid: Dim3,
        bound: Bound,
        instrument: Instrument | None = None,
        cluster: Dim3 | None = None,
        *,
        soon: bool = False,
    ) -> Executable:
        """Machine code for a launch's block shape, grid and array layouts, compiled when first asked for.

        `soon` says that small code will do as long as there is no other.
        """
        key = self._key(block, grid, bound, instrument, cluster)
        tier = chosen_tier() if instrument is None else QUICK
        kept = self._small if tier == SMALL else self._executables
        found = self._get(kept, key, tier is None and soon)
        if found is None:
            promises = None if key[1] is None else Promises(key[1], dict(key[2]))
            shape = BlockShape(
                block,
                self.facts.shared.static,
                cluster=cluster or (1, 1, 1),
                ranked=self.facts.clustered,
                explicit=cluster is not None,
            )
            with compile_deadline(self.entry):
                if tier == SMALL:
                    found = Executable(self, shape, promises, None, small=True)
                elif tier is None and soon and (small := self.small_first(shape, promises)) is not None:
                    found = self._begin_small(key, shape, promises, small)
                    kept = self._small
                else:
                    found = Executable(self, shape, promises, instrument)
            kept[key] = found
            if len(kept) > _SHAPES:
                del kept[next(iter(kept))]
        found.tiers.require()
        return found.free()

    def _get(self, kept: Mapping[_Key, Executable], key: _Key, soon: bool) -> Executable | None:
        found = kept.get(key)
        return self._small.get(key) if found is None and soon else found

    def generated(
        self, shape: BlockShape, promises: Promises | None, *, small: bool = False, kept: bool = False
    ) -> Generated | None:
        """Code without probes, as `known_code` gives it."""
        program = partial(getattr, self, "program")
        return known_code(
            self.text, self.entry, program, shape, self.symbols, promises, small=small, kept=kept
        )

    def small_first(self, shape: BlockShape, promises: Promises | None) -> Generated | None:
        """Small code, if quick code would have to be made and somebody would wait too long for it."""
        known = None if promises is None else self.generated(shape, promises, kept=True)
        if promises is None or (known is not None and compiled_before(known)):
            return None
        if sum(len(block.steps) for block in self.program.blocks) < _FEW_STEPS:
            return None
        small = self.generated(shape, promises, small=True)
        assert small is not None
        return small if small.code.spared > _MOST_LINES else None

    def _begin_small(
        self, key: _Key, shape: BlockShape, promises: Promises | None, generated: Generated
    ) -> Executable:
        """Small code, from which other code will take over that is made in the background."""
        small = Executable(self, shape, promises, None, small=True, generated=generated)

        def job() -> None:
            try:
                with compile_deadline(self.entry):
                    self._executables[key] = Executable(self, shape, promises, None, apart=True)
            except (WarpglassError, FailedApart) as error:
                _LOGGER.info("%s stays in small code: %s", self.entry, error)
                return
            small.supersede()

        in_background(job, "compiler")
        return small

    def specialised(
        self, general: Executable, grid: Dim3, values: Sequence[object]
    ) -> tuple[Executable, bool]:
        """The version for launches that repeat their integers, if there is one; else the general one.

        And whether such launches will get the same until the general one becomes hot. `values` are those of
        the parameters.
        """
        tier = chosen_tier()
        if general.small:
            return general, False
        if engine_mode() != "kinds" or not (tier == OPTIMISED or (general.tiers.hot and tier is None)):
            return general, True
        if self.facts.clustered or general.tiers.unoptimised:
            return general, True

        def make(integers: Mapping[int, int]) -> Executable | None:
            promised = grid_class(grid)
            usual = Promises(promised, dict(self.baked(values)))
            special = Promises(grid, {**usual.parameters, **integers}, exact=True)
            try:
                return self._special(general, usual, special)
            except (WarpglassError, FailedApart):
                return None

        start = in_background if tier is None else _now
        key = general.shape, self.baked(values), grid
        special, settled = self._specialisations.find(key, values, make, start)
        return (special.free() if special is not None else general), settled

    def _special(self, general: Executable, usual: Promises, special: Promises) -> Executable | None:
        """Optimised code for what repeated launches promise; None if that makes it no simpler."""
        shape = general.shape.unfused
        with compile_deadline(self.entry):
            if general.tiers.length > _LONGEST:
                return None
            if not simplifies(self.program, shape, self.symbols, usual, special):
                return None
            return Executable(self, shape, special, None, OPTIMISED)

    def _key(
        self, block: Dim3, grid: Dim3, bound: Bound, instrument: Instrument | None, cluster: Dim3 | None
    ) -> _Key:
        if engine_mode() == "reference":
            return (block, None, (), instrument, cluster)
        return (block, grid_class(grid), self.baked(bound.values), instrument, cluster)

    def baked(self, values: Sequence[object]) -> tuple[tuple[int, int], ...]:
        """The parameters that are constants in the code for these values: offset and value."""
        return tuple([(offset, usual) for index, offset, usual in self.structural if values[index] == usual])


def _now(job: Callable[[], None]) -> None:
    job()


def _structural_parameters(
    compiled: Compiled, parameters: tuple[Parameter, ...]
) -> list[tuple[int, int, int]]:
    """Parameters that describe an array's layout: index, byte offset and the value of a contiguous array.

    Python kernels get the layout of every array as parameters; baked into the code, it makes their addresses
    as simple as C++ ones. Only the usual values are baked, so layouts do not multiply versions.
    """
    fields = [(argument, field) for argument in compiled.arguments or () for field in argument.fields]
    found: list[tuple[int, int, int]] = []
    for index, (argument, field) in enumerate(fields):
        last = (argument.ndim or 0) - 1
        itemsize = argument.dtype.itemsize if argument.dtype is not None else 0
        usual = {
            "offset": 0,
            "null": 0,
            "itemsize": itemsize,
            f"stride:{last}": 1,
            f"byte_stride:{last}": itemsize,
        }.get(field)
        if usual is not None:
            found.append((index, parameters[index].offset, usual))
    return found


@lru_cache(maxsize=512)
def prepare(compiled: Compiled) -> Prepared:
    """The prepared kernel for a piece of PTX; kept for later launches."""
    with compile_deadline(compiled.name):
        return Prepared(compiled)
