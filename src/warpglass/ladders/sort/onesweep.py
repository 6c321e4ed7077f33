"""Onesweep: a radix sort that reads and writes the keys once for each digit, and once more to count.

(Adinets and Merrill, Onesweep: a faster least significant digit radix sort for GPUs, 2022.) A first kernel
counts all digits of all keys, so it is known where in the result each bin of every digit starts. Then each
digit is one launch: a block counts the digit in its tile, makes the counts known, sorts the tile in shared
memory as radix_block does, and finds how many keys of each bin are in the tiles before by looking back at
what those have made known, as scan's single_pass does for one sum (here a thread for each of 256). Keys then
go out in runs of the same bin. No pass over the keys is for counting alone, as it is in other radix sorts.

A digit that is the same in all keys moves none: the counting kernel sees that, and the launch ends at once.
It also routes the passes between the two arrays so that the last one ends in the result.

Prediction: 4-byte keys are read 5 times and written 4 times, 36 bytes each: 0.5 ms for 2^26 at 4.8 TB/s.
merge_path goes through memory 17 times from its spans of 512. Beside the bytes a pass has some 65
instructions a key, of which the eight ballots are 26, and conflicts of random banks: about as long again.

Outcome on an H200: 2^26 uint32 in 1.26 ms where CUB's takes 1.63, float32 in 1.39 where it takes 1.48; 50 us
against 68 for 2^19; 8-byte keys 1.23 times as fast. Counting would take a tenth of the time, for four
additions a key to random banks; 16 copies of the counters save a quarter of that. That a grid can take
several rows costs 4 % of the sweeps; before it did, argsort to int64 was 1.25 times as fast as CUB's pairs,
and 4-byte keys with 4-byte values 0.98. `__match_any_sync` in place of the ballots doubles the time of the
whole sort.
"""

from pathlib import Path

import numpy as np

from warpglass.ladders.plan import Plan, Scratch, Step
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung
from warpglass.ladders.sort.radix import BINS, Request, shared_bytes
from warpglass.ladders.tuned import tuned

_SOURCE = Path(__file__).with_suffix(".cu")
_COUNTING_THREADS = 1024
_COUNTING_BLOCKS = 264  # at most: two on each multiprocessor of the largest GPUs
_MANY = 2**30  # keys: two bits of a number are taken
_MOST_ROWS = 2**16 - 1  # of a grid


def plan(request: Request, threads: int = 384, items: int = 16, blocks: int = 2, copies: int = 16) -> Plan:
    """The launches for any number of keys, with tiles of `threads` * `items` keys.

    Of wide keys, or with values, a thread has fewer: 128 bytes. `blocks` is how many blocks a multiprocessor
    should hold: the compiler keeps to the registers that leaves. `copies` are those of the counters in a
    block that counts, at most 64 KB of them.
    """
    count = np.dtype(np.uint32 if request.size < _MANY else np.uint64)
    element = request.dtype.itemsize + request.value_bytes(count.itemsize)
    items = min(items, 128 // element)
    tiles = max(1, -(-request.size // (threads * items)))
    passes = request.passes
    number = "unsigned int" if count.itemsize == 4 else "unsigned long long"

    rows = min(request.rows, _MOST_ROWS)
    arrays, scratch = _moved(request, rows, count)
    known = ("starts", "route", "states", "tickets")
    share = 2 * _COUNTING_THREADS * 16 // request.dtype.itemsize  # keys of a block that counts, at least
    copies = min(copies, 64 // passes)
    steps: list[Step] = []
    for first in range(0, request.rows, rows):
        left = min(rows, request.rows - first)
        reach = np.uint64(first), np.uint64(request.size)
        counting = Step(
            f"count_digits<{request.key_type}, {number}, {passes}, {copies}>",
            _SOURCE,
            (max(1, min(_COUNTING_BLOCKS, -(-request.size // share))), left),
            _COUNTING_THREADS,
            passes * BINS * copies * 4,
            (request.keys, "totals", *known, np.uint64(tiles * BINS), *reach, np.uint32(request.in_place)),
        )
        sweeps = (
            Step(
                f"sweep_{request.what}<{request.types}, {number}, {threads}, {items}, {blocks}>",
                _SOURCE,
                (tiles, left),
                threads,
                shared_bytes(threads, items, element),
                (*arrays, *known, *reach, np.uint32(passes), np.uint32(digit)),
            )
            for digit in range(passes)
        )
        steps += (counting, *sweeps)
    return Plan(
        tuple(steps),
        (
            *scratch,
            Scratch("totals", count, rows * (passes * BINS + 1), zeroed=True),
            Scratch("starts", count, rows * passes * BINS),
            Scratch("route", np.dtype(np.uint32), rows * (passes + 1)),
            Scratch("states", count, rows * 2 * tiles * BINS),
            Scratch("tickets", np.dtype(np.uint32), rows * passes),
        ),
    )


def _moved(
    request: Request, rows: int, count: np.dtype[np.unsignedinteger]
) -> tuple[tuple[str, ...], tuple[Scratch, ...]]:
    """What the sweeps move keys and values between, and which of these arrays are scratch memory."""
    size = rows * request.size
    spare = Scratch("spare", request.dtype, size)
    if request.indices:
        other, values = Scratch("other_keys", request.dtype, size), Scratch("spare_values", count, size)
        return (request.keys, other.name, spare.name, request.indices, values.name), (spare, other, values)
    if request.value_dtype is not None:
        values = Scratch("spare_values", request.value_dtype, size)
        return (*request.ends[:2], spare.name, *request.ends[2:], values.name), (spare, values)
    return (*request.ends, spare.name), (spare,)


def plan_case(case: Case, block: int) -> Plan:
    """The launches for a bench; blocks have as many threads as suit the keys.

    The engine gains nothing by large tiles or copies, and short code is compiled sooner.
    """
    if case.capability is None:
        return plan(Request(case.size, case.dtype), items=4, copies=1)
    return plan(Request(case.size, case.dtype), **tuned("sort", "onesweep", case.dtype, case.capability))


RUNG = Rung(table="sort", follows="merge_path", plan=plan_case)
