"""What generated code is handed at run time: one block of 64-bit words per worker thread.

The words are named here once; the engine fills them (numpy) and generated code reads them by `slot`. All
tables that they point to are the engine's and outlive the launch.
"""

from __future__ import annotations

import zlib

WORDS = (
    "next_block",  # pointer to the shared i64 counter of blocks handed out
    "block_count",  # blocks in the grid
    "chunk",  # blocks to take at once
    "grid_x",
    "grid_y",
    "grid_z",
    "parameters",  # pointer to the parameter block
    "shared",  # pointer to this worker's shared memory
    "shared_size",  # bytes, static and dynamic
    "local",  # pointer to the warps' local memory
    "warp_local",  # pointer to the running warp's part of it
    "frames",  # pointer to the warps' frames: registers kept across barriers
    "states",  # pointer to one i32 per warp: where it resumes
    "waits",  # pointer to two i32 per warp and barrier: the generation it came in, 1 while it waits there
    "barriers",  # pointer to the table of the block's 16 barriers, BARRIER_WORDS i32 each
    "counters",  # pointer to the probes' i64 counters
    "ranges",  # pointer to the range table: base, size, delta, permissions per entry
    "range_count",
    "sites",  # pointer to the last-hit ranges, SITE_WORDS per access site
    "system",  # the engine's function that serves calls of the CUDA runtime
    "stop",  # pointer to an i32 that becomes non-zero when the launch must end
    "alone",  # 1: the launch runs on one thread
    "changes",  # elements changed by atomic operations where it does not
    "retire",  # pointer to an i32 that becomes non-zero when better code than this waits to run
    "limit",  # pointer to an i64: the first block that has faulted; no later one is begun
    "threads",  # pointer to the thread index table: x, y, z of each thread of a block, i32
    "resident",  # 1: a block that only yields is left, for others to run, and gone on with at the next call
    "resumed",  # 1: go on with the block that was left
    "left_block",
    "clock",  # instructions that the block's warps have issued, in kernels that read it
    "fault_site",  # written by a fault: access site or trap number; when stopped: the loop's first block
    "fault_lane",
    "fault_address",
    "fault_warp",
    "fault_block",
    "refused",  # the lanes whose access was refused and left out, where an observer wants the others to go on
    "place",  # of the block under way in the order of the blocks
    "block_order",  # pointer to the block at each place, i64; 0: they come by number
    "warp_orders",  # pointer to orders of a block's warps, i32, one for each round in turn
    "warp_order_count",
    "rounds",  # how many have begun
    "turn",  # pointer to the i64 place of the block whose turn it is
    "number",  # the worker's
    "crew",  # pointer to the i64 count of workers that still take blocks, in turns
    "known_crew",  # how many they were when the worker last looked
    "begun",  # when the worker's last block began
    "waited",  # how long that has waited for its turn
    "deferred",  # pointer to sums that the block has left for its end: addresses, then operands, i64 each
    "deferred_most",  # how many there may be in each block; 0: none
    "deferred_room",  # how many there may be in this block
    "deferred_count",
    "crowded",  # of how many blocks the worker has waited for a good part
    "stream_bytes",  # of an array from which on what is stored is not kept in caches
    "give_way",  # the host's function that offers the processor to other threads
    "cluster",  # pointer to the barrier of the block's cluster, i32: its phase, threads arrived
)
SLOT = {name: position for position, name in enumerate(WORDS)}

# Entries of the range table: four 64-bit words.
RANGE_WORDS = 4
# Entries of the site table: low, limit, delta, whether stores go past the caches (streaming.py), the limit
# for the first of as many elements side by side as the site's lanes reach, and how often in a row lanes did
# not lie side by side (any_form.py).
SITE_WORDS = 6
SITE_MISSES = 5
# Entries of the barrier table, in i32: threads arrived, generation, threads expected (0: all), predicates
# that held, threads that voted; then the last two of the two latest generations, by parity.
BARRIERS, BARRIER_WORDS = 16, 9

READ, WRITE, GENERIC_ONLY = 1, 2, 4

# Generic addresses of the windows. Allocations start above; nothing else lies near them.
SHARED_WINDOW = 0x1_0000_0000_0000
LOCAL_WINDOW = 0x2_0000_0000_0000
WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}  # by state space; of others none begins elsewhere
PARAMETERS = 0x4_0000_0000_0000  # of kernels that take a parameter's address
GRID_WORKSPACE = 0x5_0000_0000_0000
MODULE_BASE = 0x6_0000_0000_0000
GLOBAL_BASE = 0x7_0000_0000_0000
HEAP_BASE = 0x40_0000_0000_0000

# What a warp function returns, or keeps as its state: DONE, START, or RESUME + resume point.
DEADLOCK, FAULT, STOPPED, DONE, START, RESUME = -3, -2, -1, 0, 1, 2
# What the kernel function returns when all went well, when it has left a block that only yields, and when
# better code is to go on between two blocks.
OK, LEFT, RETIRED = 0, 1, 2
# The fault_site of a worker that has neither faulted nor been stopped in a loop.
NOWHERE = -(1 << 62)

# The word of a lane buffer that has the site of a call of the runtime, behind five rows of arguments.
SITE_WORD = 255


def service_code(name: str) -> int:
    """The number by which generated code calls a function of the runtime: the same in every version."""
    return zlib.crc32(name.encode())
