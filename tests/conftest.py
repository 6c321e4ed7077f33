"""What all tests share: which of them a run takes, and the tier of the engine's code.

How many run is said by WARPGLASS_TESTS (levels.py). Tests with the `gpu` marker are skipped where there is
no GPU. Tests launch most kernels once, for which quick code is made (engine/cpu/tiers.py). One test in
twenty, the same in every run, has its kernels optimised; at level `full` all of them have.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import zlib
from collections import defaultdict
from typing import Any

import pytest

from tests.levels import FULL, FUZZ, LEVEL, LEVELS, SEED, UNMARKED, chosen, has_turn

TIER = "WARPGLASS_TIER"
LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU; skipped where there is none")
    config.addinivalue_line("markers", "sampled(quick, ci): one of so many cases at these levels (levels.py)")
    config.addinivalue_line("markers", "turns(count): below level full, every so many runs (levels.py)")
    config.addinivalue_line("markers", "least(level): runs at this level and above (levels.py)")
    config.stash[LEFT_OUT] = 0
    os.environ.setdefault(TIER, "optimised" if FULL else "quick")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a shell's background job
        signal.signal(signal.SIGINT, signal.default_int_handler)  # tests send it to themselves


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not _asks_by_name(config):
        taken = _taken(items)
        left = [item for item in items if item not in taken]
        config.stash[LEFT_OUT] = len(left)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item in taken]
    wanting = [item for item in items if item.get_closest_marker("gpu")]
    if wanting and not has_gpu():
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU"))


def _asks_by_name(config: pytest.Config) -> bool:
    """Whether tests are named, by -k, as file.py::test or by a number: those run whole."""
    return bool(FUZZ or config.option.keyword) or any("::" in argument for argument in config.args)


def _taken(items: list[pytest.Item]) -> set[pytest.Item]:
    """The items that run at this level."""
    taken: set[pytest.Item] = set()
    sampled: defaultdict[tuple[str, int, bool], list[pytest.Item]] = defaultdict(list)
    for item in items:
        least = max((LEVELS.index(mark.args[0]) for mark in item.iter_markers("least")), default=0)
        usual = UNMARKED.get(LEVEL, 1)
        of = max((mark.kwargs.get(LEVEL, usual) for mark in item.iter_markers("sampled")), default=usual)
        if LEVELS.index(LEVEL) < least:
            continue
        turns = max((mark.args[0] for mark in item.iter_markers("turns")), default=1)
        if not FULL and not has_turn(item.nodeid.partition("[")[0], turns):
            continue
        if of == 1:
            taken.add(item)
        else:  # those apart that may all be skipped
            skipped = any(item.get_closest_marker(name) for name in ("gpu", "skip"))
            sampled[item.nodeid.partition("[")[0], of, skipped].append(item)
    for (name, of, _), cases in sampled.items():
        taken.update(cases[k] for k in chosen(len(cases), of, name))
    return taken


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)  # of a worker of pytest-xdist
    if output is not None:
        output["left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left = config.stash[LEFT_OUT]
    more = f", {left} tests left out: WARPGLASS_TESTS=full takes all" if left else ""
    terminalreporter.write_line(f"level {LEVEL} (WARPGLASS_TESTS), WARPGLASS_TESTS_SEED={SEED}{more}")


@pytest.fixture(autouse=True)
def _optimise_a_sample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get(TIER) == "quick" and zlib.crc32(request.node.nodeid.encode()) % 20 == 0:
        monkeypatch.setenv(TIER, "optimised")


def has_gpu() -> bool:
    """Ask the driver itself: no CUDA package needs to be importable for that."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
