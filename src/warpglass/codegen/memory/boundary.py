"""Accesses at the boundary of shared memory: lanes side by side, of which only those that act lie inside.

`part[t + 1]` under `t + 1 < n` is one: the last warp's interval ends behind the memory, in every phase of the
block. Masked vector accesses touch nothing for lanes that do not act, so only the outermost active lanes are
checked once the whole interval has failed.
"""

from __future__ import annotations

from ..builder import widened
from ..values.value import Value
from .row_store_access import RowStoreAccess
from .sites import Bounds


class BoundaryAccess(RowStoreAccess):
    """Emits accesses of every form; those at a boundary without a search for each lane."""

    def _load_apart(
        self, site: int, address: Value, type_: str, count: int, mask: str
    ) -> tuple[list[str], str]:
        if count > 1 or not self._may_cross(site, address, mask):
            return super()._load_apart(site, address, type_, count, mask)
        b = self.builder
        outside, host = self._check_ends(site, address, mask)

        def quick() -> list[str]:
            return [b.masked_load(type_, b.width, host, b.mask_vector(mask))]

        found = self.load_either(
            outside,
            b.vector(type_),
            quick,
            lambda: self.load_slowly(site, self._splat_address(address), type_, 1, mask),
        )
        label = b.label("edge")
        b.jump(label)
        b.place(label)
        return found, label

    def _store_apart(self, site: int, address: Value, type_: str, values: list[str], mask: str) -> None:
        if len(values) > 1 or not self._may_cross(site, address, mask):
            super()._store_apart(site, address, type_, values, mask)
            return
        outside, host = self._check_ends(site, address, mask)
        b = self.builder
        self.store_either(
            outside,
            lambda: b.masked_store(type_, b.width, values[0], host, b.mask_vector(mask)),
            lambda: self.store_slowly(site, self._splat_address(address), type_, values, mask),
        )

    def _may_cross(self, site: int, address: Value, mask: str) -> bool:
        info = self.sites[site]
        if (
            not self.masks_boundaries
            or info.space != "shared"
            or mask == "-1"
            or address.ok is not None
            or self.step in self.apart
        ):
            return False
        first = (address.offsets or (0,))[0]
        return address.offsets == tuple(range(first, first + self.builder.width * info.size, info.size))

    def _check_ends(self, site: int, address: Value, mask: str) -> tuple[str, str]:
        """An i1 that holds if an outermost active lane lies outside or none acts; lane 0's host address."""
        b, size, bounds = self.builder, self.sites[site].size, self.bounds(site)
        assert address.offsets is not None
        low = b.value(f"add i64 {address.ir}, {address.offsets[0]}")
        leading = b.call(b.lanes, f"llvm.ctlz.{b.lanes}", [(b.lanes, mask), ("i1", "false")])
        last = b.value(f"sub i64 {b.width - 1}, {b.value(widened(leading, b.width))}")
        outside = [self._is_outside(low, lane, size, bounds) for lane in (b.first_lane(mask), last)]
        return b.value(f"or i1 {outside[0]}, {outside[1]}"), self._host(low, bounds)

    def _is_outside(self, low: str, lane: str, size: int, bounds: Bounds) -> str:
        b = self.builder
        address = b.value(f"add i64 {low}, {b.value(f'mul i64 {lane}, {size}')}")
        return b.value(f"icmp uge i64 {b.elements(address, size)}, {bounds.limit}")
