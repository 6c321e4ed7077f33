"""How much of the suite a run takes: WARPGLASS_TESTS says `quick` (the default), `ci` or `full`.

Level `full` takes everything, `ci` and `quick` one of ten cases of any test; of a test that is
marked `sampled` they take one of so many: with the next seed the next one, so that each has its turn. The
seed is WARPGLASS_TESTS_SEED, or else the day's number; a run prints it, with how many tests were left out.
What is asked for by name runs whole: tests, and random programs by number, WARPGLASS_FUZZ=FIRST:COUNT.

    @pytest.mark.sampled(quick=20, ci=4)  one of 20 cases, at level `ci` of 4; each test keeps one at least
    @pytest.mark.turns(3)                 a slow test, or each of a file: with one of three seeds
    @pytest.mark.least("ci")              not at level `quick`
    sample(cases, quick=20, ci=4)         the same choice among values, where all would be too many to collect
    numbers(200, quick=4, ci=2)           the same of random programs, where one test makes all of them

Of several marks, of a file, a test and a case, the largest number counts.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import TypeVar

Case = TypeVar("Case")

LEVELS = ("quick", "ci", "full")
LEVEL = os.environ.get("WARPGLASS_TESTS") or "quick"
if LEVEL not in LEVELS:
    raise ValueError(f"WARPGLASS_TESTS is one of {', '.join(LEVELS)}, not {LEVEL!r}")
FULL = LEVEL == "full"
UNMARKED = {"quick": 10, "ci": 10}
FUZZ = os.environ.get("WARPGLASS_FUZZ")
# Processes of one run, which may last past midnight, have one seed.
SEED = int(os.environ.setdefault("WARPGLASS_TESTS_SEED", str(datetime.now(UTC).toordinal())))


def sample(cases: Iterable[Case], *, quick: int, ci: int = 1) -> list[Case]:
    """One of every so many cases, at least one of any, in their order; all at level `full`."""
    every = list(cases)
    return [every[k] for k in chosen(len(every), {"quick": quick, "ci": ci}.get(LEVEL, 1), "")]


def chosen(count: int, of: int, name: str) -> Sequence[int]:
    """The places taken of `count` cases: one of each stretch of about `of`, which one by seed and `name`."""
    stretches = max(1, round(count / of)) if count else 0
    edges = [count * k // stretches for k in range(stretches + 1)] if stretches else [0]
    return [
        low + (SEED + zlib.crc32(f"{name} {low}".encode())) % (high - low) for low, high in pairwise(edges)
    ]


def has_turn(name: str, turns: int) -> bool:
    """Whether a test that runs with one of so many seeds runs with this one."""
    return (SEED + zlib.crc32(name.encode())) % turns == 0


def numbers(count: int, *, quick: int = 1, ci: int = 1) -> list[int]:
    """The numbers of the random programs that a test makes: those of WARPGLASS_FUZZ, or some of the first."""
    if FUZZ is None:
        return sample(range(count), quick=quick, ci=ci)
    first, asked = map(int, FUZZ.split(":"))
    return list(range(first, first + asked))
