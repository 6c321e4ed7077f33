"""A continuation of the notes: four pixels a thread, fetched as three words and stored as one.

Three words of four bytes are four pixels. What is in them is taken apart in registers, and four grey bytes
make a word again. Rows do not matter here, so the picture is one long row of pixels; the last ones, if they
are no four, go one by one.

Look at the number of requests: there is one load for four bytes of a lane, where there were four. The lanes'
words lie three apart, so a load still brings a third of what it touches, but the caches hold the rest for the
next two. In C++ only: an array of bytes cannot be read as words in a Python kernel.
"""

from warpglass.ladders.image.problem import rows_of
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung, RungKernel


def shape(case: Case, block: int) -> LaunchShape:
    """A thread for every four pixels, in one dimension."""
    return LaunchShape(-(-case.size * rows_of(case.size) // (4 * block)), block)


RUNG = Rung(
    table="grey",
    follows="grey",
    kernels=(RungKernel(cuda="grey_words"),),
    shape=shape,
    claims=(
        Claim("global_load_requests", "<", "grey"),
        Claim("global_store_requests", "<", "grey"),
        Claim("smsp__inst_executed.sum", "<", "grey"),
    ),
)
