"""Basic blocks that are rows of a table, which one function goes through: LLVM has nothing to do for them.

A row names the words of the block's steps (steps.py), the register by which its lanes part, the blocks to
which they go, and the lowest block that may have lanes then. The function finds the next block with lanes,
runs its steps and sends its lanes on, until it comes to a block that has code of its own: one that ends in
anything but a jump, a branch or an exit, that waits for its turn, or where lanes take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...program import Barrier, Branch, Exit, Jump, Pending, Program, WarpBarrier
from ..control.dispatch import Dispatch
from ..control.warp_barriers import Word
from .steps import SharedSteps, table

# Masks that are looked at together.
_TOGETHER = 16
# What a search ends with that has found no block, or whose last block has faulted.
_NONE, _FAULT = -1, -2
# Words of a row: where the steps' rows begin and end, the place of the register, which of its bits are turned
# and set, the blocks for lanes that have a bit and for the others, and the lowest block with lanes then.
_WORDS = 8
_OWN_CODE = (-1,) * _WORDS

_RUN_BLOCKS = f"""
define internal i32 @wg_next_block(ptr %masks, i32 %from, i32 %count) noinline #0 {{
entry:
  %first = and i32 %from, {-_TOGETHER}
  %before = and i32 %from, {_TOGETHER - 1}
  %skipped = trunc i32 %before to i{_TOGETHER}
  %wanted.first = shl i{_TOGETHER} -1, %skipped
  br label %look
look:
  %at = phi i32 [ %first, %entry ], [ %next, %on ]
  %wanted = phi i{_TOGETHER} [ %wanted.first, %entry ], [ -1, %on ]
  %masks.p = getelementptr i32, ptr %masks, i32 %at
  %words = load <{_TOGETHER} x i32>, ptr %masks.p, align 4
  %some = icmp ne <{_TOGETHER} x i32> %words, zeroinitializer
  %bits = bitcast <{_TOGETHER} x i1> %some to i{_TOGETHER}
  %found = and i{_TOGETHER} %bits, %wanted
  %nobody = icmp eq i{_TOGETHER} %found, 0
  br i1 %nobody, label %on, label %there
on:
  %next = add i32 %at, {_TOGETHER}
  %more = icmp ult i32 %next, %count
  br i1 %more, label %look, label %none
there:
  %wide = zext i{_TOGETHER} %found to i32
  %behind = call i32 @llvm.cttz.i32(i32 %wide, i1 true)
  %block = add i32 %at, %behind
  ret i32 %block
none:
  ret i32 {_NONE}
}}
define internal i32 @wg_run_blocks(
  ptr %given, ptr %masks, ptr %frame, ptr %stop, i32 %from, i32 %count
) noinline #0 {{
entry:
  br label %look
look:
  %least = phi i32 [ %from, %entry ], [ %next, %part ]
  %block = call i32 @wg_next_block(ptr %masks, i32 %least, i32 %count)
  %nobody = icmp slt i32 %block, 0
  br i1 %nobody, label %leave, label %there
there:
  %wide = zext i32 %block to i64
  %row = getelementptr [{_WORDS} x i32], ptr @wg_blocks, i64 %wide
  %words = load <{_WORDS} x i32>, ptr %row, align 4
  %first = extractelement <{_WORDS} x i32> %words, i32 0
  %own.code = icmp slt i32 %first, 0
  %stops = load volatile i32, ptr %stop
  %stopped = icmp ne i32 %stops, 0
  %out = or i1 %own.code, %stopped
  br i1 %out, label %leave, label %run
run:
  %mask.p = getelementptr i32, ptr %masks, i64 %wide
  %mask = load i32, ptr %mask.p
  store i32 0, ptr %mask.p
  %end = extractelement <{_WORDS} x i32> %words, i32 1
  %some = icmp ult i32 %first, %end
  br i1 %some, label %steps, label %part
steps:
  %first.wide = zext i32 %first to i64
  %end.wide = zext i32 %end to i64
  %bad = call i1 @wg_run_steps(ptr %given, i32 %mask, i64 %first.wide, i64 %end.wide)
  br i1 %bad, label %fault, label %part
part:
  %slot = extractelement <{_WORDS} x i32> %words, i32 2
  %slot.wide = zext i32 %slot to i64
  %register = getelementptr i8, ptr %frame, i64 %slot.wide
  %bits = load i32, ptr %register
  %flip = extractelement <{_WORDS} x i32> %words, i32 3
  %flipped = xor i32 %bits, %flip
  %always = extractelement <{_WORDS} x i32> %words, i32 4
  %holds = or i32 %flipped, %always
  %taken = and i32 %holds, %mask
  %others = xor i32 %taken, %mask
  %target = extractelement <{_WORDS} x i32> %words, i32 5
  %target.p = getelementptr i32, ptr %masks, i32 %target
  %before = load i32, ptr %target.p
  %now = or i32 %before, %taken
  store i32 %now, ptr %target.p
  %other = extractelement <{_WORDS} x i32> %words, i32 6
  %other.p = getelementptr i32, ptr %masks, i32 %other
  %other.before = load i32, ptr %other.p
  %other.now = or i32 %other.before, %others
  store i32 %other.now, ptr %other.p
  %next = extractelement <{_WORDS} x i32> %words, i32 7
  br label %look
leave:
  ret i32 %block
