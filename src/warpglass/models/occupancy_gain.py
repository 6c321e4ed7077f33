"""Which change of a kernel's demand lets a multiprocessor hold more of it.

Belongs here: the search for such changes; report/ says them in words. A change is an Occupancy of another
demand: what differs from the old one is what has to be changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .occupancy import REGISTERS, SHARED, WARP, Demand, Occupancy, occupancy

_FEWEST_REGISTERS = 8  # hardly a kernel does anything with fewer


def gains(fit: Occupancy) -> tuple[Occupancy, ...]:
    """Return what raises occupancy: fewer registers, less shared memory, both, another block size.

    Each as little as possible for as much as possible: of the first two also the smallest step that helps.
    """
    found = [
        *_steps(fit, _fewer_registers(fit)),
        *_steps(fit, _less_shared(fit)),
    ]
    if not found and {REGISTERS, SHARED} <= set(fit.limiting):
        found = _both(fit)
    if fit.demand.carveout is not None:
        found += _steps(fit, iter((replace(fit.demand, carveout=None),)))
    return (*found, *_other_block(fit))


def _steps(fit: Occupancy, demands: Iterator[Demand]) -> list[Occupancy]:
    """Return the first demand that is better, and the first that is best."""
    better: list[Occupancy] = []
    for demand in demands:
        tried = occupancy(demand, fit.limits)
        if tried.share > max(fit.share, better[-1].share if better else 0):
            better.append(tried)
    return better if len(better) < 2 else [better[0], better[-1]]


def _fewer_registers(fit: Occupancy) -> Iterator[Demand]:
    if REGISTERS in fit.limiting:
        for registers in range(fit.demand.registers - 1, _FEWEST_REGISTERS - 1, -1):
            yield replace(fit.demand, registers=registers)


def _less_shared(fit: Occupancy) -> Iterator[Demand]:
    """Yield the largest amounts of shared memory that let one more, two more, ... blocks fit.

    Dynamic shared memory goes first, since a launch chooses it.
    """
    if SHARED not in fit.limiting:
        return
    limits = fit.limits
    for blocks in range(fit.blocks + 1, limits.blocks_per_sm + 1):
        allocated = fit.shared_per_sm // blocks // limits.shared_unit * limits.shared_unit
        shared = min(allocated - limits.shared_reserved, limits.shared_per_block_optin)
        if shared < 0:
            return
        static = min(fit.demand.static_shared, shared)
        yield replace(fit.demand, static_shared=static, dynamic_shared=shared - static)


def _both(fit: Occupancy) -> list[Occupancy]:
    """Return the best of fewer registers and less shared memory together."""
    without_shared = occupancy(replace(fit.demand, static_shared=0, dynamic_shared=0), fit.limits)
    reduced = _steps(without_shared, _fewer_registers(without_shared))
    if not reduced:
        return []
    tried = occupancy(replace(fit.demand, registers=reduced[-1].demand.registers), fit.limits)
    return _steps(fit, _less_shared(tried))[-1:]


def _other_block(fit: Occupancy) -> list[Occupancy]:
    """Return the block of whole warps with the best occupancy, the nearest of them, if it is better."""
    tried = [
        occupancy(replace(fit.demand, threads=threads), fit.limits)
        for threads in range(WARP, fit.limits.threads_per_block + 1, WARP)
    ]
    best = max(tried, key=lambda one: (one.share, -abs(one.demand.threads - fit.demand.threads)))
    return [best] if best.share > fit.share else []
