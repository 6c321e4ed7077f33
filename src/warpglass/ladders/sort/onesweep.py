"""Onesweep: a radix sort that reads and writes the keys once for each digit, and once more to count.

(Adinets and Merrill, Onesweep: a faster least significant digit radix sort for GPUs, 2022.) A first kernel
counts all digits of all keys, so it is known where in the result each bin of every digit starts. Then each
digit is one launch: a block counts the digit in its tile, makes the counts known, sorts the tile in shared
memory as radix_block does, and finds how many keys of each bin are in the tiles before by looking back at
what those have made known, as scan's single_pass does for one sum (here a thread for each of 256). Keys then
go out in runs of the same bin. No pass over the keys is for counting alone, as it is in other radix sorts.

A digit that is the same in all keys moves none: the counting kernel sees that, and the launch ends at once.
It also routes the passes between the two arrays so that the last one ends in the result.

Prediction: 4-byte keys are read 5 times and written 4 times, 36 bytes a key: 0.5 ms for 2^26 keys at 4.8 TB/s.
A merge sort of 2^26 keys from spans of 512 goes through memory 17 times. Beside the bytes a pass has some 65
instructions a key, of which the eight ballots are 26, and 4 conflicts of random banks; that is about as long
again. (C++ only: numba-cuda-mlir has no fence.)
"""

from pathlib import Path

import numpy as np

from warpglass.ladders.plan import Plan, Scratch, Step
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung
from warpglass.ladders.sort.radix import BINS, Request, shared_bytes
from warpglass.ladders.tuned import tuned

_SOURCE = Path(__file__).with_suffix(".cu")
_COUNTING_THREADS = 512
_LARGEST_SHARED = 60 * 1024  # of a block on every GPU, with what is not dynamic


def plan(
    request: Request, threads: int = 384, items: int = 16, blocks: int = 3, counting_blocks: int = 528
) -> Plan:
    """The launches for any number of keys, with tiles of `threads` * `items` keys or, if they are wide, fewer.

    `blocks` is how many of a block's size a multiprocessor should hold: the compiler keeps to the registers
    that leaves. At most `counting_blocks` blocks count.
    """
    count = np.dtype(np.uint32 if request.size < 2**30 else np.uint64)
    element = request.dtype.itemsize + request.value_bytes(count.itemsize)
    while items > 1 and shared_bytes(threads, items, element) > _LARGEST_SHARED:
        items -= 1
    tiles = max(1, -(-request.size // (threads * items)))
    passes = request.passes
    number = "unsigned int" if count.itemsize == 4 else "unsigned long long"

    arrays, scratch = _moved(request, count)
    scratch += (
        Scratch("totals", count, passes * BINS + 1, zeroed=True),
        Scratch("starts", count, passes * BINS),
        Scratch("route", np.dtype(np.uint32), passes + 1),
        Scratch("states", count, 2 * tiles * BINS),
        Scratch("tickets", np.dtype(np.uint32), passes),
    )
    share = 4 * _COUNTING_THREADS * 16 // request.dtype.itemsize  # keys of a block that counts, at least
    steps: list[Step] = []
    for row in range(request.rows):
        begin, size = np.uint64(row * request.size), np.uint64(request.size)
        steps.append(
            Step(
                f"count_digits<{request.types.partition(',')[0]}, {number}, {passes}>",
                _SOURCE,
                max(1, min(counting_blocks, -(-request.size // share))),
                _COUNTING_THREADS,
                0,
                (request.keys, "totals", "starts", "route", "states", "tickets", np.uint64(tiles * BINS))
                + (begin, size, np.uint32(request.in_place)),
            )
        )
        steps += (
            Step(
                f"sweep_{request.what}<{request.types}, {number}, {threads}, {items}, {blocks}>",
                _SOURCE,
                tiles,
                threads,
                shared_bytes(threads, items, element),
                (*arrays, "starts", "route", "states", "tickets", begin, size)
                + (np.uint32(passes), np.uint32(digit)),
            )
            for digit in range(passes)
        )
    return Plan(tuple(steps), scratch)


def _moved(request: Request, count: np.dtype[np.unsignedinteger]) -> tuple[tuple[str, ...], tuple[Scratch, ...]]:
    """What the sweeps move keys and values between, and which of these arrays are scratch memory."""
    spare = Scratch("spare", request.dtype, request.size)
    if request.indices:
        other, values = Scratch("other_keys", request.dtype, request.size), Scratch("spare_values", count, request.size)
        return (request.keys, other.name, spare.name, request.indices, values.name), (spare, other, values)
    if request.value_dtype is not None:
        values = Scratch("spare_values", request.value_dtype, request.size)
        return (*request.ends[:2], spare.name, *request.ends[2:], values.name), (spare, values)
    return (*request.ends, spare.name), (spare,)


def plan_case(case: Case, block: int) -> Plan:
    """The launches for a bench; blocks have as many threads as suit the keys."""
    return plan(Request(case.size, case.dtype), **tuned("sort", "onesweep", case.dtype, case.capability))


RUNG = Rung(table="sort", follows="merge_path", plan=plan_case)
