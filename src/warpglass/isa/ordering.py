"""What PTX's memory model says of an instruction (PTX manual, "Memory Consistency Model").

Belongs here: how strong an access is, what it orders, for whom. Detectors of races ask; the engine, which
makes every access in one order, does not.
"""

from __future__ import annotations

from dataclasses import dataclass

from .table import Match

_ACQUIRES = ("acquire", "acq_rel", "sc")
_RELEASES = ("release", "acq_rel", "sc")
_WAITS = ("test_wait", "try_wait")


@dataclass(frozen=True, slots=True)
class Ordering:
    """What an access or a fence orders.

    `strong` accesses of different threads do not race; `atomic` ones are performed by one thread at a time;
    `volatile` is strong by its qualifier only. `reads` and `writes` say what an access does with the value
    that others may wait for. `block` says that the scope is the block's threads.
    """

    strong: bool = False
    volatile: bool = False
    atomic: bool = False
    acquires: bool = False
    releases: bool = False
    reads: bool = False
    writes: bool = False
    block: bool = False
    fence: bool = False

    @property
    def orders(self) -> bool:
        """Whether it makes other accesses visible or sees them."""
        return self.acquires or self.releases


def ordering_of(m: Match) -> Ordering:
    """The ordering of an instruction."""
    if m.row.control == "fence":
        scope = m.scope or m.level
        sem = m.sem or "sc"
        return Ordering(
            acquires=sem in _ACQUIRES,
            releases=sem in _RELEASES,
            block=scope == "cta",
            fence=scope is not None,
        )
    block, reads = m.scope == "cta", m.row.access == "load"
    if m.row.access == "barrier object":
        if m.op in _WAITS:
            return Ordering(strong=True, acquires=True, reads=True, block=True)
        changes = m.op is not None  # else it is initialised or done with
        return Ordering(strong=True, atomic=True, releases=True, reads=changes, writes=True, block=True)
    if m.row.is_atomic:
        return Ordering(
            strong=True,
            atomic=True,
            acquires=m.row.access
            == "atomic",  # who reads a value by an update goes on with what came with it
            releases=m.sem in _RELEASES,
            reads=True,
            writes=True,
            block=block,
        )
    if m.volatile is not None:
        return Ordering(strong=True, volatile=True, reads=reads, writes=not reads)
    if m.sem is not None or m.mmio is not None:
        return Ordering(
            strong=True,
            acquires=m.sem in _ACQUIRES,
            releases=m.sem in _RELEASES,
            reads=reads,
            writes=not reads,
            block=block,
        )
    return Ordering()
