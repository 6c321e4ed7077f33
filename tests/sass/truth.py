"""Kernels that were measured on a GPU: counts of a run by PTX line, and what Nsight Compute said of it."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

from tests.cases.truth.more_launch import Case, read_cases
from warpglass import lab
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.observe.counting import Counting
from warpglass.sass.choices import mark_choices
from warpglass.sass.counts import LineCounts, by_line
from warpglass.sass.translate import translate
from warpglass.source.compiled import Compiled

HERE = Path(__file__).parent.parent / "cases" / "truth"


@cache
def cases(name: str = "open") -> dict[str, Case]:
    """The launches of a set by id."""
    return {case.id: case for case in read_cases(HERE / f"{name}.json")}


@cache
def measured(name: str = "open_h100") -> dict[str, dict[str, float]]:
    """What Nsight Compute said of each launch, by metric."""
    path = HERE / f"{name}.json"
    text = path.read_bytes() if path.exists() else gzip.decompress((HERE / f"{name}.json.gz").read_bytes())
    return {case: found["metrics"] for case, found in json.loads(text).items()}


@cache
def compiled(kernel: str, name: str = "open") -> Compiled:
    """The PTX of a kernel of a set."""
    return lab.load(HERE / f"{name}.cu", kernel).compile(())


@cache
def counted(case: Case, name: str = "open") -> LineCounts:
    """Counts by PTX line of a launch on the CPU engine."""
    source = compiled(case.kernel, name)
    translation = translate(source, "sm_90")
    assert translation is not None
    marked = mark_choices(source, translation.choices)
    return count(Launch(marked, case.grid, case.block, tuple(case.arguments()), case.shared))


def count(launch: Launch) -> LineCounts:
    """Counts by PTX line of any launch on the CPU engine."""
    _, observed = CpuBackend().observe(launch, Counting())
    tallies = Counting.read(observed.program, observed.probes, observed.totals)
    return by_line(observed.program, {t.step.number: (t.warps, t.threads, t.divergent) for t in tallies})
