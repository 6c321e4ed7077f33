"""Occupancy under the names of Nsight Compute, with the limits as it shows them.

Belongs here: what Nsight reports beyond the algorithm of occupancy.py. Its limits are those of the machine as
the driver has set it up: shared memory as it happens to be configured, at least 16 registers a thread from
7.0 on, and as many blocks as there can be at all where a resource is not used.
"""

from __future__ import annotations

from dataclasses import replace

from .occupancy import BARRIERS, SHARED, Occupancy, carveout_for, occupancy

_LEAST_REGISTERS = 16
_SUFFIXES = {SHARED: "shared_mem"}


def nsight_metrics(
    fit: Occupancy, blocks: int | None = None, multiprocessors: int | None = None
) -> dict[str, float]:
    """Return the metrics of Nsight Compute that follow from an occupancy.

    The grid's number of `blocks` and the GPU's `multiprocessors` add the waves.
    """
    demand, most = fit.demand, fit.limits.blocks_per_sm
    if demand.registers and fit.limits.capability >= (7, 0):
        demand = replace(demand, registers=max(demand.registers, _LEAST_REGISTERS))
    allowed = dict(occupancy(demand, fit.limits).allowed)
    if demand.carveout is None and fit.blocks and fit.allocated_shared:
        allowed[SHARED] = driver_shared(fit) // fit.allocated_shared
    barriers = allowed[BARRIERS]
    allowed[BARRIERS] = most if barriers is None else min(most, barriers)
    metrics: dict[str, float] = {
        f"launch__occupancy_limit_{_SUFFIXES.get(name, name)}": most if count is None else count
        for name, count in allowed.items()
    }
    metrics["launch__registers_per_thread"] = demand.registers
    metrics["launch__shared_mem_per_block_static"] = demand.static_shared
    metrics["launch__shared_mem_per_block_dynamic"] = demand.dynamic_shared
    metrics["sm__maximum_warps_avg_per_active_cycle"] = fit.warps
    metrics["sm__maximum_warps_per_active_cycle_pct"] = 100 * fit.share
    if blocks is not None and multiprocessors and fit.blocks:
        metrics["launch__waves_per_multiprocessor"] = blocks / (multiprocessors * fit.blocks)
    return metrics


def driver_shared(fit: Occupancy) -> int:
    """Return the shared memory that the driver sets a multiprocessor to if the kernel states no preference.

    By a rule inferred from measurements (driver_carveout in devices/compute_capability.toml), the largest
    configuration where there is none. It leaves room for all blocks that the other resources allow, so it
    never makes occupancy less.
    """
    extra = fit.limits.driver_carveout
    if extra is None:
        return fit.shared_per_sm
    blocks = min(count for name, count in fit.allowed.items() if count is not None and name != SHARED)
    reserved = fit.limits.shared_reserved
    own = blocks * (fit.allocated_shared - reserved)
    system = min(blocks * extra, fit.limits.blocks_per_sm) * reserved
    return carveout_for(max(own + system, fit.allocated_shared), fit.limits)
