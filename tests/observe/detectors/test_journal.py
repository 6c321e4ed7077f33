"""Shared memory between two barriers: random programs, judged by comparing every two of their accesses.

One kernel runs any program: rows of steps that say how all threads access shared memory, or synchronise. The
judge here knows nothing of stamps or journals: two accesses race if they meet in a byte, not both are reads
or atomic, and no barrier is between them. What the checker reports must be among those pairs of lines, and it
must report something if there is any.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest

import warpglass as wg
from tests.engines import engine_mode

WORDS = 192  # of shared memory, 4 bytes each
ALL = 0xFFFFFFFF

KERNEL = r"""
extern "C" __global__ void k(int* out, const unsigned* program, const int* places, int steps) {
    extern __shared__ int s[];
    unsigned t = threadIdx.x, lane = t % 32, total = 0;
    for (int step = 0; step < steps; step++) {
        unsigned what = program[3 * step], base = program[3 * step + 1], mask = program[3 * step + 2];
        int place = places[step * blockDim.x + t];
        if (what == 0) __syncthreads();
        else if (what == 1) __syncwarp();
        else if (mask >> lane & 1) switch (what) {
            case 2: s[base + t] = t; break;                            // run, write
            case 3: total += s[base + t]; break;                       // run, read
            case 4: total += s[base]; break;                           // one, read
            case 5: s[base] = t; break;                                // one, write
            case 6: s[base + t / 16 * 17 + t % 16] = t; break;         // rows, write
            case 7: total += s[base + t / 16 * 17 + t % 16]; break;    // rows, read
            case 8: total += s[base + t / 16]; break;                  // pairs, read
            case 9: total += s[place]; break;                          // any, read
            case 10: s[place] = t; break;                              // any, write
            case 11: atomicAdd(&s[place], 1); break;                   // any, atomic
            case 12: total += s[(base + t) % 8 * 20 + (base + t) / 8]; break;  // columns, read
            case 13: total += ((char*)s)[base * 4 + t]; break;         // bytes, read
            case 14: ((char*)s)[base * 4 + t] = t; break;              // bytes, write
            case 15: { int2 v = ((int2*)s)[place / 2]; total += v.x ^ v.y; break; }  // two, read
            case 16: ((int2*)s)[place / 2] = make_int2(t, t); break;   // two, write
        }
    }
    out[blockIdx.x * blockDim.x + t] = total;
}
"""
BARRIER, WARP_BARRIER = 0, 1


class Row(NamedTuple):
    """What the kernel says of a step: its line, the form of the address, and what is done there."""

    line: int
    form: str
    how: str


STEPS = {
    int(line.split(":")[0].split()[1]): Row(number, *line.split("// ")[1].strip().split(", "))
    for number, line in enumerate(KERNEL.splitlines(), start=1)
    if "// " in line
}


@dataclass(frozen=True)
class Step:
    """One row of a program; `places` are the threads' own."""

    what: int
    base: int
    mask: int
    places: tuple[int, ...]

    def bytes_of(self, t: int) -> range:
        """What a thread accesses."""
        form, b = STEPS[self.what].form, self.base
        if form == "bytes":
            return range(b * 4 + t, b * 4 + t + 1)
        if form == "two":
            first = self.places[t] // 2 * 2
            return range(first * 4, first * 4 + 8)
        words = {
            "run": b + t,
            "one": b,
            "rows": b + t // 16 * 17 + t % 16,
            "pairs": b + t // 16,
            "any": self.places[t],
            "columns": (b + t) % 8 * 20 + (b + t) // 8,
        }
        return range(words[form] * 4, words[form] * 4 + 4)


@dataclass(frozen=True)
class Access:
    """A thread's access: which step, and how many barriers it has behind it."""

    step: Step
    thread: int
    number: int
    interval: int
    warp_time: int

    @property
    def line(self) -> int:
        """The source line."""
        return STEPS[self.step.what].line

    @property
    def how(self) -> str:
        """What it does: read, write or atomic."""
        return STEPS[self.step.what].how

    def race(self, other: Access) -> str:
        """The kind of race of two accesses that meet, "" for none."""
        hows = {self.how, other.how}
        if self.thread == other.thread or hows == {"read"} or hows == {"atomic"}:
            return ""
        if self.interval != other.interval:
            return ""
        if self.thread // 32 != other.thread // 32:
            return "shared-race"
        return "warp-race" if self.warp_time == other.warp_time else ""


