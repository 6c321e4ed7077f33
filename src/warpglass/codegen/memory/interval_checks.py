"""Checks of intervals: one comparison for all lanes of an access, or for several accesses at once.

Lanes at known distances from each other lie within a range if their lowest and their highest do. The same
holds of accesses at known distances, whose checks are merged (merged_checks.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..builder import constant_vector
from ..context import SITE_WORDS
from ..values.value import Value
from .access import Access
from .merged_checks import MergedCheck
from .sites import Bounds
from .structures import Structure


class IntervalChecks(Access):
    """Emits checks, and what becomes of an address that has passed or failed one."""

    def _check_interval(self, site: int, low: str, span: int) -> tuple[str, Bounds]:
        """An i1 that holds if `span` elements from address `low` are not all within the site's range.

        A misaligned address just below the range turns into a number so large that `span` must not be added
        to it, so the range's end is moved by as much: for a site of its own, once when it meets the range.
        """
        b = self.builder
        proven = self.proven.get(self.step)
        if proven is not None:
            return "false", proven
        bounds = self.bounds(site)
        if self.step in self.apart and span > 1:
            return "true", bounds
        size = self.sites[site].size
        distance = low if bounds.low == "0" else b.value(f"sub i64 {low}, {bounds.low}")
        first = b.elements(distance, size)
        limit = bounds.limit
        if span > 1 and self.sites[site].space == "shared":
            limit = b.intrinsic("usub.sat", "i64", limit, str(span - 1))
        elif span > 1:
            assert self.reach.setdefault(site, span) == span, "a site's lanes have one pattern"
            limit = b.load("i64", b.offset("%sites", (site * SITE_WORDS + 4) * 8))
        return b.value(f"icmp uge i64 {first}, {limit}"), bounds

    def _placed(self, address: str) -> str:
        """An address's scalar, from that of its merged check: then LLVM need not compute it apart."""
        if self.step not in self.placed:
            return address
        start, distance = self.placed[self.step]
        return self.builder.value(f"add i64 {start}, {distance}") if distance else start

    def _or_guarded(self, bad: str, address: Value) -> str:
        """A guarded address without its form goes the slow way too."""
        if self.step in self.apart:
            return "true"
        if address.ok is None or bad == "false":
            return bad
        broken = self.builder.value(f"xor i1 {address.ok}, true")
        return self.builder.value(f"or i1 {bad}, {broken}")

    def _host(self, address: str, bounds: Bounds) -> str:
        b = self.builder
        return b.value(f"inttoptr i64 {b.value(f'add i64 {address}, {bounds.delta}')} to ptr")

    def _splat_address(self, address: Value | str) -> str:
        if isinstance(address, str):
            return self.builder.splat("i64", address)
        if address.lanes is not None:
            return address.lanes()
        b = self.builder
        assert address.offsets is not None
        offsets = constant_vector("i64", address.offsets)
        return b.value(f"add {b.vector('i64')} {b.splat('i64', address.ir)}, {offsets}")

    # ------------------------------------------------------------------------------------ merged checks
    def versions(self, checks: Sequence[MergedCheck], scalar: Callable[[str], Value]) -> Iterator[None]:
        """Two versions of the code that is emitted at each turn, of which a test of all checks chooses one.

        In the first the accesses of the checks lie inside their ranges; in the second functions serve them.
        `scalar` gives a base's value.
        """
        b = self.builder
        bad = "false"
        proven: dict[int, Bounds] = {}
        placed: dict[int, tuple[str, int]] = {}
        finders: dict[int, int] = {}
        apart: dict[int, int | None] = {}
        words: dict[int, tuple[int, int]] = {}
        structures: dict[int, Structure] = {}
        for check in checks:
            base = scalar(check.base)
            outside, site, bounds = self._check_merged(check, base)
            bad = outside if bad == "false" else b.value(f"or i1 {bad}, {outside}")
            proven |= dict.fromkeys(check.places, bounds)
            placed |= {step: (base.ir, place) for step, place in check.places.items()}
            words |= check.words
            structures |= {step: one for one in check.structures for step in one.places}
            finders |= dict.fromkeys(check.places, site)
            apart |= dict.fromkeys(check.places) | {check.leader: site}
        inside, outside, join = b.label("inside"), b.label("outside"), b.label("join")
        b.branch(bad, outside, inside, unlikely=True)
        self.finders = finders
        ways = (inside, proven, placed, words, structures, {}), (outside, {}, {}, {}, {}, apart)
        for label, self.proven, self.placed, self.words, self.structures, self.apart in ways:
            b.place(label)
            self.loaded_words, self.loaded_fields, self.found_tiles = {}, {}, {}
            yield
            b.jump(join)
        self.proven, self.placed, self.finders, self.apart = {}, {}, {}, {}
        b.place(join)

    def _check_merged(self, check: MergedCheck, base: Value) -> tuple[str, int, Bounds]:
        """An i1 that holds if accesses are not all in the leader's range; the leader's site; the range."""
        self.step = check.leader
        site = self.new_site(check.space, check.write, check.size)
        low = self.builder.value(f"add i64 {base.ir}, {check.low}")
        outside, bounds = self._check_interval(site, low, -(-(check.high - check.low) // check.size))
        return self._or_guarded(outside, base), site, bounds
