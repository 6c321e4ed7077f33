"""What checks and profiles report does not depend on the number of threads, nor what they leave in arrays."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import worker_threads
from tests.fuzz import checked_programs
from tests.levels import numbers, sample
from warpglass.engine.cpu import backend, experience, snapshot
from warpglass.observe.detectors import arena
from warpglass.observe.detectors.arena import Arena, used_pages
from warpglass.observe.detectors.races import shadow_lines
from warpglass.records.check import Check

from .corpus import TWINS, read_cases
from .truth import SETS, cases, profile

# What a launch of some blocks does, and how it ends on several threads: "settled", "in vain", or "alone" if
# it is not tried.
_LAUNCHES = {
    "elements of its own": ("x[i] += y[i];", "settled"),
    "lines of several blocks": ("x[i * 5 % n] += 1;", "settled"),
    "integers are added up": ("atomicAdd(x, y[i]); atomicMax(x + 1, i);", "settled"),
    "added up, and looked at": ("atomicAdd(x, 1); y[i] = ((volatile int*)x)[0];", "settled"),
    "a block's own element": ("__shared__ int s; if (t == 0) s = i; __syncthreads(); x[i] = s;", "settled"),
    "some lanes wait": ("if (t % 32 < 9) __syncwarp(511); x[i] += 1; atomicAdd(y, 1);", "settled"),
    "some warps wait": ('x[i] += 1; asm volatile("bar.sync 1, 64;"); atomicAdd(y, 1);', "settled"),
    "some wait, and meet": ("if (t % 32 < 9) __syncwarp(511); x[i] = x[(i + 70) % n];", "in vain"),
    "some wait, once atomic": (
        "if (t < 9) __syncwarp(511); if (i) atomicAdd(x, 1); else x[0] = 1;",
        "in vain",
    ),
    "a neighbour's element": ("x[(i + 1) % n] = x[i];", "in vain"),
    "one element": ("if (t == 0) x[n / 2] = i;", "in vain"),
    "one element, now and then atomic": ("if (t == 0) atomicAdd(x, 1); if (i == n - 1) x[0] = 3;", "in vain"),
    "read once, then added to": ("if (i == 70) y[i] = x[0]; __syncthreads(); atomicAdd(x, 1);", "in vain"),
    "added to within the block": ("atomicAdd_block(x, 1);", "in vain"),
    "a race within a block": ("__shared__ int s[64]; s[t] = i; x[i] = s[63 - t];", "in vain"),
    "an element too many": ("x[i + 1] = i;", "in vain"),
    "a slot each": ("y[atomicAdd(x, 1) % n] = i;", "alone"),
    "the last block": ("__threadfence(); if (atomicAdd(x, 1) == 9) y[i] = 0;", "alone"),
}
_BLOCKS, _THREADS = 12, 64


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How the launches end that are tried on several threads, however short they are."""
    found: list[str] = []

    def rehearse(*args: Any) -> Any:
        done = rehearsed(*args)
        found.append("settled" if done is not None else "in vain")
        return done

    rehearsed = backend.rehearse
    monkeypatch.setattr(backend, "rehearse", rehearse)
    monkeypatch.setattr(experience, "_DIVIDED", -1.0)
    return found


def _check(body: str, threads: int) -> tuple[Check, list[np.ndarray]]:
    head = "int t = threadIdx.x, n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + t;"
    kernel = wg.compile(f'extern "C" __global__ void k(int* x, int* y) {{ {head} {body} }}', "k")
    arrays = [np.arange(k, k + _BLOCKS * _THREADS, dtype=np.int32) % 9 for k in (0, 5)]
    with worker_threads(threads):
        checked = wg.check(kernel, _BLOCKS, _THREADS, arrays)
    return replace(checked, device=""), arrays


@pytest.mark.parametrize("name", _LAUNCHES)
def test_launches_on_several_threads(ends: list[str], name: str) -> None:
    body, end = _LAUNCHES[name]
    checked, arrays = _check(body, 1)
    assert not ends
    again, others = _check(body, 3)
    assert again == checked
    assert [end] == (ends or ["alone"])
    assert all(map(np.array_equal, arrays, others))
    assert bool(checked.findings) == (end == "in vain")


def test_plain_loads_that_follow_from_the_order(ends: list[str]) -> None:
    """A load whose value is compared with what is there races with nobody, but decides."""
    body = "if (x[0] < 5) { y[i] = 1; atomicCAS(x, x[0], i); }"
    assert _check(body, 1)[0] == _check(body, 3)[0]
    assert not ends


