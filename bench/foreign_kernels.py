"""What a first launch of foreign kernels waits for: processor seconds, memory, errors.

    python -m bench.foreign_kernels [FILE.ptx ...] [--only PART ...] [--every N] [--stages] [--optimised]
                                    [--out ROWS.tsv]

Without files: the kernels of tests/foreign; files may be of any program, such as those that nvcc makes of
HeCBench's. Each kernel is compiled in a process of its own that knows none before, with the general version's
promises, as a first launch has it done: small code where quick code would take long, in a helper process
where that may take long, too. Columns: PTX instructions, basic blocks, the tier, processor seconds of all
that (helpers included) and of its part from text to program, MB of memory beyond what the process began with,
name or error. `--stages` adds seconds to quick code's IR and from there to quick code, and its lines of IR,
`--optimised` those to optimised code.

The last lines say how many miss the aims: 1.5 s, 3 s, and 2 s and 500 MB up to 2,500 instructions, 1 ms for
each one more.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.foreign.corpus import SOURCES, Kernel, available, kernels, of_text
from warpglass.codegen import BlockShape, Promises, chosen_target, compile_ir, generate, grid_class
from warpglass.engine.cpu.prepared import Executable, Prepared
from warpglass.errors import WarpglassError
from warpglass.source.compiled import Compiled

_SOON, _LATE = 1.5, 3.0
_SECONDS, _MEGABYTES, _SMALL, _EACH = 2.0, 500, 2500, 0.001
_LIMIT = 120  # seconds that a kernel may take here
_PARTS = ("first", "program", "ir", "quick", "optimised")


@dataclass(frozen=True)
class Row:
    """What one kernel has taken."""

    kernel: Kernel
    instructions: int
    found: dict[str, Any]

    @property
    def first(self) -> float:
        """Processor seconds that a first launch waits for."""
        return self.found.get("first", 0.0)

    @property
    def missed(self) -> bool:
        allowed = _SECONDS + _EACH * max(0, self.instructions - _SMALL)
        return "error" in self.found or self.first > allowed or self.found["megabytes"] > _MEGABYTES

    def text(self) -> str:
        """The row, with tabs."""
        found = self.found
        times = [f"{found[part]:.2f}" for part in _PARTS if part in found]
        sizes = [str(found[size]) for size in ("megabytes", "lines") if size in found]
        words = found.get("error", "MISSED" if self.missed else "")
        name = f"{self.kernel.source}.{self.kernel.entry[:160]}"
        head = [str(self.instructions), str(found.get("blocks", 0)), found.get("tier", "")]
        return "\t".join([*head, *times, *sizes, name, words])


def _compile(kernel: Kernel, options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """What a first launch takes, then what its stages do."""
    began = time.process_time()
    prepared = Prepared(Compiled(kernel.ptx, kernel.entry, kernel.entry, "cuda"))
    yield "program", time.process_time() - began
    yield "blocks", len(prepared.program.blocks)
    shape = BlockShape(kernel.block, prepared.facts.shared.static)
    promises = Promises(grid_class((1000, 1, 1)), {})
    small = prepared.small_first(shape, promises)
    made = Executable(prepared, shape, promises, None, small=small is not None, generated=small)
    yield "tier", made.tiers.tier
    yield "first", time.process_time() - began + _helpers(os.getpid())
    if not (options.stages or options.optimised):
        return
    began = time.process_time()
    code = generate(prepared.program, shape, prepared.symbols, (), promises)
    ir = code.text(quick=True)
    yield "ir", time.process_time() - began
    yield "lines", ir.count("\n")
    for tier in ("quick", "optimised") if options.optimised else ("quick",):
        began = time.process_time()
        compile_ir(code.text(quick=tier == "quick"), quick=tier == "quick", target=chosen_target())
        yield tier, time.process_time() - began


def _helpers(process: int) -> float:
    """Processor seconds of a process' children and theirs, where the system tells."""
    seconds = 0.0
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + _helpers(int(child))
    return seconds


def measure(kernel: Kernel, options: argparse.Namespace) -> Row:
    """Compile a kernel in a child."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        os.setsid()  # with its helpers, which end with it
        signal.alarm(3 * _LIMIT)
        resource.setrlimit(resource.RLIMIT_CPU, (_LIMIT, _LIMIT))
        began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with os.fdopen(writes, "w") as out:
            try:
                for name, value in _compile(kernel, options):
                    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - began
                    print(json.dumps({name: value, "megabytes": grown // 1024}), file=out, flush=True)
            except (WarpglassError, RuntimeError) as error:
                first = str(error).strip().splitlines()[0]
                print(json.dumps({"error": f"{type(error).__name__}: {first}"}), file=out)
        os.killpg(0, signal.SIGKILL)
    os.close(writes)
    found: dict[str, Any] = {"megabytes": 0}
    with os.fdopen(reads) as lines:
        for line in lines:
            found |= json.loads(line)
    os.waitpid(child, 0)
    if "error" not in found and "first" not in found:
        found["error"] = "was ended by a limit"
    return Row(kernel, kernel.instructions, found)


def _chosen(files: list[Path], only: list[str]) -> Iterator[Kernel]:
    sources = [kernels(one) for one in SOURCES if available(one)] if not files else []
    for group in (*sources, *(of_text(one.stem, one.read_text()) for one in files)):
        for kernel in group:
            if not only or any(part in f"{kernel.source}.{kernel.entry}" for part in only):
                yield kernel


def _summary(rows: list[Row]) -> Iterator[str]:
    failed = sum("error" in row.found for row in rows)
    yield f"{len(rows)} kernels, {sum(row.missed for row in rows)} beyond the aim, {failed} with errors"
    seconds = sorted(row.first for row in rows) or [0.0]
    at = [seconds[min(len(seconds) - 1, len(seconds) * part // 100)] for part in (50, 90, 95, 99, 100)]
    percentiles = "median {:.2f}, 90 % {:.2f}, 95 % {:.2f}, 99 % {:.2f}, most {:.2f}".format(*at)
    yield f"processor seconds to a first launch: {percentiles}"
    soon, late = (sum(one > bound for one in seconds) for bound in (_SOON, _LATE))
    yield f"under {_SOON} s: {100 - 100 * soon / len(seconds):.1f} %; above {_LATE} s: {late}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of kernels")
    parser.add_argument("--every", type=int, default=1, help="one of so many kernels")
    parser.add_argument("--stages", action="store_true", help="quick code's stages, too")
    parser.add_argument("--optimised", action="store_true", help="these, and optimised code's")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ["WARPGLASS_CACHE"] = os.environ.get("WARPGLASS_CACHE", "")
    rows: list[Row] = []
    out = options.out.open("w") if options.out else sys.stdout
    for number, kernel in enumerate(_chosen(options.files, options.only)):
        if number % options.every == 0:
            rows.append(measure(kernel, options))
            print(rows[-1].text(), file=out, flush=True)
    print(*_summary(rows), sep="\n", file=out)


if __name__ == "__main__":
    main()
