"""Kernel times' part of the wiring: a counted launch and its machine code in, a modelled time out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from ..devices import Device
from ..engine.launch.backend import Launch
from ..errors import CompileError
from ..models import kernel_time
from ..models.occupancy import Occupancy
from ..observe.kernel_load import Counted, kernel_load
from ..records.bench import Row
from ..records.kernel_time import ModelledTime
from ..sass.translate import Translation, translate
from ..source.compiled import Compiled
from ..source.cubin import OLDEST, retargeted

_OLDEST_TARGET = "sm_{}{}".format(*OLDEST)


def model_time(
    launch: Launch, counted: Counted, translation: Translation | None, fit: Occupancy, device: Device
) -> tuple[ModelledTime, Mapping[str, float], Mapping[str, float]]:
    """The time of a launch on a GPU, or the reason why there is none, and counters that follow from it.

    Third are the instructions of warps by execution unit, as far as there is machine code.

    For GPUs older than the assembler knows, the machine code for the oldest that it does stands in.
    """
    pipes: Mapping[str, float] = {}
    try:
        machine = translation or _stand_in(launch.compiled)
        load = kernel_load(counted, machine, launch.grid, launch.block, fit.blocks, device)
        pipes = load.pipes
        found = kernel_time.predict(load, device)
    except (kernel_time.Refused, CompileError) as problem:
        return _untimed(device, str(problem)), {}, pipes
    modelled = ModelledTime(
        device=device.key,
        name=device.name,
        seconds=found.seconds,
        low=found.low,
        high=found.high,
        limiter=found.words,
        limits=found.limits,
    )
    return modelled, found.metrics, pipes


def without_caches(device: Device) -> ModelledTime:
    """No time, since the traffic that it depends on was not simulated."""
    return _untimed(
        device, "it needs the traffic of the caches, which were not simulated for the whole launch"
    )


def _untimed(device: Device, reason: str) -> ModelledTime:
    return ModelledTime(device=device.key, name=device.name, seconds=None, failure=reason)


@lru_cache(maxsize=64)
def _stand_in(compiled: Compiled) -> Translation:
    found = translate(retargeted(compiled, _OLDEST_TARGET), _OLDEST_TARGET)
    assert found is not None, "the assembler knows its oldest target"
    return found


def together(parts: Sequence[tuple[ModelledTime, int]]) -> ModelledTime:
    """Launches one after the other, each so many times; a launch without a time leaves none."""
    first = next((one for one, _ in parts if one.seconds is None), parts[0][0])
    if first.seconds is None or (len(parts) == 1 and parts[0][1] == 1):
        return first
    total: dict[str, float] = {}
    for one, times in parts:
        for name, seconds in one.limits.items():
            total[name] = total.get(name, 0.0) + times * seconds
    longest, _ = max(parts, key=lambda part: part[1] * (part[0].seconds or 0.0))
    return replace(
        first,
        seconds=sum(times * (one.seconds or 0.0) for one, times in parts),
        low=sum(times * (one.low or 0.0) for one, times in parts),
        high=sum(times * (one.high or 0.0) for one, times in parts),
        limiter=longest.limiter,
        limits=dict(sorted(total.items(), key=lambda item: -item[1])),
    )


def add_modelled_speedups(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Fill in the steps and totals of modelled times, as those of measured ones are."""
    first: dict[tuple[str, bool, str, str], float] = {}
    last: dict[tuple[str, bool, str, str], float] = {}
    filled: list[Row] = []
    for row in rows:
        times: list[ModelledTime] = []
        for one in row.modelled:
            key = (row.table, row.as_written, row.language, one.device)
            if one.seconds is not None:
                base, previous = first.setdefault(key, one.seconds), last.get(key, one.seconds)
                last[key] = one.seconds
                one = replace(one, step_speedup=previous / one.seconds, cumulative_speedup=base / one.seconds)
            times.append(one)
        filled.append(replace(row, modelled=tuple(times)))
    return tuple(filled)