def test_what_is_in_vain_is_not_tried_again(ends: list[str]) -> None:
    first, second = (_check("x[(i + 2) % n] = x[i];", 3)[0] for _ in range(2))
    assert first == second
    assert ends == ["in vain"]


def test_brief_launches_are_not_tried_again(ends: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experience, "_DIVIDED", 1e6)
    for _ in range(3):
        _check("x[i] = y[i] + 77;", 3)
    assert ends == ["settled"]


def test_copies_that_take_too_much_are_not_made(ends: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "memory_limit", lambda: 100)
    checked, (x, _) = _check("x[i] += y[i] * 3;", 3)
    assert ends == ["in vain"]
    assert not checked.findings
    assert x[1] == 1 + 6 * 3


def test_untouched_elements_are_those_of_all_threads(ends: list[str]) -> None:
    kernel = wg.compile(
        'extern "C" __global__ void k(int* x, const int* y) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i != 100) x[i] = y[i]; }",
        "k",
    )
    found = []
    for threads in (1, 3):
        x, y = np.zeros(512, np.int32), np.ones(512, np.int32)
        with worker_threads(threads):
            found.append(wg.check(kernel, 8, 64, (wg.out(x), wg.all_of(y))).findings)
    assert found[0] == found[1]
    assert [one.message for one in found[0]] == [
        "1 element of x (512 in all) is never written, the first is x[100]"
    ]
    assert ends == ["settled"]


def test_large_arrays(ends: list[str]) -> None:
    """Most pages of shadow memory are touched by one thread, or by nobody."""
    kernel = wg.compile(
        'extern "C" __global__ void k(int* x, int stray) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < 100000 || i > 300000) x[i] += 1;"
        " if (i == 90000) x[stray] = 2; }",
        "k",
    )
    for stray in (90000, 89999, 250000, 399999, 500000):
        found = []
        for threads in (1, 3):
            x = np.zeros(1 << 19, np.int32)
            with worker_threads(threads):
                found.append(wg.check(kernel, 2048, 256, (x, np.int32(stray))).findings)
        assert found[0] == found[1]
        assert bool(found[0]) == (stray in (89999, 399999, 500000))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_pages_that_are_touched() -> None:
    words = Arena().zeros(20 * arena.PAGE)
    assert not used_pages(words).any()
    words[5 * arena.PAGE + 7] = words[12 * arena.PAGE] = 1
    assert np.flatnonzero(used_pages(words)).tolist() == [5, 12]


def test_pages_where_nobody_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "_page_table", lambda: None)
    assert used_pages(Arena().zeros(3 * arena.PAGE)).tolist() == [1, 1, 1]


def test_places_of_a_line() -> None:
    rng = np.random.default_rng(1)
    assert shadow_lines.places_in(0) == 0
    assert shadow_lines.places_in(1 << 40) == (1 << 32) - 1
    for _ in range(50):
        some = rng.random(32) < rng.random()
        room = np.zeros(32, np.int64)
        room[some] = rng.integers(1, 1 << 62, int(some.sum()))
        palette = np.zeros(96, np.uint8)
        palette[64:][some] = rng.choice([1, 128, 255], int(some.sum()))
        want = sum(1 << int(place) for place in np.flatnonzero(some))
        for line in (room.ctypes.data, palette.ctypes.data | 1):
            assert shadow_lines.places_in(line - (1 << 63)) == want


@pytest.mark.parametrize(
    "twin_of", sample((f"{name}/{twin}" for name in read_cases() for twin in TWINS), quick=24, ci=12)
)
def test_verdicts_of_the_corpus(ends: list[str], twin_of: str) -> None:
    name, twin = twin_of.split("/")
    checks = []
    for threads in (1, 4):
        with worker_threads(threads):
            checks.append(replace(read_cases()[name].check(twin), device=""))
    assert checks[0] == checks[1]


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name in SETS for case in sample(cases(name), quick=40, ci=20)]
)
@pytest.mark.parametrize("caches", [False, True])
def test_counters(name: str, case: str, caches: bool) -> None:
    found = []
    for threads in (1, 4):
        with worker_threads(threads):
            one = profile(name, cases(name)[case], caches)
        found.append((one.counters, one.metrics, one.labels, one.lines))
    assert found[0] == found[1]


def test_random_programs() -> None:
    for number in numbers(200, quick=40, ci=40):
        checked_programs.attempt(number)
