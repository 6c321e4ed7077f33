"""The LLVM IR of a fixed set of kernels, a file for each version, so that two checkouts can be compared.

    python -m bench.ir_dump OUT [--only NAME ...] [--calls]
    diff -rq OUT-BEFORE OUT-AFTER

The kernels of bench/engine, from both languages and with the launches they are timed with, and those that the
ladders ship for the engine, some of each. Versions: `general`, for any launch on such a grid; `repeated`,
with integers as constants; `reference`; `counted` and `checked`, with an observer's probes. Nothing runs.
With `--calls`, prints how many Python functions each version's generation called instead of writing it, which
tells compile times of two checkouts apart on a busy machine.
"""

from __future__ import annotations

import argparse
import cProfile
import gzip
import json
import pstats
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import warpglass as wg
from warpglass import lab, ladders
from warpglass.codegen import BlockShape, KernelCode, Promises, generate, grid_class
from warpglass.engine.cpu.prepared import Prepared
from warpglass.errors import UnsupportedError
from warpglass.observe.counting import Counting
from warpglass.observe.detectors.checker import Checker
from warpglass.source.compiled import Compiled

from .engine.case import FOLDER, cases, module

Dim3 = tuple[int, int, int]
_VERSIONS = ("general", "repeated", "reference", "counted", "checked")
_SHAPES: tuple[tuple[Dim3, Dim3], ...] = (((256, 1, 1), (4096, 1, 1)), ((16, 16, 1), (64, 64, 1)))
_MOST = 24  # kernels of each ladder, evenly spread
_SIZE = 1000  # what integers of a shipped kernel are taken to be if launches repeat


@dataclass(frozen=True)
class Job:
    """A kernel and a launch: the integers' values by their offsets, those that all versions know and all."""

    name: str
    compiled: Compiled
    block: Dim3
    grid: Dim3
    structural: Mapping[int, int]
    integers: Mapping[int, int]

    @cached_property
    def prepared(self) -> Prepared:
        return Prepared(self.compiled)

    def code(self, version: str) -> KernelCode:
        """Generate one version."""
        prepared, exact = self.prepared, version == "repeated"
        shape = BlockShape(self.block, prepared.facts.shared.static)
        known = {**self.structural, **self.integers} if exact else self.structural
        promises = Promises(self.grid if exact else grid_class(self.grid), known, exact=exact)
        instruments = {"counted": Counting(), "checked": Checker()}
        probes = instruments[version].probes(prepared.program) if version in instruments else ()
        given = None if version == "reference" else promises
        return generate(prepared.program, shape, prepared.symbols, probes, given)


def _timed() -> Iterator[Job]:
    """The kernels of bench/engine."""
    for theme, case in cases():
        for language in ("cuda", "python") if case.python else ("cuda",):
            function = case.function
            made = language == "cuda"
            path = FOLDER / f"{theme}.cu"
            kernel = wg.load(path, function) if made else wg.from_numba(getattr(module(theme), function))
            launch = lab.make_launch(kernel, case.grid, case.block, case.make(), 0, 60.0, lab.backend("cpu"))
            prepared = Prepared(launch.compiled)
            values = prepared.binder.bind(launch.args).values
            structural = {at: usual for index, at, usual in prepared.structural if values[index] == usual}
            sized = zip(prepared.binder.layout.parameters, values, strict=True)
            integers = {
                one.offset: value & (1 << 8 * one.size) - 1
                for one, value in sized
                if isinstance(value, int) and not (one.pointer or one.aggregate or one.type[0] == "f")
            }
            name = f"{theme}.{case.name}.{language}"
            yield Job(name, launch.compiled, launch.block, launch.grid, structural, integers)


def _shipped() -> Iterator[Job]:
    """The kernels of all ladders."""
    for archive in sorted(Path(ladders.__file__).parent.glob("*/ptx.json.gz")):
        with gzip.open(archive) as file:
            # Archives leave open where lines come from.
            texts = [re.sub(r"\n\s*\.loc\s.*", "", one["ptx"]) for one in json.load(file).values()]
        entries = [(text, entry) for text in texts for entry in re.findall(r"\.entry\s+([\w$]+)", text)]
        entries = sorted(set(entries), key=lambda one: (one[1], one[0]))
        for number, (text, entry) in enumerate(entries[:: -(-len(entries) // _MOST)]):
            block, grid = _SHAPES[number % len(_SHAPES)]
            compiled = Compiled(text, entry, entry, "cuda")
            try:
                parameters = Prepared(compiled).binder.layout.parameters
            except UnsupportedError:  # made for GPUs alone, as products of warp groups
                continue
            sizes = {one.offset: _SIZE for one in parameters if one.type in ("u32", "s32", "b32")}
            yield Job(f"{archive.parent.name}.{number}.{entry[:60]}", compiled, block, grid, {}, sizes)


def _calls(job: Job, version: str) -> int:
    """How many Python functions generating a version calls."""
    job.code(version)  # caches are warm
    profile = cProfile.Profile(builtins=False)
    profile.runcall(job.code, version)
    return int(pstats.Stats(profile).total_calls)  # pyright: ignore[reportAttributeAccessIssue]


def main() -> None:
    """Write the IR, or count calls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of kernels")
    parser.add_argument("--versions", nargs="*", choices=_VERSIONS, default=_VERSIONS)
    parser.add_argument("--calls", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for jobs in (_timed(), _shipped()):
        for job in jobs:
            if options.only and not any(part in job.name for part in options.only):
                continue
            for version in options.versions:
                if options.calls:
                    print(f"{_calls(job, version):9,} {job.name}.{version}", flush=True)
                else:
                    text = job.code(version).text(quick=False)
                    (options.out / f"{job.name}.{version}.ll").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
