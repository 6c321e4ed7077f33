"""A kernel's time on a GPU, and what it is made of.

The times of all limiters meet in a norm of power 3: at least the longest, at most their sum, and near the
longest where the others are short. After Volkov (2016), Ding and Williams (2019) and Ernst et al. (2023).
Where barriers keep a block's phases apart and nobody else is there to fill them, phases add up (turns.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...devices import Device
from .limiters import LAUNCH, WORDS, times
from .load import Load
from .rates import Rates, rates_of
from .refusals import refuse
from .turns import in_turns

_POWER = 3.0


@dataclass(frozen=True, slots=True)
class Prediction:
    """Seconds of one launch on a GPU, `launch` of them an empty kernel's; `low` and `high` are an interval.

    `limits` has the seconds of every limiter by its name, the longest first. `metrics` has what Nsight
    Compute would show, by its names.
    """

    device: str
    seconds: float
    low: float
    high: float
    launch: float
    limits: Mapping[str, float]
    metrics: Mapping[str, float]

    @property
    def limiter(self) -> str:
        """What the kernel waits for most: a key of limiters.WORDS, or "launch"."""
        longest = next(iter(self.limits), "launch")
        return longest if self.limits.get(longest, 0.0) > self.launch else "launch"

    @property
    def words(self) -> str:
        """The limiter in words."""
        return WORDS.get(self.limiter, LAUNCH)


def predict(load: Load, device: Device) -> Prediction:
    """The time of a launch; raises Refused for what the model does not cover."""
    refuse(load, device)
    rates = rates_of(device)
    found = times(load, rates)
    limits = dict(sorted(found.items(), key=lambda item: -item[1]))
    running = max(_together(limits), _together(in_turns(load, rates, limits)))
    seconds = rates.launch + running
    return Prediction(
        device=device.name,
        seconds=seconds,
        low=seconds / rates.spread,
        high=seconds * rates.spread,
        launch=rates.launch,
        limits=limits,
        metrics=_metrics(load, rates, limits, running, device),
    )


def saved(seconds: float, limits: Mapping[str, float], wasted: Mapping[str, float]) -> float:
    """Seconds that a launch of these limits would take less without a share of some limiters' work.

    `wasted` has the shares, from 0 to 1, by limiter. What is not a limiter's, the launch itself, stays.
    """
    left = {name: time * (1 - wasted.get(name, 0.0)) for name, time in limits.items()}
    return min(seconds, _together(limits) - _together(left))


def _together(limits: Mapping[str, float]) -> float:
    return sum(seconds**_POWER for seconds in limits.values()) ** (1 / _POWER)


ON_SM = (
    "issue",
    "fp32",
    "integer",
    "multiply",
    "shared units",
    "fp64",
    "fp16",
    "special",
    "tensor",
    "access",
    "shared",
    "tags",
)


def _metrics(
    load: Load, rates: Rates, limits: Mapping[str, float], running: float, device: Device
) -> dict[str, float]:
    """What Nsight Compute would show of a launch that takes so long."""
    if running <= 0:
        return {}
    active = running * rates.clock * min(rates.multiprocessors, load.blocks)
    held = min(load.resident, -(-load.blocks // rates.multiprocessors)) * load.warps
    on_sm = max((limits.get(name, 0.0) for name in ON_SM), default=0.0)
    return {
        "gpu__time_duration.sum": 1e9 * running,
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": min(100.0, 100 * on_sm / running),
        "dram__throughput.avg.pct_of_peak_sustained_elapsed": min(
            100.0,
            100 * 32 * (load.dram_reads + load.dram_writes) / running / (1e9 * device.bandwidth_gb_s),
        ),
        "sm__warps_active.avg.pct_of_peak_sustained_active": 100 * held / device.limits.warps_per_sm,
        "sm__inst_executed.avg.per_cycle_active": load.instructions / active,
    }
