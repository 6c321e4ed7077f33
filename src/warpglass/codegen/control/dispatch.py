"""Which block a warp runs next: lanes sent to blocks, the lowest with lanes, backward jumps, yields.

Every block has a mask of the lanes that have come to it (`%lanes_B`). What many blocks need is emitted once,
at the function's end: a jump back to a block, which looks at the stop flag, and, where lanes may wait in many
places, the tests of all those masks in order. So a function's length stays in proportion to its program's.

Results of kernels that wait for each other may depend on the order in which their warps run. So what makes a
warp yield, and a fair loop's lanes take turns, follows from the program and from where lanes are, never from
how a choice is emitted, which differs between optimised code and the reference: each time that a fair
loop's header begins is a turn, and all choices of a block that may jump back to one are in cyclic order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence

from ...program import Pending, Program
from ..builder import Builder
from ..context import RESUME, SLOT
from ..registers import Registers
from .warp_barriers import Word

# Turns of fair loops that a warp begins before it lets the other warps of its block run.
TIME_SLICE = 64
# Blocks up to which their masks become values. Many stay in memory, side by side in `%masks`: to make values
# of them takes quadratic time.
MOST_MASKS = 256
# Masks that a block tests itself at its end; more are tested by code that all blocks share.
_OWN_TESTS = 4


class Dispatch:
    """Emits the choices between the blocks of one program.

    `place` gives a pointer to a word of the frame; `exit` is told of lanes that exit.
    """

    def __init__(
        self,
        program: Program,
        pending: Pending,
        registers: Registers,
        place: Callable[[Word], str],
        exit: Callable[[str], None],
    ):
        self._program = program
        self.pending = pending
        self._registers = registers
        self._builder: Builder = registers.builder
        self._place = place
        self.exit = exit
        self.yields = sorted(pending.fair)
        self._yielding: list[tuple[str, str]] = []  # states, and the labels at which warps yield in them
        self._back: set[int] = set()  # targets of backward jumps
        self.entries: dict[
            int, str
        ] = {}  # labels at which backward jumps enter blocks, if not at their start
        self._tested: set[int] = set()  # blocks whose masks the shared code tests
        self._behind: set[int] = set()  # of those, the ones that a jump from there may lead back to
        self._orders: dict[frozenset[int], list[int]] = {}  # the blocks of sets that are tested, sorted
        self._last: dict[frozenset[int], int] = {}  # and the last block that goes on to one of them
        self._starts: dict[str, set[int]] = {"look": set(), "cycle": set()}

    @property
    def side_by_side(self) -> bool:
        """Whether the blocks' masks stay in memory."""
        return len(self._program.blocks) > MOST_MASKS

    @property
    def functions(self) -> Sequence[str]:
        """What the choices call, as LLVM IR."""
        return ()

    def takes(self, index: int, blend: frozenset[str]) -> bool:
        """Whether the dispatch sees to a block itself, which then has no code in the warp function."""
        return False

    def masks(self) -> list[str]:
        """A word for each block, empty, as LLVM IR."""
        count, lanes = len(self._program.blocks), self._builder.lanes
        if not self.side_by_side:
            return [f"  %lanes_{i} = alloca {lanes}\n  store {lanes} 0, ptr %lanes_{i}" for i in range(count)]
        return self._side_by_side(count, range(count))

    @staticmethod
    def _side_by_side(count: int, named: Iterable[int]) -> list[str]:
        """So many words in memory, and names for some of them."""
        given_away = '  call void asm sideeffect "", "r"(ptr %masks)'
        return [
            f"  %masks = alloca [{count} x i32]",
            f"  call void @llvm.memset.p0.i64(ptr %masks, i8 0, i64 {4 * count}, i1 false)",
            given_away,
            *(f"  %lanes_{block} = getelementptr i32, ptr %masks, i32 {block}" for block in named),
        ]

    @property
    def words(self) -> list[Word]:
        """The words of the frame in which lanes' masks are kept while the warp has yielded."""
        return [("yield", block) for block in reversed(self._occupied())]

    @property
    def resumes(self) -> int:
        """The number of states in which the warp waits at a barrier."""
        return 1 if self.pending.divergent_barrier else len(self.pending.resumes)

    @property
    def first_yield(self) -> int | None:
        """The least state that means the warp lets others run; None if this kernel's warps never do."""
        return RESUME + self.resumes if self.yields else None

    def send(self, source: int, target: int, lanes: str, add: bool = False) -> None:
        """Put lanes in front of a block, beside those that may wait there already."""
        b = self._builder
        if self._program.blocks[target].only_exits:
            self.exit(lanes)
            return
        if add or target in self.pending.sets[source]:
            lanes = b.value(f"or {b.lanes} {b.load(b.lanes, self._mask(target))}, {lanes}")
        b.store(b.lanes, lanes, self._mask(target))

    def _mask(self, block: int) -> str:
        """Where the mask of a block is."""
        return f"%lanes_{block}"

    def choose(self, targets: Sequence[int], source: int | None) -> None:
        """Go to the lowest block that has lanes, among the targets and the blocks where lanes may wait.

        `source` is None where a warp resumes: all lanes are then in front of the targets.
        """
        if source is None:
            self._try(targets, None, None)
            return
        real = {target for target in targets if not self._program.blocks[target].only_exits}
        cyclic = self._takes_turns(source)
        waiting = self.pending.sets[source]
        if len(waiting) > _OWN_TESTS or len(real | waiting) > _OWN_TESTS:
            self._share(waiting, real, source, cyclic)
            return
        candidates = sorted(real | waiting)
        if cyclic:
            candidates = [c for c in candidates if c > source] + [c for c in candidates if c <= source]
        # If no target is an exit, someone is sure to be at the last of them once the others are empty.
        everyone_stays = len(real) == len(set(targets))
        certain = next((c for c in reversed(candidates) if c in real), None) if everyone_stays else None
        self._try(candidates, source, certain)

    def _takes_turns(self, source: int) -> bool:
        """Whether a block may jump back in a fair loop: its lanes take turns with all others."""
        successors = self._program.blocks[source].successors
        return any(target in self.pending.fair and target <= source for target in successors)

    def resume(self, candidates: Iterable[int], source: int) -> None:
        """Go to the lowest of some blocks that has lanes; nobody else has any."""
        candidates = frozenset(candidates)
        if len(candidates) > _OWN_TESTS:
            self._share(candidates, (), source, cyclic=False)
        else:
            self._try(sorted(candidates), source, None)

    def choose_ahead(self, candidates: Iterable[int]) -> None:
        """Go to the lowest of the blocks that has lanes; if none has, go on with what is emitted next."""
        for candidate in sorted(candidates):
            further = self._test(candidate)
            self._go(candidate, len(self._program.blocks))
            self._builder.place(further)

    def _try(self, candidates: Iterable[int], source: int | None, certain: int | None) -> None:
        for candidate in candidates:
            if candidate == certain:
                self._go(candidate, source)
                return
            further = self._test(candidate)
            self._go(candidate, source)
            self._builder.place(further)
        self._builder.jump("leave")

    def _test(self, candidate: int) -> str:
        """Emit the test whether a block has lanes; what is emitted next runs if so, else the label."""
        b = self._builder
        there, further = b.label("go"), b.label("next")
        b.branch(b.someone(b.load(b.lanes, self._mask(candidate))), there, further)
        b.place(there)
        return further

    def enter(self, target: int) -> None:
        """Go to a block from where a warp begins or goes on."""
        self._builder.jump(f"block_{target}")

    def _go(self, target: int, source: int | None) -> None:
        if source is None or target > source:
            self._builder.jump(f"block_{target}")
            return
        self._builder.jump(self.back(target))

    def back(self, target: int) -> str:
        """The label of the jump back to a block."""
        self._back.add(target)
        return f"back_{target}"

    def _share(self, waiting: frozenset[int], targets: Collection[int], source: int, cyclic: bool) -> None:
        """Leave the choice to the shared tests. Blocks that are no candidates have no lanes.

        Many blocks have the same set of blocks where lanes may wait: it is looked through once, at the end.
        """
        order = self._orders.get(waiting)
        if order is None:
            order = self._orders[waiting] = sorted(waiting)
        self._last[waiting] = max(source, self._last.get(waiting, -1))
        self._tested.update(targets)
        self._behind.update(target for target in targets if target <= source)
        first, chain = min([*order[:1], *targets]), "look"
        later = order[bisect_right(order, source) :][:1]
        ahead = [*later, *(target for target in targets if target > source)]
        if cyclic and ahead:
            self._starts["look"].add(first)
            first, chain = min(ahead), "cycle"
        self._starts[chain].add(first)
        self._look(chain, first)

    def _look(self, chain: str, first: int) -> None:
        """Go to the tests of a chain from a block on."""
        self._builder.jump(f"{chain}_{first}")

    # ------------------------------------------------------------------------------------ what is shared
    def finish(self) -> None:
        """Emit what the blocks share."""
        for waiting, source in self._last.items():
            self._tested |= waiting
            self._behind.update(block for block in waiting if block <= source)
        self._test_all()
        for target in sorted(self._back):
            self._jump_back(target)
        if self._yielding:
            self._yield()

    def _test_all(self) -> None:
        """The tests that blocks share."""
        self._chain("cycle", f"look_{min(self._starts['look'], default=0)}")
        self._chain("look", "leave")

    def _chain(self, name: str, end: str) -> None:
        """Tests of the masks in order, to be entered at any of the starts."""
        b = self._builder
        starts = self._starts[name]
        if not starts:
            return
        for candidate in sorted(block for block in self._tested if block >= min(starts)):
            if candidate in starts:
                b.jump(f"{name}_{candidate}")
                b.place(f"{name}_{candidate}")
            further = self._test(candidate)
            self._go(candidate, candidate if candidate in self._behind else None)
            b.place(further)
        b.jump(end)

    def look_at_stop(self, target: str, lanes: str) -> None:
        """Stop in front of a block, an i64, whose mask is at `lanes`, if the launch is to."""
        b = self._builder
        stop = b.value("load volatile i32, ptr %stop")
        on, off = b.label("on"), b.label("off")
        b.branch(b.value(f"icmp ne i32 {stop}, 0"), off, on, unlikely=True)
        b.place(off)
        b.store("i64", target, b.offset("%context", 8 * SLOT["fault_site"]))
        record_lane(b, b.load(b.lanes, lanes))
        b.jump("stopped")
        b.place(on)

    def _jump_back(self, target: int) -> None:
        b = self._builder
        b.place(f"back_{target}")
        self.look_at_stop(str(target), f"%lanes_{target}")
        b.jump(self.entries.get(target, f"block_{target}"))

    # ------------------------------------------------------------------------------------ yielding
    def begin(self, index: int) -> None:
        """Start a block. A fair loop's header costs a turn, but not a warp that goes on there."""
        self._builder.place(f"block_{index}")
        if index in self.pending.fair:
            self._spend_slice(index)

    def turn(self, index: int) -> str:
        """The label behind what a block's beginning costs."""
        return f"turn_{index}" if index in self.pending.fair else f"block_{index}"

    def _spend_slice(self, header: int) -> None:
        """Take a turn. The last of the time slice is taken when the warp goes on, after it has yielded."""
        b = self._builder
        left = b.value(f"sub i32 {b.load('i32', '%turns')}, 1")
        b.store("i32", left, "%turns")
        over = b.label("over")
        b.branch(b.value(f"icmp eq i32 {left}, 0"), over, self.turn(header), unlikely=True)
        b.place(over)
        self._end_slice(header, over)
        b.place(self.turn(header))

    def _end_slice(self, header: int, label: str) -> None:
        """Yield, from the basic block that is being emitted, `label`."""
        assert self.first_yield is not None
        self._yielding.append((str(self.first_yield + self.yields.index(header)), label))
        self._builder.jump("yield")

    def _yield(self) -> None:
        """Keep all lanes where they stand and let the other warps of the block run."""
        b = self._builder
        b.place("yield")
        state = b.phi("i32", *self._yielding)
        self._copy_masks(lambda block: (f"%lanes_{block}", self._place(("yield", block))))
        self._registers.save(self._live_at_yield())
        b.emit(f"ret i32 {state}")

    def resume_yielded(self) -> None:
        """Go on where the warp has yielded."""
        b = self._builder
        self._copy_masks(lambda block: (self._place(("yield", block)), f"%lanes_{block}"))
        self._registers.restore(self._live_at_yield())
        assert self.first_yield is not None
        states = enumerate(self.yields, start=self.first_yield)
        cases = " ".join(f"i32 {state}, label %{self.turn(header)}" for state, header in states)
        b.emit(f"switch i32 %state, label %{self.turn(self.yields[0])} [ {cases} ]")

    def _copy_masks(self, places: Callable[[int], tuple[str, str]]) -> None:
        """Copy the masks of blocks that may have lanes: `places` says from where to where."""
        b, blocks = self._builder, self._occupied()
        if not self.side_by_side:
            for source, target in map(places, blocks):
                b.store(b.lanes, b.load(b.lanes, source), target)
            return
        source, target = places(0)
        args = [("ptr", target), ("ptr", source), ("i64", f"{4 * len(blocks)}"), ("i1", "false")]
        b.call("void", "llvm.memcpy.p0.p0.i64", args)

    def _occupied(self) -> list[int]:
        """The blocks where lanes may stand when a warp yields: all, if their masks lie side by side."""
        if self.yields and self.side_by_side:
            return list(range(len(self._program.blocks)))
        return sorted(self._standing())

    def _live_at_yield(self) -> frozenset[str]:
        return frozenset().union(*(self._program.live[block] for block in self._standing()))

    def _standing(self) -> set[int]:
        """The blocks in front of which lanes may stand when a warp yields."""
        return {block for header in self.yields for block in (header, *self.pending.sets[header])}


def record_lane(builder: Builder, mask: str) -> None:
    """Tell the engine the lowest lane of those that fault or were stopped."""
    place = builder.offset("%context", 8 * SLOT["fault_lane"])
    builder.store("i64", builder.first_lane(mask), place)
