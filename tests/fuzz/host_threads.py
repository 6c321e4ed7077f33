"""Random kernels that several host threads launch at once: `attempt(number)` is what watched.py tries.

Each thread launches kernels of its own and one that all have, several times and in an order of its own,
on arrays of its own. Nothing was compiled before, so generating, compiling and launches of all kinds meet.
Every launch has the bits of the reference engine, which ran all of them one by one.
"""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from tests.generators.kernels import RandomKernel, random_kernel

from . import spinning_programs
from .random_programs import outputs

_SPINNING = 5  # one of so many inputs has a kernel of all threads whose threads wait for each other


def attempt(number: int) -> str:
    """Launch from two to five threads at once, and compare."""
    rng = random.Random(number)
    count = rng.randrange(2, 6)
    programs = [random_kernel(number * 8 + k, size=2, features=k % 2 == 0) for k in range(count + 1)]
    wanted = [outputs(one, CPU_ENGINES[0]) for one in programs]
    spins, spinning = number % _SPINNING == 0, 2 * number
    text = spinning_programs.text_of(spinning)
    spun = list[bytes]()
    if spins:
        with engine_mode(CPU_ENGINES[0]):
            spun = spinning_programs.outcome(spinning, spinning_programs.compiled(text))
    failed: list[str] = []
    together = threading.Barrier(count)

    def launch(thread: int) -> None:
        order = random.Random(number * 8 + thread)
        try:
            together.wait()
            for _ in range(3):
                which = order.choice((0, thread + 1))
                found = _run(kernels[which], programs[which])
                failed.extend(programs[which].differences(found, wanted[which], exact=True))
                if spins and spinning_programs.outcome(spinning, spinner) != spun:
                    failed.append("the spinning kernel's results differ")
        except BaseException as error:
            failed.append(f"{type(error).__name__}: {error}")

    with engine_mode(CPU_ENGINES[1]), worker_threads(rng.randrange(1, 4)):
        kernels = [wg.compile(one.text, "k", language="ptx") for one in programs]
        spinner = spinning_programs.compiled(text)
        threads = [threading.Thread(target=launch, args=(thread,)) for thread in range(count)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert not failed, "; ".join(failed)
    return "agree, with spinning" if spins else "agree"


def _run(kernel: wg.Kernel, made: RandomKernel) -> np.ndarray[Any, Any]:
    """What a kernel writes in a launch of its own."""
    arguments = made.arguments()
    wg.run(kernel, made.grid, made.block, arguments, device="cpu", timeout=60)
    output = arguments[-1]
    assert isinstance(output, np.ndarray)
    return output
