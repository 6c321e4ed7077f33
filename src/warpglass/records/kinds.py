"""The kinds of findings: what each means and what mends it, in words that hold for every finding of the kind.

Belongs here: one row a kind. What a single finding says is its detector's; selftest/ plants one of each.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: what it is, in one sentence, and what mends it, as a clause.

    A finding has the hint and the severity of its kind unless its detector knows better.
    """

    name: str
    meaning: str
    hint: str
    severity: str = "error"

    @property
    def remedy(self) -> str:
        """The hint as a sentence."""
        return f"{self.hint[0].upper()}{self.hint[1:]}."


_ROWS = (
    Kind(
        "shared-race",
        "Two warps of a block, or blocks of a cluster, access one place in shared memory, one writes, and no "
        "barrier orders them.",
        "put __syncthreads() (cuda.syncthreads()) between the two lines, where all threads come to it",
    ),
    Kind(
        "warp-race",
        "Two lanes of a warp access one place, one writes, and nothing makes one wait for the other.",
        "put __syncwarp() (cuda.syncwarp()) between the two lines: lanes of a warp need not run in lockstep",
    ),
    Kind(
        "cluster-memory",
        "A thread reaches memory of another block of its cluster that may not have begun or may have ended.",
        "put cluster.sync() in front of the first such access and behind the last",
    ),
    Kind(
        "global-race",
        "Two threads access one place in global memory, one of them writes, and nothing orders them.",
        "within a block, add a barrier. Between blocks, write to another array, use an atomic operation, "
        "launch a second kernel, or hand the data over by a flag with __threadfence() before and after",
    ),
    Kind(
        "barrier-divergence",
        "Threads come to a barrier of their block or cluster while others, which have not returned, take "
        "another way.",
        "take the barrier out of the branch or loop, so that all threads of the block come to it; keep "
        "only the work under the condition",
    ),
    Kind(
        "sync-mask",
        "The mask of a warp-level instruction does not say which lanes execute it, or a lane is read that "
        "does not take part.",
        "compute the mask before the branch (__ballot_sync), and name exactly the lanes that come",
    ),
    Kind(
        "out-of-bounds",
        "An access lies outside of the array or variable that it is meant for.",
        "guard the access with the array's size (if (i < n)), or pass a larger array",
    ),
    Kind(
        "misaligned",
        "An access starts at an address that is no multiple of its size.",
        "start wide accesses at a multiple of their size",
    ),
    Kind(
        "read-only-write",
        "A write to memory that may only be read: a read-only array or constant memory.",
        "pass a writable array, or write elsewhere",
    ),
    Kind(
        "use-after-free",
        "Memory from malloc is used, or freed, after it was freed.",
        "free the memory after its last use, once",
    ),
    Kind(
        "uninitialised-read",
        "A value is used that no thread has written: shared, local or allocated memory, or an array that "
        "is marked as output.",
        "write it first: GPU memory does not start as zeros",
    ),
    Kind(
        "unwritten-output",
        "Elements of an array that is marked as output are never written.",
        "launch enough threads for all elements (round the grid up: (n + block - 1) // block) and let the "
        "last ones do the rest",
    ),
    Kind(
        "unread-input",
        "Elements of an array that is to be read whole are never read.",
        "launch enough threads for all elements and handle the tail that is no multiple of the block",
    ),
    Kind(
        "trap",
        "The kernel stops itself: an assertion fails, a trap is executed, an exception is raised.",
        "look at the condition that the kernel itself checks",
    ),
    Kind(
        "deadlock",
        "All threads that have not ended wait at a barrier that cannot open.",
        "let all threads that a barrier waits for come to it",
    ),
    Kind(
        "timeout",
        "The kernel did not end within its time.",
        "check that the loop's condition becomes false; give timeout= if the kernel is only slow",
    ),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ROWS}
