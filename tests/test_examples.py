"""Every example runs as a user would run it and prints what it promises."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.turns(2)

ROOT = Path(__file__).parent.parent
EXAMPLES = {
    "vector_add.py": "4 blocks of 32 threads for 100 elements: 28 threads idle\nright: True",
    "reduce.py": "kernel 524",
    "picture.py": "blur of 512 x 600 pixels, right: True\nwritten to ",
    "low_pass.py": "   440 Hz: 0.400 -> 0.399\n  8000 Hz: 0.400 -> 0.000\n",
    "array_from_disk.py": "33.6 MB in 16384 blocks, right: True",
    "check_smooth.py": "smooth, 8 blocks: 97.6% right\n",
    "raw_kernel.py": "saxpy right: True\nsum: 49995000\n",
    "profile_matmul.py": "global_load_requests          131,072 ->    8,192\n",
}


def run(*command: str) -> str:
    """Run a command from the project's root and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_whole_program_runs() -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    command = [sys.executable, "-m", "warpglass", "run", "examples/heat.cu", "-O2", "--", "100"]
    assert run(*command) == "after 100 steps: heat 1000.000, 56.348 in the middle\n"


def test_the_lesson_on_streams_shows_what_its_program_prints() -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs a C++ compiler")
    printed = run(sys.executable, "-m", "warpglass", "run", "examples/tutorial/streams.cu")
    shown = "".join(f"    {line}\n" for line in printed.splitlines())
    page = (ROOT / "docs" / "tutorial" / "11-streams.md").read_text("utf-8")
    assert f"    $ warpglass run examples/tutorial/streams.cu\n{shown}\n" in page


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_example_prints_what_it_promises(name: str) -> None:
    output = run(sys.executable, str(ROOT / "examples" / name))
    assert output.startswith(EXAMPLES[name])


def test_a_program_for_cuda_core_runs_unmodified() -> None:
    pytest.importorskip("cuda.core")
    output = run(sys.executable, "-m", "warpglass", "run", "examples/cuda_core/saxpy.py")
    assert output == "NVIDIA H100 80GB HBM3: True\n"


def test_kernels_of_triton_run_without_a_gpu() -> None:
    pytest.importorskip("triton")
    output = run(sys.executable, "examples/triton/kernels.py")
    assert output.startswith("add: 0 errors found, largest difference 0\nsoftmax: 0 errors found")


def test_matrix_product_saves_what_its_tiles_say() -> None:
    assert "one read of global memory in 16 is left" in run(sys.executable, "examples/profile_matmul.py")


def test_example_kernel_runs_from_the_command_line() -> None:
    output = run(
        *(sys.executable, "-m", "warpglass", "run", "examples/reduce.cu:reduce<256>", "--grid", "64"),
        *("--block", "256", "--arg", "f8[16384]:one", "--arg", "f8[64]", "--arg", "u4=16384"),
    )
    assert "Sum of partial (f8[64]): 16384.000000" in output
