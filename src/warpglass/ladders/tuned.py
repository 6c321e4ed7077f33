"""Parameters of rungs that a sweep has chosen on a GPU: block sizes, elements a thread, tiles.

Belongs here: reading a ladder's tuned.toml, and trying other values. The safe choice for every GPU is not
here: it is the default of the parameter itself, in the function that plans the rung's launches, which is
called with what this module has to add:

    plan(case.size, case.dtype, **tuned("scan", "single_pass", case.dtype, case.capability))

A `block` is also the rung's block size in a bench that is asked for none (ladder.py).

tuned.toml has a table for each rung. `space` is what the sweep tries, `command` the sweep
(bench/gpu/tune.py); below it stands what was best by compute capability, for an element type or for all types
of so many bytes:

    [single_pass]
    command = "python bench/gpu/tune.py scan single_pass"
    space = { block = [128, 256, 512], per_thread = [4, 7, 15] }

    [single_pass."9.0"]
    float64 = { block = 256, per_thread = 7 }
    4_bytes = { block = 512, per_thread = 15 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

Parameters = Mapping[str, int]
Capability = tuple[int, int]  # of a GPU; 9, 0 for an H200

_tried: ContextVar[tuple[str, str, Parameters] | None] = ContextVar("tried", default=None)


def tuned(ladder: str, rung: str, dtype: Any, capability: Capability | None) -> Parameters:
    """What was best for a rung and an element type on GPUs of this capability; empty where nobody measured.

    Without a capability (the engine) it is empty: the safe choice holds. The row of the type itself goes
    before that of all types of its size.
    """
    tried = _tried.get()
    if tried is not None and tried[:2] == (ladder, rung):
        return tried[2]
    if capability is None:
        return {}
    rows = read_tuned(ladder).get(rung, {}).get("{}.{}".format(*capability), {})
    element = np.dtype(dtype)
    return rows.get(element.name) or rows.get(f"{element.itemsize}_bytes") or {}


@contextmanager
def trying(ladder: str, rung: str, parameters: Parameters) -> Iterator[None]:
    """Within this block these are the rung's parameters, on every device and for every type."""
    token = _tried.set((ladder, rung, parameters))
    try:
        yield
    finally:
        _tried.reset(token)


@cache
def read_tuned(ladder: str) -> Mapping[str, Any]:
    """A ladder's tuned.toml, rung by rung; empty if it has none."""
    path = tuned_file(ladder)
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def tuned_for(ladder: str) -> tuple[Capability, ...]:
    """The compute capabilities for which some rung of a ladder is tuned."""
    found = {key for table in read_tuned(ladder).values() for key in table if key not in ("command", "space")}
    return tuple(sorted((int(major), int(minor)) for major, minor in (key.split(".") for key in found)))


def tuned_file(ladder: str) -> Path:
    """Where a ladder's parameters are."""
    return Path(__file__).parent / ladder / "tuned.toml"
