"""One process of the comparison: every case, contestants alternating, with one number of threads.

    python -m bench.engine.session times|compile|simulator --threads N --rounds R --json FILE
                                   [--only NAME ...] [--no-pocl]

`times` writes every contestant's seconds round by round, and the instructions of a launch; `compile` what
comes before the first instruction, with an empty cache; `simulator` what one block takes in numba's. The
number of threads must be set before PoCL's and NumPy's libraries are loaded, and numba is either itself or
its simulator: therefore each is a process, started in the environment that `limits` gives.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_TIMES = 3  # launches that follow each other at once; the shortest counts
_LIMITS = ("WARPGLASS_THREADS", "POCL_MAX_PTHREAD_COUNT", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
_FILL = 77  # in results before the first launch


def limits(threads: int) -> dict[str, str]:
    """The environment variables by which every contestant has so many threads, on cores that are free.

    OpenBLAS's threads spin on after a product, for 2 to this power cycles, where the next one wants to run.
    """
    return {**dict.fromkeys(_LIMITS, str(threads)), "OPENBLAS_THREAD_TIMEOUT": "16"}


def time_case(theme: str, case: Any, rounds: int, pocl: bool, threads: int) -> dict[str, Any]:
    """Seconds of each contestant and instructions of the engine's; raises if a result is not NumPy's.

    On one thread the processor's time counts, which others on the machine disturb less.
    """
    from .contestants import Engine, contestants

    clock = time.process_time if threads == 1 else time.perf_counter

    everyone = contestants(theme, case, pocl)
    pristine, expected = case.make(), case.make()
    case.reference(*expected)
    seconds: dict[str, list[float]] = {name: [] for name in everyone}
    for round_ in range(rounds + 1):
        for name, one in everyone.items():
            _restore(case, one.args, pristine)
            if round_ == 0:
                for position in set(case.results) - set(case.changes):
                    one.args[position].fill(_FILL)
            took: list[float] = []
            # Whoever ran before must not decide what the caches hold.
            for _ in range(1 if case.changes else _TIMES):
                started = clock()
                one.launch()
                took.append(clock() - started)
            if round_ in (0, rounds):
                one.collect()
                _unwritten(case, one.args, expected, pristine)
                case.check(name, one.args, expected)
            if round_:  # the first launch compiles
                seconds[name].append(min(took))
    instructions: dict[str, int] = {}
    for name, one in everyone.items():
        if isinstance(one, Engine):
            _restore(case, one.args, pristine)
            instructions[name] = one.instructions()
    return {"seconds": seconds, "instructions": instructions}


def _restore(case: Any, args: Any, pristine: Any) -> None:
    for position in case.changes:
        args[position][...] = pristine[position]


def _unwritten(case: Any, args: Any, expected: Any, pristine: Any) -> None:
    """What the reference leaves alone (an image's edge) is not compared."""
    for position in case.results:
        alone = (expected[position] == pristine[position]) & (args[position] == _FILL)
        args[position][alone] = expected[position][alone]


def compile_case(theme: str, case: Any) -> dict[str, Any]:
    """Seconds before a kernel's first instruction, by language and stage."""
    from .contestants import Engine

    languages = ("C++", "Python") if case.python else ("C++",)
    return {language: Engine(theme, case, language).compile_seconds() for language in languages}


def simulate_case(theme: str, case: Any) -> dict[str, Any]:
    """Seconds of one block in numba's simulator, or the seconds after which it was given up."""
    from .simulator import one_block

    return one_block(theme, case) if case.python and case.simulated else {}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("times", "compile", "simulator"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--no-pocl", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Do what is asked and write the file."""
    options = _options()
    if limits(options.threads).items() - os.environ.items():
        wanted = " ".join(f"{name}={value}" for name, value in limits(options.threads).items())
        raise SystemExit(f"set the environment first: {wanted}")
    np.seterr(all="ignore")
    does: dict[str, Callable[[str, Any], dict[str, Any]]] = {
        "times": lambda theme, case: time_case(
            theme, case, options.rounds, not options.no_pocl, options.threads
        ),
        "compile": compile_case,
        "simulator": simulate_case,
    }
    with tempfile.TemporaryDirectory() as empty:
        if options.what == "times":
            os.environ["WARPGLASS_TIER"] = "optimised"
        if options.what == "compile":
            os.environ["WARPGLASS_CACHE"] = empty
        if options.what == "simulator":
            os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
        from .case import cases

        found: dict[str, Any] = {}
        for theme, case in cases():
            if not options.only or case.name in options.only:
                line = f"\r{options.what}, {options.threads} threads: {case.name:26}"
                print(line, end="", file=sys.stderr, flush=True)
                found[case.name] = does[options.what](theme, case)
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    options.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
