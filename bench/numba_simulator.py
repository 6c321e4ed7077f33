"""numba's documentation examples on the engine and in numba's CUDA simulator: the time of their launches.

    python bench/numba_simulator.py                # all examples
    python bench/numba_simulator.py matmul laplace # some

The examples are those that numba-cuda has as tests (numba.cuda.tests.doc_examples). They are read from the
installed package and run as programs, unmodified but for sizes for which the simulator would take hours; both
sides run the same. A launch in the simulator is timed as it comes; on the engine it is made again, after its
kernel has been compiled, and the median counts. Arrays are where the example has put them; what numba itself
does for a launch is part of it on both sides. Kernels that one side has alone do not count.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.metadata
import importlib.util
import io
import json
import os
import statistics
import subprocess
import sys
import time
import unittest
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Sizes in place of those that take the simulator hours, by the names that the examples give them.
SIZES: dict[str, dict[str, Any]] = {
    "test_ex_laplace": {"niter": 4},
    "test_ex_montecarlo": {"nsamps": 2_000},
    "test_ex_3d_grid": {"X, Y, Z": (64, 64, 64), "gx, gy, gz": (2, 2, 2)},
}
# What is no kernel of Python on arrays, or the simulator cannot do.
WITHOUT = {
    "test_ex_linking_cu": "links CUDA C++",
    "test_ex_from_buffer": "links CUDA C++",
    "test_ex_extra_includes": "links CUDA C++",
    "test_ex_cpointer": "takes a pointer",
    "test_ex_grid_sync": "skips itself in the simulator",
}
MANY = 1000  # threads of an example that count as more than the launch itself
REPEAT, LEAST = 21, 0.3  # launches, and seconds of them, of which the median is taken
PATIENCE = 900.0


@dataclass(frozen=True)
class Example:
    """One example: the file, and the function in it."""

    file: Path
    function: str

    @property
    def name(self) -> str:
        """What the page calls it."""
        return self.function.removeprefix("test_").removeprefix("ex_")

    def program(self) -> Any:
        """Its body, as a program of its own."""
        tree = ast.parse(self.file.read_text("utf-8"))
        found = next(
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == self.function
        )
        imports = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
        body = [one for one in found.body if not isinstance(one, ast.Return)]
        sizes = SIZES.get(self.function, {})
        for node in body:
            if isinstance(node, ast.Assign) and (name := ast.unparse(node.targets[0]).strip("()")) in sizes:
                node.value = ast.parse(repr(sizes[name]), mode="eval").body
        module = ast.fix_missing_locations(ast.Module([*imports, *body], []))
        return compile(module, str(self.file), "exec")


def examples() -> list[Example]:
    """All examples of the installed package."""
    spec = importlib.util.find_spec("numba_cuda")
    if spec is None or spec.origin is None:
        sys.exit("numba-cuda is not installed: pip install 'warpglass[numba-cuda]'")
    folder = Path(spec.origin).parent / "numba" / "cuda" / "tests" / "doc_examples"
    return [
        Example(path, node.name)
        for path in sorted(folder.glob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and node.name not in WITHOUT
    ]


# ---------------------------------------------------------------------------------------- one side
@dataclass(frozen=True)
class Timed:
    """A launch."""

    kernel: str
    threads: int
    seconds: float


def run_example(example: Example, simulated: bool) -> None:
    """Run an example in this process and print its launches, one JSON line each."""
    warnings.simplefilter("ignore")
    launches: list[Timed] = []
    with timing_simulator(launches) if simulated else timing_engine(launches):
        space = {"__name__": "__main__", "__file__": str(example.file), "self": unittest.TestCase()}
        # What an example says of its results need not hold for another size.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(AssertionError):
            exec(example.program(), space)
    for one in launches:
        print(json.dumps(vars(one)), flush=True)


@contextlib.contextmanager
def timing_simulator(launches: list[Timed]) -> Iterator[None]:
    """Note every launch of the simulator."""
    kernel: Any = importlib.import_module("numba.cuda.simulator.kernel").FakeCUDAKernel
    call = kernel.__call__

    def timed(self: Any, *args: Any) -> Any:
        if self.grid_dim is None:  # a device function
            return call(self, *args)
        begun = time.perf_counter()
        result = call(self, *args)
        took = time.perf_counter() - begun
        launches.append(Timed(self.fn.__name__, size(self.grid_dim) * size(self.block_dim), took))
        return result

    kernel.__call__ = timed
    yield


@contextlib.contextmanager
def timing_engine(launches: list[Timed]) -> Iterator[None]:
    """Note every launch through numba, and at the end how long it takes again."""
    configuration: Any = importlib.import_module("numba.cuda.dispatcher")._LaunchConfiguration
    call = configuration.__call__
    made: list[tuple[Any, tuple[Any, ...]]] = []

    def noted(self: Any, *args: Any) -> Any:
        made.append((self, args))
        return call(self, *args)

    configuration.__call__ = noted
    yield
    for one, args in made:
        threads = size(one.griddim) * size(one.blockdim)
        seconds = median_time(lambda one=one, args=args: call(one, *args))
        launches.append(Timed(one.dispatcher.py_func.__name__, threads, seconds))


def median_time(launch: Callable[[], Any]) -> float:
    """The median of repeated launches, from the second on."""
    launch()
    taken: list[float] = []
    while len(taken) < REPEAT or (sum(taken) < LEAST and len(taken) < 2000):
        begun = time.perf_counter()
        launch()
        taken.append(time.perf_counter() - begun)
        if sum(taken) > 10 * LEAST and len(taken) >= 3:
            break
    return statistics.median(taken)


def size(extents: Any) -> int:
    """Blocks of a grid, or threads of a block."""
    count = 1
    for extent in extents if isinstance(extents, tuple | list) else (extents,):
        count *= extent
    return count


# ---------------------------------------------------------------------------------------- both sides
def ask(example: Example, simulated: bool) -> list[Timed] | str:
    """The launches of an example, run in a process of its own; what went wrong if it did."""
    environment = {key: text for key, text in os.environ.items() if key != "NUMBA_ENABLE_CUDASIM"}
    words = [sys.executable, __file__, "--child", example.function]
    if simulated:
        words += ["--simulated"]
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    else:
        words = [sys.executable, "-m", "warpglass", "run", *words[1:]]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return f"not done in {PATIENCE:.0f} s"
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    return [Timed(**json.loads(line)) for line in done.stdout.splitlines() if line.startswith("{")]


def main() -> None:
    parser = argparse.ArgumentParser(description="numba's examples on the engine and in its simulator")
    parser.add_argument("names", nargs="*", help="such as matmul; all without")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--simulated", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    found = examples()
    if given.child:
        run_example(next(one for one in found if one.function == given.child), given.simulated)
        return
    rows: list[tuple[int, float]] = []
    print(f"{'example':28s}{'launches':>9s}{'threads':>9s}{'simulator':>12s}{'engine':>12s}{'ratio':>9s}")
    for example in found:
        if given.names and example.name not in given.names:
            continue
        theirs, ours = ask(example, simulated=True), ask(example, simulated=False)
        if isinstance(theirs, str) or isinstance(ours, str):
            print(f"{example.name}: simulator: {theirs}; engine: {ours}")
            continue
        common = {one.kernel for one in theirs} & {one.kernel for one in ours}
        theirs, ours = ([one for one in side if one.kernel in common] for side in (theirs, ours))
        threads = sum(one.threads for one in theirs)
        first, second = (sum(one.seconds for one in side) for side in (theirs, ours))
        rows.append((threads, first / second))
        print(
            f"{example.name:28s}{len(theirs):9d}{threads:9,d}{1e3 * first:9.1f} ms{1e3 * second:9.3f} ms"
            f"{first / second:9,.0f}",
            flush=True,
        )
    for text, ratios in (
        ("all", [ratio for _, ratio in rows]),
        (f"{MANY:,} threads or more", [ratio for threads, ratio in rows if threads >= MANY]),
    ):
        if ratios:
            print(
                f"{text}: geometric mean {statistics.geometric_mean(ratios):,.0f}, least {min(ratios):,.0f}"
            )


if __name__ == "__main__":
    main()
