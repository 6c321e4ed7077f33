"""Launches that the main thread runs itself, since those before were short: Ctrl-C, other signals, the clock.

Each test runs in a process of its own, with optimised code from the start, and sees first that the launching
thread is a worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.turns(2)

_BEGIN = '''
import asyncio, os, signal, sys, threading, time
import numpy as np
import warpglass as wg
from warpglass.engine.cpu.guard import GUARD
from warpglass.errors import KernelFault, KernelTimeout

TEXT = """
extern "C" __global__ void rounds(int *x, const long long *n) {
    for (volatile long long k = 0; k < n[blockIdx.x]; ++k) {}
    atomicAdd(x, 1);
}
extern "C" __global__ void fault(int *x, const long long *n) {
    if (n[blockIdx.x] < 0) x[1 << 20] = 1;
    for (volatile long long k = 0; k < n[blockIdx.x]; ++k) {}
}
"""
BLOCKS, MANY = 8, 1 << 40
x, n = np.zeros(1, np.int32), np.zeros(BLOCKS, np.int64)

def launch(name="rounds", **how):
    wg.run(kernels[name], BLOCKS, 32, (x, n), device="cpu", **how)

def warm(name="rounds"):
    """Launches until they are guarded."""
    before = GUARD._launches
    for _ in range(5):
        launch(name)
    assert GUARD._launches > before
    assert signal.set_wakeup_fd(-1) == -1

def after(seconds, *signals):
    def send():
        time.sleep(seconds)
        for one in signals:
            os.kill(os.getpid(), one)
    thread = threading.Thread(target=send)
    thread.start()
    return thread

kernels = {name: wg.compile(TEXT, name) for name in ("rounds", "fault")}
warm()
'''


@pytest.fixture(params=["1", "2"])
def threads(request: pytest.FixtureRequest) -> str:
    return request.param


def run(script: str, threads: str) -> None:
    """Run a script behind the beginning; it prints `went on` at its end."""
    root = Path(__file__).parents[2]
    own = {"WARPGLASS_TIER": "optimised", "WARPGLASS_THREADS": threads, "PYTHONPATH": f"{root / 'src'}"}
    command = [sys.executable, "-c", f"{_BEGIN}\n{script}\nprint('went on')"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, env=os.environ | own)
    assert done.stdout == "went on\n", done.stderr


posix = pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send signals there")


@posix
def test_ctrl_c_ends_it(threads: str):
    run(
        """
n[:] = MANY
for presses in (1, 4):
    begun = time.monotonic()
    try:
        sender = after(0.3, *[signal.SIGINT] * presses)
        try:
            launch()
        except KeyboardInterrupt:
            late = time.monotonic() - begun - 0.3
        sender.join()
        time.sleep(0.1)
    except KeyboardInterrupt:  # a later press, after the launch
        pass
    assert late < 1, late
n[:] = 0
x[:] = 0
for _ in range(100):
    launch()
assert x[0] == 100 * BLOCKS * 32, x
warm()
""",
        threads,
    )


@posix
def test_presses_at_any_time_lose_no_launch(threads: str):
    run(
        """
n[:] = 2000
done = caught = 0
for turn in range(40):
    try:
        sender = after(0.001 + turn * 0.0003, signal.SIGINT)
        while sender.is_alive():
            x[:] = 0
            launch()
            assert x[0] == BLOCKS * 32, x
            done += 1
        time.sleep(0.01)
    except KeyboardInterrupt:
        caught += 1
    x[:] = 0
    launch()  # at once: what is left of the press must not end it
    assert x[0] == BLOCKS * 32, x
assert caught == 40, caught
warm()
""",
        threads,
    )


@posix
def test_other_signals_are_handled_between_blocks(threads: str):
    run(
        """
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(int(x[0])))
n[:] = 300_000_000
x[:] = 0
sender = after(0.05, signal.SIGALRM)
launch()
assert x[0] == BLOCKS * 32, x
assert len(seen) == 1 and seen[0] < BLOCKS * 32, seen
""",
        threads,
    )


def test_its_time_is_over(threads: str):
    run(
        """
n[:] = MANY
begun = time.monotonic()
try:
    launch(timeout=1.0)
except KernelTimeout as error:
    assert "did not end within 1 s" in str(error), error
    assert error.place.line in (3, 4), error.place
else:
    raise AssertionError("no timeout")
assert time.monotonic() - begun < 3
wg.reset("cpu")
n[:] = 0
warm()
""",
        threads,
    )


def test_a_fault_ends_it(threads: str):
    run(
        """
warm("fault")
n[:] = MANY
n[0] = -1
begun = time.monotonic()
try:
    launch("fault")
except KernelFault as error:
    assert error.place.block == (0, 0, 0), error.place
else:
    raise AssertionError("no fault")
assert time.monotonic() - begun < 10
""",
        threads,
    )


def test_sockets_of_others_are_left_alone(threads: str):
    run(
        """
async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)
    before, own = GUARD._launches, signal.set_wakeup_fd(-1)
    assert own != -1
    signal.set_wakeup_fd(own)
    for _ in range(5):
        launch()
    assert GUARD._launches == before
    assert signal.set_wakeup_fd(own) == own
if sys.platform != "win32":
    asyncio.run(main())
warm()

others = []
thread = threading.Thread(target=lambda: others.append((launch(), GUARD._launches)))
before = GUARD._launches
thread.start()
thread.join()
assert others == [(None, before)]
""",
        threads,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_has_a_guard_of_its_own(threads: str):
    run(
        """
child = os.fork()
if child == 0:
    warm()
    n[:] = MANY
    try:
        launch(timeout=1.0)
    except KernelTimeout:
        os._exit(0)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
warm()
time.sleep(1.3)  # the guard sleeps
n[:] = MANY
try:
    launch(timeout=1.0)
except KernelTimeout:
    pass
else:
    raise AssertionError("no timeout")
""",
        threads,
    )
