"""What kernels of foreign libraries cost to compile: seconds by stage, IR, memory, errors.

    python -m bench.foreign_kernels [FILE.ptx ...] [--only PART ...] [--optimised] [--out ROWS.tsv]

Without files: the kernels of tests/foreign. Each is compiled in a process of its own, with the general
version's promises, to quick code, with `--optimised` to optimised code too. Columns: PTX instructions, basic
blocks, CPU seconds from text to program, to IR, to code, to what a first launch waits for (small code where
quick code would take long), MB of memory beyond what the process began with, lines of IR, name or error. The
last lines say how many miss the aim: 2 s of CPU and 500 MB up to 2,500 instructions, 1 ms for each one more.
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
from warpglass.engine.cpu.prepared import Prepared
from warpglass.errors import WarpglassError
from warpglass.source.compiled import Compiled

_SECONDS, _MEGABYTES, _SMALL, _EACH = 2.0, 500, 2500, 0.001
_LIMIT = 120  # seconds that a kernel may take here


@dataclass(frozen=True)
class Row:
    """What one kernel has taken."""

    kernel: Kernel
    instructions: int
    found: dict[str, Any]

    @property
    def seconds(self) -> float:
        return sum(self.found.get(stage, 0.0) for stage in ("program", "ir", "quick"))

    @property
    def first(self) -> float:
        """What a first launch waits for, in CPU seconds."""
        small = self.found.get("small")
        return self.seconds + self.found.get("asked", 0.0) if small is None else self.found["program"] + small

    @property
    def missed(self) -> bool:
        allowed = _SECONDS + _EACH * max(0, self.instructions - _SMALL)
        return "error" in self.found or self.seconds > allowed or self.found["megabytes"] > _MEGABYTES

    def text(self) -> str:
        """The row, with tabs."""
        found = self.found
        stages = [found.get(stage, 0.0) for stage in ("program", "ir", "quick", "optimised")]
        times = [f"{seconds:.2f}" for seconds in (*stages, self.first)]
        sizes = [str(found.get(size, 0)) for size in ("megabytes", "lines")]
        words = found.get("error", "MISSED" if self.missed else "")
        name = f"{self.kernel.source}.{self.kernel.entry[:160]}"
        return "\t".join([str(self.instructions), str(found.get("blocks", 0)), *times, *sizes, name, words])


def _compile(kernel: Kernel, optimised: bool) -> Iterator[tuple[str, Any]]:
    """What compiling takes, stage by stage."""
    last = time.process_time()

    def lap() -> float:
        nonlocal last
        before, last = last, time.process_time()
        return last - before

    prepared = Prepared(Compiled(kernel.ptx, kernel.entry, kernel.entry, "cuda"))
    yield "blocks", len(prepared.program.blocks)
    yield "program", lap()
    shape = BlockShape(kernel.block, prepared.facts.shared.static)
    promises = Promises(grid_class((1000, 1, 1)), {})
    small = prepared.small_first(shape, promises)
    if small is None:
        yield "asked", lap()
    else:
        compile_ir(small.ir(True), quick=True, target=chosen_target())
        yield "small", lap()
    code = generate(prepared.program, shape, prepared.symbols, (), promises)
    ir = code.text(quick=True)
    yield "lines", ir.count("\n")
    yield "ir", lap()
    compile_ir(ir, quick=True, target=chosen_target())
    yield "quick", lap()
    if optimised:
        compile_ir(code.text(quick=False), target=chosen_target())
        yield "optimised", lap()


def measure(kernel: Kernel, optimised: bool) -> Row:
    """Compile a kernel in a child."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reads)
        signal.alarm(3 * _LIMIT)
        resource.setrlimit(resource.RLIMIT_CPU, (_LIMIT, _LIMIT))
        began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with os.fdopen(writes, "w") as out:
            try:
                for name, value in _compile(kernel, optimised):
                    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - began
                    print(json.dumps({name: value, "megabytes": grown // 1024}), file=out, flush=True)
            except (WarpglassError, RuntimeError) as error:
                first = str(error).strip().splitlines()[0]
                print(json.dumps({"error": f"{type(error).__name__}: {first}"}), file=out)
        os._exit(0)
    os.close(writes)
    found: dict[str, Any] = {}
    with os.fdopen(reads) as lines:
        for line in lines:
            found |= json.loads(line)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        found["error"] = f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return Row(kernel, kernel.instructions, found)


def _chosen(files: list[Path], only: list[str]) -> Iterator[Kernel]:
    sources = [kernels(one) for one in SOURCES if available(one)] if not files else []
    for group in (*sources, *(of_text(one.stem, one.read_text()) for one in files)):
        for kernel in group:
            if not only or any(part in f"{kernel.source}.{kernel.entry}" for part in only):
                yield kernel


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of kernels")
    parser.add_argument("--optimised", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="one of so many kernels")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ["WARPGLASS_CACHE"] = os.environ.get("WARPGLASS_CACHE", "")
    rows: list[Row] = []
    out = options.out.open("w") if options.out else sys.stdout
    for number, kernel in enumerate(_chosen(options.files, options.only)):
        if number % options.every == 0:
            rows.append(measure(kernel, options.optimised))
            print(rows[-1].text(), file=out, flush=True)
    missed, failed = (sum(kind) for kind in ([r.missed for r in rows], ["error" in r.found for r in rows]))
    print(f"{len(rows)} kernels, {missed} beyond the aim, {failed} with errors", file=out)
    for what, each in (
        ("quick code", [row.seconds for row in rows]),
        ("a first launch", [row.first for row in rows]),
    ):
        seconds = sorted(each) or [0.0]
        at = [seconds[min(len(rows) - 1, len(rows) * part // 100)] for part in (50, 90, 99, 100)]
        text = "median {:.2f}, 90 % {:.2f}, 99 % {:.2f}, most {:.2f}".format(*at)
        print(f"CPU seconds to {what}: {text}", file=out)


if __name__ == "__main__":
    main()
