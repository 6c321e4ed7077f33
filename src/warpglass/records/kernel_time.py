"""A modelled time, as records keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelledTime:
    """How long a kernel, or a rung's launches together, would take on a GPU by the model of kernel times.

    `device` is the GPU's short name, `name` its full one. `seconds`, `low` and `high` (nine of ten kernels
    lie between them) are None where the model has no time, and `failure` says why. `limiter` says in words
    what the kernel waits for most; `limits` has the seconds of each limiter. Speedups are against the
    previous rung of the same table and language, and against its first.
    """

    device: str
    name: str
    seconds: float | None
    low: float | None = None
    high: float | None = None
    limiter: str = ""
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    step_speedup: float | None = None
    cumulative_speedup: float | None = None
    failure: str = ""