fault:
  ret i32 {_FAULT}
}}
"""


class TabledDispatch(Dispatch):
    """Chooses among blocks by a search through their masks, and runs those that are rows."""

    def __init__(
        self,
        program: Program,
        pending: Pending,
        steps: SharedSteps,
        place: Callable[[Word], str],
        exit: Callable[[str], None],
        *,
        clocked: bool,
    ):
        """`clocked` says that the instructions that run are counted, which only code of their own does."""
        super().__init__(program, pending, steps.slots, place, exit)
        self._ends = [block.end for block in program.blocks]
        self._named: set[int] = set()  # blocks whose masks other code looks at
        self._slots = steps.slots
        self._steps = steps
        blocks = range(len(program.blocks))
        self._tabled = frozenset(index for index in blocks if not clocked and self._may_be_row(index))
        self._rows: list[tuple[int, ...]] = [_OWN_CODE for _ in blocks]
        self._least: dict[frozenset[int], tuple[int, ...]] = {}
        # Lanes that exit are sent behind all masks that are looked at.
        self._nowhere = -(-len(blocks) // _TOGETHER) * _TOGETHER

    @property
    def side_by_side(self) -> bool:
        return True

    def masks(self) -> list[str]:
        coded = set(range(len(self._rows))) - self._tabled
        resumes = (end.resume for end in self._ends if isinstance(end, Barrier | WarpBarrier))
        named = sorted({0, *coded, *resumes, *self._named})
        return ["  %least = alloca i32", *self._side_by_side(self._nowhere + 1, named)]

    def _mask(self, block: int) -> str:
        self._named.add(block)
        return super()._mask(block)

    # ------------------------------------------------------------------------------------ rows
    def _may_be_row(self, index: int) -> bool:
        block = self._program.blocks[index]
        if not isinstance(block.end, Jump | Branch | Exit):
            return False
        if index in self.pending.fair or self._takes_turns(index):
            return False
        if self.pending.gates and (isinstance(block.end, Exit) or any(map(self._exits, block.successors))):
            return False  # those who wait at gates are told of lanes that exit
        return not any(step.number in self._program.ordered for step in block.steps)

    def takes(self, index: int, blend: frozenset[str]) -> bool:
        if index not in self._tabled:
            return False
        block = self._program.blocks[index]
        slot, flip, always, targets = 0, 0, -1, (self._nowhere, self._nowhere)
        if isinstance(block.end, Branch):
            slot, flip, always = self._slots.slot(block.end.register), -block.end.negated, 0
            targets = block.end.taken, block.end.other
        elif isinstance(block.end, Jump):
            targets = block.end.target, block.end.target
        words = self._steps.rows(block.steps, blend)
        real = [target for target in targets if target < self._nowhere and not self._exits(target)]
        sent = (target if target in real else self._nowhere for target in targets)
        least = min([*real, *self._lowest(self.pending.sets[index])], default=0)
        self._rows[index] = (words.start, words.stop, slot, flip, always, *sent, least)
        return True

    def _lowest(self, waiting: frozenset[int]) -> tuple[int, ...]:
        """The lowest of a set of blocks; many blocks have the same."""
        if waiting not in self._least:
            self._least[waiting] = (min(waiting),) if waiting else ()
        return self._least[waiting]

    def _exits(self, target: int) -> bool:
        return self._program.blocks[target].only_exits

    @property
    def functions(self) -> Sequence[str]:
        return table("wg_blocks", [word for row in self._rows for word in row]), _RUN_BLOCKS

    # ------------------------------------------------------------------------------------ choices
    def enter(self, target: int) -> None:
        if target in self._tabled:
            self._look("look", target)
        else:
            super().enter(target)

    def _go(self, target: int, source: int | None) -> None:
        if target in self._tabled:
            self._look("look", target)
        else:
            super()._go(target, source)

    def _look(self, chain: str, first: int) -> None:
        self._starts[chain].add(first)
        self._builder.store("i32", str(first), "%least")
        self._builder.jump(f"{chain}_from")

    def _test_all(self) -> None:
        self._search("cycle", "look_from")
        self._search("look", "leave")

    def _search(self, name: str, end: str) -> None:
        """Run what has lanes, from the block that `%least` holds on, up to one with code of its own.

        Any jump there may lead back.
        """
        b = self._builder
        if not self._starts[name]:
            return
        b.place(f"{name}_from")
        args = [("ptr", "%given"), ("ptr", "%masks"), ("ptr", "%frame"), ("ptr", "%stop")]
        args += [("i32", b.load("i32", "%least")), ("i32", str(len(self._rows)))]
        found = b.call("i32", "wg_run_blocks", args)
        someone, none, over = b.label("someone"), b.label("none"), b.label("over")
        b.branch(b.value(f"icmp slt i32 {found}, 0"), none, someone)
        b.place(none)
        b.branch(b.value(f"icmp eq i32 {found}, {_FAULT}"), "fault", over, unlikely=True)
        b.place(over)
        b.store("i32", "0", "%least")
        b.jump(end)
        b.place(someone)
        wide = b.value(f"zext i32 {found} to i64")
        self.look_at_stop(wide, b.value(f"getelementptr i32, ptr %masks, i64 {wide}"))
        b.store("i32", found, "%least")
        coded = (block for block in range(len(self._rows)) if block not in self._tabled)
        cases = " ".join(f"i32 {block}, label %block_{block}" for block in coded)
        b.emit(f"switch i32 {found}, label %look_from [ {cases} ]")
