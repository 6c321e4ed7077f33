"""Kernels that several host threads launch at once, none of them compiled before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# Each thread launches kernels of its own and one that is all threads', while better code is made of each.
PROGRAM = """
import os, sys, threading
os.environ.update(WARPGLASS_CACHE=sys.argv[1], WARPGLASS_TIER="")
import numpy as np
from tests.ptx_text import kernel
from warpglass.engine.cpu import prepared, tiers
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.source.compiled import Compiled

prepared._MOST_LINES, prepared._FEW_STEPS, tiers.LONG_KERNEL = 0, int(sys.argv[2]), 0.0
THREADS, KERNELS, LAUNCHES = 6, 2, 3
backend, failed = CpuBackend(), []
together = threading.Barrier(THREADS)


def text(number):
    return kernel(f'''
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4;
        ld.param.u64 %rd1, [out];
        add.u64 %rd1, %rd1, %rd2;
        ld.global.u32 %r2, [%rd1];
        add.u32 %r2, %r2, {number};
        st.global.u32 [%rd1], %r2;
        ret;''', "u64 out")


def launch(number):
    out = np.zeros(64, np.uint32)
    for _ in range(LAUNCHES):
        backend.run(Launch(Compiled(text(number), "k", "k", "ptx"), (1, 1, 1), (64, 1, 1), (out,), 0, 60.0))
    if (out != LAUNCHES * number).any():
        failed.append((number, out))


def many(thread):
    try:
        together.wait()
        for kernel_number in range(KERNELS):
            launch(1 + KERNELS * thread + kernel_number)
            launch(1000)
    except BaseException as error:
        failed.append(error)


threads = [threading.Thread(target=many, args=(number,)) for number in range(THREADS)]
for one in threads: one.start()
for one in threads: one.join()
print("failed", failed) if failed else print("sound")
"""


def _run(cache: Path, few_steps: int) -> str:
    command = [sys.executable, "-c", PROGRAM, str(cache), str(few_steps)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_several_threads_launch_kernels_for_the_first_time(tmp_path: Path) -> None:
    assert _run(tmp_path / "quick", 1000) == "sound\n"


def test_several_threads_launch_kernels_that_begin_in_small_code(tmp_path: Path) -> None:
    assert _run(tmp_path / "small", 0) == "sound\n"
