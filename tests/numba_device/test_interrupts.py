"""Ctrl-C in launches that machine code makes in a Python program, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
]
PROGRAM = """
import ctypes, os, signal, sys, threading
from tests.fuzz.stream_programs import kernels, ask, made
from warpglass.numba_device.activation import active_device
buffer = made("cuMemAlloc_v2", 4096)
place, rounds, seed = ctypes.c_uint64(buffer), ctypes.c_uint32(4), ctypes.c_uint32(1)
pointers = (ctypes.c_void_p * 4)(*map(ctypes.addressof, (place, place, seed, rounds)))
shape = [ctypes.c_uint32(one) for one in (int(sys.argv[1]), 1, 1, 32, 1, 1, 0)]
kernel = kernels()[0]
for _ in range(10):
    ask("cuLaunchKernel", kernel, *shape, 0, pointers, 0)
assert active_device().shortcuts._kept, "machine code makes it"
rounds.value = 0xFFFFFFFF
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    ask("cuLaunchKernel", kernel, *shape, 0, pointers, 0)
except KeyboardInterrupt:
    print("interrupted")
rounds.value = 4
ask("cuLaunchKernel", kernel, *shape, 0, pointers, 0)
"""


@pytest.mark.parametrize("blocks", [1, 16])
def test_a_launch_by_machine_code_is_interrupted(blocks: int) -> None:
    command = [sys.executable, "-c", PROGRAM, str(blocks)]
    root = Path(__file__).parents[2]
    places = {"PYTHONPATH": os.pathsep.join((str(root), str(root / "src")))}
    how = {"capture_output": True, "text": True, "timeout": 100, "cwd": root, "env": {**os.environ, **places}}
    done = subprocess.run(command, check=False, **how)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
