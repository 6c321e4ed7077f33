"""In which orders of threads launches were checked, and for which orders the verdict holds, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# For which orders of threads a verdict holds: all, or those in which atomic operations, flags and racing
# accesses that decide where threads go take effect in the order in which they did.
ALL_SCHEDULES = "all schedules"
SAME_ORDER = "schedules with the same synchronisation order"
REMEMBERED = "what was remembered of this run"  # the checker has given up on some of it: notes say what
_HOLDS = (ALL_SCHEDULES, SAME_ORDER, REMEMBERED)


def weakest(holds: Iterable[str]) -> str:
    """What several verdicts together hold for."""
    return max(holds, key=_HOLDS.index)


_BY_NUMBER = "blocks in order, warps in order up to each barrier"


def schedule_of(seeds: Sequence[int], holds: str) -> str:
    """The sentence for one launch, run by number and in the random orders of `seeds`."""
    return f"{_BY_NUMBER}; {_random(seeds)}the verdict holds for {holds}"


def schedule_of_all(launches: Sequence[tuple[str, Sequence[int], str]]) -> str:
    """One sentence for several: of each the kernel's name, the seeds, and what its verdict holds for."""
    seeds = max((seeds for _, seeds, _ in launches), key=len)
    kernels: dict[str, dict[str, None]] = {}
    for kernel, _, holds in launches:
        kernels.setdefault(holds, {})[kernel] = None
    if len(kernels) == 1:
        return schedule_of(seeds, next(iter(kernels)))
    limited = {holds: names for holds, names in kernels.items() if holds != ALL_SCHEDULES}
    words = [f"of {', '.join(names)} for {holds}" for holds, names in limited.items()]
    if ALL_SCHEDULES in kernels:
        words.append(f"of all other launches for {ALL_SCHEDULES}")
    return f"{_BY_NUMBER}; {_random(seeds)}the verdict holds {', '.join(words)}"


def _random(seeds: Sequence[int]) -> str:
    """The orders of some seeds, as words to put before others."""
    if not seeds:
        return ""
    if len(seeds) == 1:
        return f"then in the random order of seed {seeds[0]}; "
    return f"then in {len(seeds)} random orders, seeds {seeds[0]} to {seeds[-1]}; "
