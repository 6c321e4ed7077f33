"""Accesses of bench/engine's kernels that lie side by side though nothing is known of their addresses.

    python -m bench.missed_forms [--only NAME ...]

For each load or store of global memory whose address has no form (codegen/values/) in the version for
launches that repeat their integers, a profile's sectors tell whether a warp's lanes come to one place (`one`)
or to as few sectors as their elements fill (`run`). Each line is what a rule for forms might gain: the engine
looks at each of these accesses at run time for what could be known. Behind the kernel: its source line, the
direction, bytes an element, warps, lanes a warp, sectors a warp.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import warpglass as wg
from warpglass import lab
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.cpu.prepared import prepare
from warpglass.engine.launch.backend import Launch
from warpglass.observe.counting import Counting

from .engine.case import FOLDER, cases

_SECTOR = 32  # bytes
# By how much more than the fewest sectors a warp may touch: runs begin anywhere in a sector.
_SLACK, _MORE = 1.3, 0.3
_FEW = 2  # lanes a warp of which nothing follows


def missed(launch: Launch) -> Iterator[str]:
    """A line for each such access of a launch, which is made."""
    place = lab.backend("cpu")
    assert isinstance(place, CpuBackend)
    prepared = prepare(launch.compiled)
    bound = zip(prepared.binder.layout.parameters, prepared.binder.bind(launch.args).values, strict=True)
    integers = {
        one.offset: value & (1 << 8 * one.size) - 1
        for one, value in bound
        if isinstance(value, int) and not (one.pointer or one.aggregate or one.type[0] == "f")
    }
    shape = BlockShape(launch.block, prepared.facts.shared.static)
    promises = Promises(launch.grid, integers, exact=True)
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    unknown = {
        step.number
        for block in version.program.blocks
        for step in block.steps
        if step.match.load_or_store is not None and step.address_register is not None
        if version.inference.offsets(step.address_register) is None
    }
    seen = place.observe(launch, Counting())[1]
    for tally in Counting.read(prepared.program, seen.probes, seen.totals):
        access, source = tally.step.match.load_or_store, tally.step.instruction.source
        if access is None or tally.step.number not in unknown or tally.threads <= _FEW * tally.warps:
            continue
        for (space, writes), cost in tally.accesses.items():
            lanes, sectors = tally.threads / tally.warps, cost[1] / tally.warps
            run = sectors <= max(1, lanes * access.size / _SECTOR) * _SLACK + _MORE
            if space == "global" and run:
                kind = "one" if sectors <= 1 else "run"
                line = source.line if source is not None else 0
                yield (
                    f"{kind}  line {line:4d}  {'store' if writes else 'load'}  {access.size:2d} bytes  "
                    f"{tally.warps:8d} warps  {lanes:4.1f} lanes  {sectors:5.2f} sectors"
                )


def main() -> None:
    """Print them for all kernels, or for some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="names of kernels")
    only = parser.parse_args().only
    for theme, case in cases():
        if only and case.name not in only:
            continue
        kernel = wg.load(FOLDER / f"{theme}.cu", case.function)
        launch = lab.make_launch(kernel, case.grid, case.block, case.make(), 0, 600.0, lab.backend("cpu"))
        for line in missed(launch):
            print(f"{case.name:24s}{line}", flush=True)


if __name__ == "__main__":
    main()
