"""Whole programs on the command line: whose an option is, limits of time, Ctrl-C, output, exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warpglass.cli import status

pytestmark = pytest.mark.turns(2)

ROOT = Path(__file__).parent.parent
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the virtual GPU needs Linux")

_KERNELS = r"""
#include <cstdio>
extern "C" __global__ void greet(float *y) {
    if (threadIdx.x == 0) printf("from the kernel\n");
    y[threadIdx.x] = 1;
}
extern "C" __global__ void past(float *y) { y[threadIdx.x + 1] = 1; }
extern "C" __global__ void spin(volatile int *y) { while (*y == 0) {} }
extern "C" __global__ void wrong(float *y) { y[0] = nonsense; }
"""
_PROGRAM = """
import os, sys
import numpy as np, warpglass as wg
print("given", *sys.argv[1:], flush=True)
os.system("echo from a child")
kernel = wg.load(os.path.join(os.path.dirname(__file__), "k.cu"), "greet")
wg.run(kernel, 1, 32, (np.zeros(32, np.float32),), device="cpu")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program and kernels."""
    found = tmp_path_factory.mktemp("programs")
    (found / "k.cu").write_text(_KERNELS.replace("nonsense", "0"), "utf-8")
    (found / "bad.cu").write_text(_KERNELS, "utf-8")
    (found / "program.py").write_text(_PROGRAM, "utf-8")
    return found


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m warpglass` in the folder."""
    return subprocess.run(
        [sys.executable, "-m", "warpglass", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# ---------------------------------------------------------------------------------------- whose option
@pytest.mark.parametrize(
    "words",
    [
        ("check", "program.py", "--sarif", "out.sarif"),
        ("check", "program.py", "first", "--json"),
        ("profile", "program.py", "--metrics=gld_transactions"),
        ("profile", "program.py", "--lines"),
        ("profile", "-m", "timeit", "--save", "p.json"),
        ("run", "program.py", "--timeout", "3"),
    ],
)
def test_our_options_after_a_program_are_refused(words: tuple[str, ...], folder: Path) -> None:
    done = call(folder, *words)
    option = next(word for word in words if word.startswith("--")).partition("=")[0]
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"{option} stands after" in done.stderr
    assert "-- " in done.stderr
    assert not (folder / "out.sarif").exists()


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (("run", "program.py", "--size", "3", "--grid", "4", "--json"), "--size 3 --grid 4 --json"),
        (("run", "program.py", "--", "--timeout", "3"), "--timeout 3"),
        (("run", "program.py", "a", "--", "--timeout", "3"), "a -- --timeout 3"),
        (("check", "--timeout", "30", "program.py", "--", "--json"), "--json"),
        (("profile", "--caches", "program.py", "-v", "--help"), "-v --help"),
    ],
)
def test_a_programs_own_options_reach_it(words: tuple[str, ...], given: str, folder: Path) -> None:
    done = call(folder, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"given {given}"


def test_options_of_kernels_before_a_program_are_refused(folder: Path) -> None:
    for command, option in (("run", "--json"), ("check", "--grid=3"), ("profile", "--arg")):
        done = call(folder, command, option, *(("3",) if option == "--arg" else ()), "program.py")
        assert done.returncode == 2
        assert f"{option.partition('=')[0]} belongs to FILE:KERNEL" in done.stderr


# ---------------------------------------------------------------------------------------- output
@pytest.mark.parametrize(
    "words",
    [
        ("check", "--json", "program.py"),
        ("profile", "--no-caches", "--json", "program.py"),
        ("run", "k.cu:greet", "--grid", "1", "--block", "32", "--arg", "f4[32]", "--json"),
        ("check", "k.cu:greet", "--grid", "1", "--block", "32", "--arg", "f4[32]", "--json"),
        ("profile", "k.cu:greet", "--grid", "1", "--block", "32", "--arg", "f4[32]", "--json"),
    ],
)
def test_json_stands_alone_on_standard_output(words: tuple[str, ...], folder: Path) -> None:
    done = call(folder, *words)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert "from the kernel" in done.stderr
    assert ("from a child" in done.stderr) == ("program.py" in words)


# ---------------------------------------------------------------------------------------- exit status
@pytest.mark.parametrize(
    ("target", "options", "expected"),
    [
        ("k.cu:greet", (), 0),
        ("k.cu:absent", (), 2),
        ("k.cu:past", ("--arg", "f4[3]"), 2),
        ("bad.cu:wrong", (), 3),
        ("k.cu:past", (), 4),
        ("k.cu:greet", ("--block", "2048"), 4),
        ("k.cu:spin", ("--timeout", "0.5"), 124),
    ],
)
@pytest.mark.parametrize("command", ["run", "check", "profile"])
def test_the_exit_status_says_what_went_wrong(
    command: str, target: str, options: tuple[str, ...], expected: int, folder: Path
) -> None:
    done = call(folder, command, target, "--grid", "1", "--block", "32", "--arg", "f4[32]", *options)
    finding = command == "check" and expected in (4, 124) and "--block" not in options
    if target == "k.cu:spin" and "float32" in done.stderr:  # the element type is not the point
        done = call(folder, command, target, "--grid", "1", "--block", "32", "--arg", "i4[32]", *options)
    assert done.returncode == (1 if finding else expected), done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_of_exit_statuses_has_all() -> None:
    page = (ROOT / "docs" / "reference" / "exit-status.md").read_text("utf-8")
    listed = {int(line.split("|")[1]) for line in page.splitlines() if line[2:3].isdigit()}
    assert listed == {0, *(value for name, value in vars(status).items() if name.isupper())}


def test_an_error_that_a_program_leaves_has_the_same_status(folder: Path) -> None:
    program = folder / "failing.py"
    program.write_text(_PROGRAM.replace('"greet"', '"past"'), "utf-8")
    assert call(folder, "run", "failing.py").returncode == 4
    program.write_text("raise ValueError(3)", "utf-8")
    done = call(folder, "run", "failing.py")
    assert done.returncode == 1
    assert "warpglass" not in done.stderr
    program.write_text("import sys; sys.exit(37)", "utf-8")
    assert call(folder, "run", "failing.py").returncode == 37
    assert call(folder, "run", "--timeout", "60", "failing.py").returncode == 37


# ---------------------------------------------------------------------------------------- time, Ctrl-C
@LINUX
def test_the_limit_of_time_ends_a_program_with_all_that_it_started(folder: Path) -> None:
    (folder / "slow.py").write_text(
        "import subprocess, sys, time\n"
        'child = \'import os, subprocess, time; print(subprocess.Popen(["sleep", "60"]).pid, flush=True)\'\n'
        "subprocess.Popen([sys.executable, '-c', child], start_new_session=True)\n"
        "print('given', *sys.argv[1:], flush=True)\n"
        "time.sleep(60)\n",
        "utf-8",
    )
    begun = time.monotonic()
    done = call(folder, "run", "--timeout", "9", "slow.py", "--", "--timeout", "1")
    assert done.returncode == 124
    assert time.monotonic() - begun < 40
    assert "slow.py did not end within 9 s (--timeout)" in done.stderr
    lines = done.stdout.split("\n")
    assert "given --timeout 1" in lines
    sleeper = next(int(line) for line in lines if line.isdecimal())
    assert not Path(f"/proc/{sleeper}").exists()


_SPINNING = """
import numpy as np
from numba_cuda_mlir import cuda

@cuda.jit
def spin(x):
    while x[0] == 0:
        x[1] += 1

x = cuda.to_device(np.zeros(4, np.int32))
print("begun", flush=True)
try:
    spin[1, 32](x)
    x.copy_to_host()
except Exception as problem:
    print("the program saw", problem, flush=True)
"""


@LINUX
@pytest.mark.parametrize("command", [("run",), ("run", "--timeout", "60"), ("check",)])
def test_ctrl_c_in_a_launch_ends_a_program_as_python_ends_it(command: tuple[str, ...], folder: Path) -> None:
    (folder / "spinning.py").write_text(_SPINNING, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "warpglass", *command, "spinning.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(3)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    said, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "the program saw" not in said
    assert "ignored" not in error
    assert error.rstrip().endswith("KeyboardInterrupt")