Findings = set[tuple[str, frozenset[int]]]


def judge(program: list[Step], threads: int) -> tuple[Findings, Findings]:
    """All races of a program by kind and lines, and all reads of what nobody has written before."""
    by_byte: dict[int, list[Access]] = {}
    intervals = times = 0
    races: Findings = set()
    unwritten: Findings = set()
    for number, step in enumerate(program):
        intervals += step.what == BARRIER
        times += step.what in (BARRIER, WARP_BARRIER)
        if step.what in (BARRIER, WARP_BARRIER):
            continue
        now = [
            (Access(step, t, number, intervals, times), step.bytes_of(t))
            for t in range(threads)
            if step.mask >> t % 32 & 1
        ]
        for access, places in now:
            written = all(any(one.how != "read" for one in by_byte.get(place, ())) for place in places)
            if access.how != "write" and not written:
                unwritten.add(("uninitialised-read", frozenset({access.line})))
        for access, places in now:
            for place in places:
                by_byte.setdefault(place, []).append(access)
    for accesses in by_byte.values():
        for one, other in combinations(accesses, 2):
            if kind := one.race(other):
                races.add((kind, frozenset({one.line, other.line})))
    return races, unwritten


def random_programs(threads: int, count: int, seed: int) -> Iterator[list[Step]]:
    """Programs that are clean about as often as not."""
    rng = random.Random(seed)
    for _ in range(count):
        fill = [Step(2, start, ALL, (0,) * threads) for start in range(0, WORDS, threads)]
        program = [*fill[: len(fill) - (rng.random() < 0.3)], Step(BARRIER, 0, ALL, (0,) * threads)]
        careful = rng.random()
        for _ in range(rng.randint(2, 14)):
            program.append(_random_step(rng, threads))
            if rng.random() < careful:
                program.append(Step(rng.choice((BARRIER, BARRIER, WARP_BARRIER)), 0, ALL, (0,) * threads))
        yield program


def _random_step(rng: random.Random, threads: int) -> Step:
    what = rng.choice([3, 3, 4, 7, 8, 9, 12, 13, 15, *range(2, 17)])
    mask = rng.choice([ALL, ALL, ALL, 1, 1 << 7, 0x0000FFFF, 0x55555555, 0xFFFF0000, rng.getrandbits(32)])
    form = STEPS[what].form
    most = {"run": WORDS - threads, "rows": WORDS - threads // 16 * 17, "columns": WORDS - threads}
    base = rng.randint(0, most.get(form, WORDS - threads)) // 4 * rng.choice((1, 4))
    places = [base + t for t in range(threads)]
    choice = rng.random()
    if choice < 0.3:
        rng.shuffle(places)
    elif choice < 0.6:
        places = rng.sample(range(WORDS), threads)
    elif choice < 0.8:
        places = [place * 2 % WORDS for place in range(threads)]
    return Step(what, base, mask, tuple(places))


def found_by(checked: wg.Check) -> Findings:
    """The findings by kind and lines."""
    return {
        (one.kind, frozenset(place.line for place in pair if place))
        for one in checked.findings
        for pair in one.places
    }


@pytest.mark.parametrize(("threads", "count"), [(32, 60), (96, 60)])
def test_verdicts_are_those_of_every_pair(threads: int, count: int) -> None:
    kernel = wg.compile(KERNEL, "k")
    clean = 0
    for number, program in enumerate(random_programs(threads, count, seed=threads)):
        rows = np.array([(one.what, one.base, one.mask) for one in program], np.uint32)
        places = np.array([one.places for one in program], np.int32)
        out = np.zeros(2 * threads, np.int32)
        with engine_mode("reference" if number % 8 == 0 else "kinds"):
            args = (out, rows, places, np.int32(len(program)))
            found = found_by(wg.check(kernel, 2, threads, args, shared=4 * WORDS, timeout=60))
        races, unwritten = judge(program, threads)
        if races:
            assert found & races, (program, races)
            assert found <= races | unwritten, (program, races)
        else:
            assert found == unwritten, (program, found)
            clean += not unwritten
    assert count // 10 < clean < count - count // 10
