"""Accesses whose form is found at run time: one comparison finds contiguous lanes.

An outlined helper sorts out the others, half a warp at a time.
"""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import constant_vector
from ..context import SITE_MISSES
from ..machine.target import gathers_quickly
from .gather_scatter import HALF
from .indexed import Anywhere, Indexed, either
from .misses import Misses
from .patterns import Patterns
from .streaming import load_run


class AnyForm(Patterns):
    """Emits accesses of every form, also of addresses of which no form is known."""

    def load_any(
        self, site: int, address: str, type_: str, count: int, mask: str, indexed: Indexed | None = None
    ) -> list[str]:
        """A vector from addresses of unknown form: contiguous lanes are found at run time.

        `indexed` says what the addresses are made of, if that is known.
        """
        at, b = self.best_known(site, address, indexed), self.builder
        apart = at.apart(BITS[type_] // 8)
        if count > 1 or not apart:
            return self._load_each(site, at, type_, count, mask)
        test, mixed, slow, straight, quick, join = (b.label() for _ in range(6))
        halved = b.width > HALF and (isinstance(at, Anywhere) or not gathers_quickly())
        number, step, off = self._branch_contiguous(site, at, apart, mask, test, mixed, halved=halved)
        b.place(test)
        first, wraps = at.first(b, number, apart)
        outside, bounds = self._check_interval(site, first, b.width)
        b.branch(either(b, wraps, outside), mixed, straight, unlikely=True)
        b.place(straight)
        ways = [(load_run(b, self._host(first, bounds), type_, b.width), straight)]
        b.jump(join)
        b.place(mixed)
        step = b.phi(at.type, (step, off), (str(apart), test))
        bad, bounds = self.check(site, at, mask)
        b.branch(bad, slow, quick, unlikely=True)
        b.place(quick)
        if halved:
            halves, quick = b.label(), b.label()
            b.branch(self._pairs(at, step, apart), halves, quick)
            b.place(halves)
            words = b.vector("i64")
            host = b.value(f"add {words} {at.addresses(b)}, {b.splat('i64', bounds.delta)}")
            self.gathers.add(type_)
            args = [(words, host), (b.lanes, mask)]
            ways.append((b.call(b.vector(type_), f"wg_gather_{type_}", args), halves))
            b.jump(join)
            b.place(quick)
        ways.append((self.gather_from(at, bounds, type_, 1, mask)[0], quick))
        b.jump(join)
        b.place(slow)
        served, label = self.load_slowly(site, at.addresses(b), type_, 1, mask)
        ways.append((served[0], label))
        b.jump(join)
        b.place(join)
        return [b.phi(b.vector(type_), *ways)]

    def _load_each(self, site: int, at: Anywhere | Indexed, type_: str, count: int, mask: str) -> list[str]:
        """Elements of lanes that hardly lie side by side."""
        bad, bounds = self.check(site, at, mask)
        return self.load_either(
            bad,
            self.builder.vector(type_),
            lambda: self.gather_from(at, bounds, type_, count, mask),
            lambda: self.load_slowly(site, at.addresses(self.builder), type_, count, mask),
        )

    def store_any(
        self,
        site: int,
        address: str,
        type_: str,
        values: list[str],
        mask: str,
        indexed: Indexed | None = None,
    ) -> None:
        """A vector to addresses of unknown form."""
        at, b = self.best_known(site, address, indexed), self.builder
        apart = at.apart(BITS[type_] // 8)
        if len(values) > 1 or not apart:
            self.store_vector(site, address, type_, values, mask)
            return
        test, mixed, slow, straight, quick, join = (b.label() for _ in range(6))
        number, _, _ = self._branch_contiguous(site, at, apart, mask, test, mixed)
        b.place(test)
        first, wraps = at.first(b, number, apart)
        outside, bounds = self._check_interval(site, first, b.width)
        b.branch(either(b, wraps, outside), mixed, straight, unlikely=True)
        b.place(straight)
        self._store_run(site, type_, values[0], self._host(first, bounds), mask, b.width)
        b.jump(join)
        b.place(mixed)
        bad, bounds = self.check(site, at, mask)
        b.branch(bad, slow, quick, unlikely=True)
        b.place(quick)
        self.scatter_to(at, bounds, type_, values[0], mask)
        b.jump(join)
        b.place(slow)
        self.store_slowly(site, at.addresses(b), type_, values, mask)
        b.jump(join)
        b.place(join)

    def _branch_contiguous(
        self,
        site: int,
        at: Anywhere | Indexed,
        apart: int,
        mask: str,
        yes: str,
        no: str,
        *,
        halved: bool = False,
    ) -> tuple[str, str, str]:
        """Go to `yes` if every active lane's number is where lane 0's would put it, else to `no`.

        Returns lane 0's number and the distance to lane 1's, which rules out most others at once, and the
        label that leads to `no`. Where one of these does not act, the lowest lane that does says where lane 0
        would be. All that takes as long as half a gather, so it is left out for a while where it was in vain
        several times; `halved` says that lanes 0 and 1 may be at one place, or side by side, to some avail.
        Memory may end between active lanes and the others: `no` is also for a run at its end.
        """
        b, one, whole = self.builder, at.type, self.builder.vector(at.type)
        hints = ("lead", "both", "some", "compare", "found", "missed", "worth", "apart")
        lead, both, some, compare, found, missed, worth, off = (b.label(hint) for hint in hints)
        misses = Misses(b, b.offset(b.offset("%sites", self.word_of(site)), 8 * SITE_MISSES))
        alone = misses.look(lead, off)
        b.place(lead)
        pair = b.value(f"and {b.lanes} {mask}, 3")
        b.branch(b.value(f"icmp eq {b.lanes} {pair}, 3"), both, some)
        b.place(both)
        lane_0, lane_1 = (b.value(f"extractelement {whole} {at.numbers}, i32 {lane}") for lane in (0, 1))
        step = b.value(f"sub {one} {lane_1}, {lane_0}")
        # Either way: lanes that look at their neighbours by t ^ 1 act one by one.
        moved = b.value(f"add {one} {step}, {apart}")
        near = b.value(f"icmp eq {one} {b.value(f'and {one} {moved}, {~(2 * apart)}')}, 0")
        b.branch(near, compare, missed)
        b.place(some)
        lane = b.value(f"and i64 {b.first_lane(mask)}, {b.width - 1}")
        lowest = b.value(f"extractelement {whole} {at.numbers}, i64 {lane}")
        number = lane if one == "i64" else b.value(f"trunc i64 {lane} to {one}")
        leading = b.value(f"sub {one} {lowest}, {b.value(f'mul {one} {number}, {apart}')}")
        b.jump(compare)
        b.place(compare)
        first = b.phi(one, (lane_0, both), (leading, some))
        known = b.phi(one, (step, both), (str(3 * apart), some))
        run = constant_vector(one, (apart * k for k in range(b.width)))
        expected = b.value(f"add {whole} {b.splat(one, first)}, {run}")
        strays = b.votes(b.value(f"icmp ne {whole} {at.numbers}, {expected}"), mask)
        b.branch(b.someone(strays), missed, found)
        b.place(found)
        misses.forget()
        b.jump(yes)
        b.place(missed)
        step, ways = b.phi(one, (step, both), (known, compare)), [(str(3 * apart), alone)]
        if halved:
            count = b.label("count")
            b.branch(self._pairs(at, step, apart), worth, count)
            b.place(worth)
            misses.forget()
            ways.append((step, worth))
            b.jump(off)
            b.place(count)
        misses.count()
        ways.append((step, b.block))
        b.jump(off)
        b.place(off)
        step = b.phi(one, *ways)
        b.jump(no)
        return first, step, off

    def _pairs(self, at: Anywhere | Indexed, step: str, apart: int) -> str:
        """An i1 that holds if lanes 0 and 1 are at one place, or side by side."""
        b = self.builder
        same, near = (b.value(f"icmp eq {at.type} {step}, {distance}") for distance in (0, apart))
        return b.value(f"or i1 {same}, {near}")
