"""Random structured code for a warp whose lanes keep exchanging values: one seed, one kernel and its oracle.

Every group of lanes knows its member mask: at a branch or a loop it is split by a vote. So each instruction
with a member mask names exactly the lanes that come to it, by whatever ways and however late. A `meet` lets
the two sides of a branch wait for each other at places of their own, with values passed in shared memory.
Whatever is emitted comes with what it does to the lanes' registers, written down for a set of lanes at once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce

from tests.ptx_text import kernel

VALUES = 4  # registers of a thread, %r0 to %r3, given and returned
_WORD = 0xFFFFFFFF

State = list[list[int]]  # [register][lane]
Lanes = tuple[int, ...]
Act = Callable[[State, Lanes], None]

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "xor.b32": lambda a, b: a ^ b,
    "or.b32": lambda a, b: a | b,
}
_REDUCTIONS: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b & _WORD,
    "min.u32": min,
    "max.u32": max,
    "xor.b32": lambda a, b: a ^ b,
    "and.b32": lambda a, b: a & b,
}


class RandomWarp:
    """A kernel `k(u64 data, u64 first_mask)` for one block; `act` is what it does to a warp's registers."""

    def __init__(self, seed: int, size: int):
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self._names = 0
        self._masks = 100  # registers from %r100 on hold masks and the like
        self._left = size
        self.act = self._sequence("%r99", depth=0)

    @property
    def text(self) -> str:
        """The PTX."""
        loads = " ".join(f"ld.global.u32 %r{k}, [%rd2+{4 * k}];" for k in range(VALUES))
        stores = " ".join(f"st.global.u32 [%rd2+{4 * k}], %r{k};" for k in range(VALUES))
        body = "\n".join(self.lines)
        return kernel(
            f"""
            ld.param.u64 %rd1, [data]; mov.u32 %r90, %tid.x; mul.wide.u32 %rd3, %r90, {4 * VALUES};
            add.u64 %rd2, %rd1, %rd3; {loads}
            mov.u32 %r93, s; mad.lo.u32 %r91, %r90, 4, %r93; and.b32 %r93, %r90, 31;
            mul.lo.u32 %r94, %r93, 4; sub.u32 %r92, %r91, %r94; activemask.b32 %r99;
            {body}
            {stores} ret;
            """,
            "u64 data",
            shared=".align 4 .b8 s[4096]",
        )

    # ------------------------------------------------------------------------------------ names
    def _label(self) -> str:
        self._names += 1
        return f"L{self._names}"

    def _fresh(self) -> str:
        self._masks += 1
        return f"%r{self._masks}"

    def _value(self) -> int:
        return self.rng.randrange(VALUES)

    # ------------------------------------------------------------------------------------ statements
    def _sequence(self, mask: str, depth: int) -> Act:
        acts: list[Act] = []
        for _ in range(self.rng.randrange(1, 5) if depth else 1 << 30):
            if self._left <= 0:
                break
            self._left -= 1
            kinds = [self._arithmetic, self._collective, self._shuffle]
            kinds += [self._branch, self._loop, self._meet] if depth < 3 else []
            make = self.rng.choice(kinds)
            acts.append(make(mask, depth))

        def act(state: State, lanes: Lanes) -> None:
            for one in acts:
                one(state, lanes)

        return act

    def _arithmetic(self, mask: str, depth: int) -> Act:
        opcode = self.rng.choice(list(_ARITHMETIC))
        d, a, constant = self._value(), self._value(), self.rng.randrange(1, 100)
        b = self._value() if self.rng.random() < 0.6 else None
        self.lines.append(f"{opcode} %r{d}, %r{a}, {constant if b is None else f'%r{b}'};")

        def act(state: State, lanes: Lanes) -> None:
            for lane in lanes:
                other = constant if b is None else state[b][lane]
                state[d][lane] = _ARITHMETIC[opcode](state[a][lane], other) & _WORD

        return act

    def _collective(self, mask: str, depth: int) -> Act:
        """A vote, match or reduction of the whole group."""
        d, a, bit = self._value(), self._value(), self.rng.randrange(5)
        form = self.rng.choice(("ballot", "any", "all", "uni", "match", *_REDUCTIONS))
        test = f"bfe.u32 %r93, %r{a}, {bit}, 1; setp.ne.u32 %p1, %r93, 0;"
        if form == "ballot":
            self.lines.append(f"{test} vote.sync.ballot.b32 %r{d}, %p1, {mask};")
        elif form in ("any", "all", "uni"):
            self.lines.append(f"{test} vote.sync.{form}.pred %p2, %p1, {mask}; selp.b32 %r{d}, 7, 1, %p2;")
        elif form == "match":
            self.lines.append(f"and.b32 %r93, %r{a}, 3; match.any.sync.b32 %r{d}, %r93, {mask};")
        else:
            self.lines.append(f"redux.sync.{form} %r{d}, %r{a}, {mask};")

        def act(state: State, lanes: Lanes) -> None:
            given = {lane: state[a][lane] for lane in lanes}
            held = [lane for lane in lanes if given[lane] >> bit & 1]
            for lane in lanes:
                if form == "ballot":
                    result = _bits(held)
                elif form == "match":
                    result = _bits([other for other in lanes if (given[other] ^ given[lane]) & 3 == 0])
                elif form in _REDUCTIONS:
                    result = reduce(_REDUCTIONS[form], given.values())
                else:
                    agree = {"any": held, "all": len(held) == len(lanes), "uni": len(held) in (0, len(lanes))}
                    result = 7 if agree[form] else 1
                state[d][lane] = result

        return act

    def _shuffle(self, mask: str, depth: int) -> Act:
        """Every lane gets a value of the group's first or last lane."""
        d, a, last = self._value(), self._value(), self.rng.random() < 0.5
        self.lines.append(f"{_end_of(mask, last)} shfl.sync.idx.b32 %r{d}, %r{a}, %r94, 31, {mask};")

        def act(state: State, lanes: Lanes) -> None:
            value = state[a][max(lanes) if last else min(lanes)]
            for lane in lanes:
                state[d][lane] = value

        return act

    def _split(self, mask: str, condition: str) -> tuple[str, str]:
        """Votes on %p1 of a register's bits; returns the masks of those who agree and of the others."""
        yes, no = self._fresh(), self._fresh()
        self.lines.append(
            f"{condition} vote.sync.ballot.b32 {yes}, %p1, {mask};"
            f"not.b32 %r93, {yes}; and.b32 {no}, {mask}, %r93;"
        )
        return yes, no

    def _branch(self, mask: str, depth: int) -> Act:
        a, bit = self._value(), self.rng.randrange(3)
        yes, no = self._split(mask, f"bfe.u32 %r93, %r{a}, {bit}, 1; setp.ne.u32 %p1, %r93, 0;")
        other, end = self._label(), self._label()
        self.lines.append(f"@!%p1 bra {other};")
        first = self._sequence(yes, depth + 1)
        self.lines.append(f"bra {end};\n{other}:")
        second = self._sequence(no, depth + 1)
        self.lines.append(f"{end}:")

        def act(state: State, lanes: Lanes) -> None:
            taken = tuple(lane for lane in lanes if state[a][lane] >> bit & 1)
            rest = tuple(lane for lane in lanes if lane not in taken)
            for sequence, group in ((first, taken), (second, rest)):
                if group:
                    sequence(state, group)

        return act

    def _loop(self, mask: str, depth: int) -> Act:
        """Each lane makes up to three turns; those that are left form the group."""
        a = self._value()
        turns, left = self._fresh(), self._fresh()
        head, end = self._label(), self._label()
        self.lines.append(f"and.b32 {turns}, %r{a}, 3; mov.u32 {left}, {mask};\n{head}:")
        inside, _ = self._split(left, f"setp.ne.u32 %p1, {turns}, 0;")
        self.lines.append(f"mov.u32 {left}, {inside}; @!%p1 bra {end}; sub.u32 {turns}, {turns}, 1;")
        body = self._sequence(inside, depth + 1)
        self.lines.append(f"bra {head};\n{end}:")

        def act(state: State, lanes: Lanes) -> None:
            count = {lane: state[a][lane] & 3 for lane in lanes}
            for turn in range(3):
                group = tuple(lane for lane in lanes if count[lane] > turn)
                if group:
                    body(state, group)

        return act

    def _meet(self, mask: str, depth: int) -> Act:
        """Both sides of a branch store, meet, load from the group's first or last lane and meet again."""
        a, d, bit, last = self._value(), self._value(), self.rng.randrange(3), self.rng.random() < 0.5
        yes, no = self._split(mask, f"bfe.u32 %r93, %r{a}, {bit}, 1; setp.ne.u32 %p1, %r93, 0;")
        other, end = self._label(), self._label()
        self.lines.append(f"@!%p1 bra {other};")
        sides: list[tuple[Act, int]] = []
        for group, after in ((yes, f"bra {end};\n{other}:"), (no, f"{end}:")):
            before = self._sequence(group, depth + 2)
            sent = self._value()
            self.lines.append(
                f"st.shared.u32 [%r91], %r{sent}; bar.warp.sync {mask}; {_end_of(mask, last)}"
                f"mad.lo.u32 %r95, %r94, 4, %r92; ld.shared.u32 %r{d}, [%r95]; bar.warp.sync {mask}; {after}"
            )
            sides.append((before, sent))

        def act(state: State, lanes: Lanes) -> None:
            taken = tuple(lane for lane in lanes if state[a][lane] >> bit & 1)
            rest = tuple(lane for lane in lanes if lane not in taken)
            stored: dict[int, int] = {}
            for (before, sent), group in zip(sides, (taken, rest), strict=True):
                if group:
                    before(state, group)
                stored |= {lane: state[sent][lane] for lane in group}
            for lane in lanes:
                state[d][lane] = stored[max(lanes) if last else min(lanes)]

        return act


def _end_of(mask: str, last: bool) -> str:
    """The number of a mask's first or last lane, in %r94."""
    return f"bfind.u32 %r94, {mask};" if last else f"brev.b32 %r93, {mask}; clz.b32 %r94, %r93;"


def _bits(lanes: list[int]) -> int:
    return sum(1 << lane for lane in lanes)
