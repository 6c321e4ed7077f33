"""Array operations shared out over ranks: several GPUs of one host through NCCL, or the engine's processes.

    from warpglass import ranks

    def work(here):                          # runs once for each rank
        x = here.module.random.random(2**28) # this rank's share, on its own GPU
        return float(ranks.sum(here, x))

    ranks.run(work, devices=[0, 1])          # what each rank returned

An array that is shared out is the concatenation of the ranks' shares along the first axis, in the order of
ranks; shares may differ in length and be empty. operations.py has the operations, communicator.py the one
thing that they need of a means of communication, pipes.py and nccl.py the two that there are, start.py starts
ranks. docs/ranks.md is the user's guide.
"""

from __future__ import annotations

from .communicator import Communicator
from .operations import convolve2d, cumsum, dot, matmul, sort, sum
from .start import run

__all__ = ["Communicator", "convolve2d", "cumsum", "dot", "matmul", "run", "sort", "sum"]
