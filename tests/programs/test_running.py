"""Whole programs, built from source and existing ones: output, input, ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from warpglass.programs import build

from .conftest import SOURCES, Call, environment

pytestmark = pytest.mark.turns(3)

_SLOW = pytest.mark.least("ci")
_WORDS = "start\nkernel of 100\nsum 9900\n"


def test_a_program_has_its_output_in_order_and_its_status(call: Call) -> None:
    done = call("run", "ends.cu")
    assert (done.stdout, done.returncode) == (f"{_WORDS}global destroyed\n", 3), done.stderr


def test_main_begins_before_python_does(call: Call) -> None:
    assert call("run", "early.cu", "--", "nothing").stdout == "main: no Python\n"
    done = call("run", "early.cu")
    assert done.stdout == "main: no Python\n127 no error\n", done.stderr


def test_a_fork_of_a_process_that_uses_the_gpu_cannot_use_it(call: Call) -> None:
    """The status is cudaErrorInitializationError, as CUDA's."""
    assert call("run", "early.cu", "--", "fork").stdout == "main: no Python\n103\n"


def test_a_program_ends_whose_first_call_another_thread_made(call: Call) -> None:
    done = call("run", "early.cu", "--", "thread")
    assert (done.stdout, done.returncode) == ("main: no Python\n127 no error\n", 0), done.stderr


@pytest.mark.parametrize(
    ("how", "status", "more"),
    [
        ("exit", 7, "global destroyed\n"),
        ("_exit", 9, ""),
        ("throw", 3, "caught thrown\nglobal destroyed\n"),
        ("echo", 3, "some input\nglobal destroyed\n"),
    ],
)
def test_a_program_ends_as_it_wants(call: Call, how: str, status: int, more: str) -> None:
    done = call("run", "ends.cu", "--", how, text="some input\n")
    assert (done.stdout, done.returncode) == (_WORDS + more, status), done.stderr


def test_arrays_have_the_names_and_elements_of_the_source(call: Call) -> None:
    said = call("run", "ends.cu", "--", "beyond").stderr
    assert "4-byte read of x[100], but x has 100 elements" in said


@pytest.mark.parametrize("threads", ["1", "2"])
def test_launches_that_come_again_may_take_longer_and_fault(
    call: Call, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    """Machine code makes them while they are brief, and leaves the blocks of long ones to Python."""
    monkeypatch.setenv("WARPGLASS_THREADS", threads)
    done = call("run", "repeats.cu")
    assert done.stdout == "0 wrong\n" * 4 + "cudaErrorIllegalAddress\n", done.stderr
    assert "4-byte write to out[6656], but out has 4096 elements, by block (40, 0, 0)" in done.stderr


@_SLOW
@pytest.mark.parametrize("more", [(), ("spawn",)])
def test_a_program_starts_itself_by_its_name(call: Call, more: tuple[str, ...]) -> None:
    done = call("run", "ends.cu", "--", "again", *more)
    assert done.stdout.startswith(_WORDS + _WORDS), done.stderr
    assert done.returncode == (0 if more else 7)


@_SLOW
@pytest.mark.parametrize(("how", "number"), [("abort", signal.SIGABRT), ("term", signal.SIGTERM)])
def test_signals_end_it_as_they_end_any_program(call: Call, how: str, number: int) -> None:
    assert call("run", "ends.cu", "--", how).returncode == -number
    assert call("run", "--timeout", "50", "ends.cu", "--", how).returncode == 128 + number


@_SLOW
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_from_outside_reach_it(tools: build.Tools, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "warpglass", "run", "ends.cu", "--", "wait"],
        env=environment(),
        cwd=SOURCES,
        stdout=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"start\n"
        program.send_signal(number)
        assert program.wait(20) == -number


_INTERRUPTS = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "warpglass.programs.bridge.inside":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""


@_SLOW
def test_interrupts_while_the_virtual_gpu_starts_are_the_programs(tools: build.Tools, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_INTERRUPTS)
    found = environment()
    found["PYTHONPATH"] = os.pathsep.join([str(tmp_path), found.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "warpglass", "run", "ends.cu"],
        env=found,
        cwd=SOURCES,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGINT
    assert done.stderr == ""


@_SLOW
def test_after_its_time_it_is_ended(call: Call) -> None:
    started = time.monotonic()
    done = call("run", "--timeout", "5", "ends.cu", "--", "wait")
    assert done.returncode == 124
    assert "did not end within 5 s" in done.stderr
    assert time.monotonic() - started < 40


@_SLOW
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("older.cu", "-lcuda"), "1980000 2619000 1\n0\n496\n1\n0\n"),
        (("votes.cu",), "1110 1110\n"),
        pytest.param(("older_templates.cu",), "9 1 63 7 4 9\n", marks=pytest.mark.least("full")),
    ],
)
def test_what_was_written_for_older_releases_runs(call: Call, words: tuple[str, ...], said: str) -> None:
    done = call("run", *words)
    assert (done.returncode, done.stdout) == (0, said), done.stderr


@_SLOW
def test_what_is_gone_has_another_name_or_a_sentence(call: Call, tmp_path: Path) -> None:
    program = tmp_path / "older.cu"
    program.write_text("int main() { return cudaThreadSynchronize(); }\n")
    assert call("run", str(program)).returncode == 0
    program.write_text("texture<float> t;\nint main() { return cudaThreadSynchronize(); }\n")
    done = call("run", str(program))
    assert done.returncode == 3
    assert "texture references are not in CUDA since its version 12" in done.stderr


@_SLOW
def test_libraries_that_are_not_there_are_named(call: Call) -> None:
    done = call("run", "ends.cu", "-lnppc", "-lnvjpeg")
    assert done.returncode == 3
    assert "ends.cu was not built: there is no libnppc, libnvjpeg on this machine" in done.stderr


@_SLOW
def test_kernels_launch_kernels(call: Call) -> None:
    done = call("run", "nested.cu", "-rdc=true", "-lcudadevrt")
    # A block of `tree` has 2 threads, each of which launches a leaf of 4 threads, and `tree` in 2 blocks.
    leaves = [2 * 4**depth for depth in range(3)]
    sums = " ".join(str(count * (4 * (depth * 3 + 1) + 6)) for depth, count in enumerate(leaves))
    expected = f"sums {sums}\nparent no error\norder 1 2 132 9\ncopied 117901063 117901063 117901063 0\n"
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr


@_SLOW
def test_a_header_that_changes_is_seen(call: Call, tmp_path: Path) -> None:
    program, header = tmp_path / "ends.cu", tmp_path / "scale.h"
    program.write_text((SOURCES / "ends.cu").read_text())
    for factor in (2, 3):
        header.write_text(f"#define SCALE {factor}\n")
        assert f"sum {4950 * factor}\n" in call("run", str(program)).stdout


@_SLOW
def test_flags_are_for_the_compiler_and_files_for_the_program(call: Call, tmp_path: Path) -> None:
    copy = tmp_path / "ends"
    done = call("run", "ends.cu", "-DUNUSED", "-O1", "-o", str(copy), "--", "exit")
    assert done.returncode == 7
    assert call("run", str(copy), "exit").returncode == 7


def test_what_a_program_gets_is_not_guessed(call: Call) -> None:
    done = call("run", "ends.cu", "exit")
    assert done.returncode == 2
    assert "follows --: warpglass run ends.cu -- exit" in done.stderr


def test_a_program_that_does_not_compile_says_why(call: Call, tmp_path: Path) -> None:
    program = tmp_path / "bad.cu"
    program.write_text("int main() { return nonsense; }\n")
    done = call("run", str(program))
    assert done.returncode == 3
    assert "nonsense" in done.stderr
    assert "bad.cu" in done.stderr


@_SLOW
def test_an_executable_with_the_runtime_in_itself(call: Call, static: Callable[..., Path]) -> None:
    program = static("ends.cu")
    done = call("run", str(program), "exit")
    assert (done.stdout, done.returncode) == (f"{_WORDS}global destroyed\n", 7), done.stderr
    done = call("run", "sh", "-c", f"echo before; {program} exit; echo $?")
    assert done.stdout == f"before\n{_WORDS}global destroyed\n7\n", done.stderr
    code = f"import subprocess, sys; sys.exit(subprocess.run([{str(program)!r}, 'exit']).returncode)"
    assert call("run", sys.executable, "-c", code).returncode == 7
    subprocess.run(["strip", str(program)], check=True)
    assert "its symbols are stripped" in call("run", str(program), "exit").stderr


def test_a_library_that_is_loaded_later(
    call: Call, static: Callable[..., Path], tools: build.Tools, tmp_path: Path
) -> None:
    library, program = static("plugin.cu", "-shared", "-Xcompiler", "-fPIC"), tmp_path / "loader"
    subprocess.run(
        [*tools.host.command, "-xc", str(SOURCES / "loader.c"), "-o", str(program), "-ldl"], check=True
    )
    assert call("run", str(program), str(library)).stdout == "answer 42\n"
    code = f"import ctypes; print(ctypes.CDLL({str(library)!r}).answer())"
    assert call("run", sys.executable, "-c", code).stdout == "42\n"


@_SLOW
def test_machine_code_alone_is_refused_by_name(call: Call, static: Callable[..., Path]) -> None:
    program = static("ends.cu", code="sm_90")
    said = call("run", str(program)).stderr
    assert said.count("holds machine code") == 1  # however often it is tried
    assert "-gencode arch=compute_" in said


def test_device_code_of_several_files(call: Call) -> None:
    done = call("run", "apart.cu", "apart_function.cu", "-rdc=true")
    assert done.stdout == "42\n", done.stderr


@pytest.mark.least("full")
def test_host_flags_reach_the_linker_and_thrust_is_there(call: Call) -> None:
    done = call("run", "threads.cu", "-Xcompiler", "-fopenmp")
    assert done.stdout == "3 threads, sum 2000\n", done.stderr


@_SLOW
def test_libraries_are_there_when_they_are_called(call: Call) -> None:
    done = call("run", "libraries.cu", "-lcublas", "-lnvrtc")
    assert done.stdout == "nvrtc 0 answers\ncublas 0 30\n", done.stderr


def test_kernels_may_wait_for_the_host(call: Call) -> None:
    done = call("run", "--timeout", "60", "waits.cu")
    first = "cudaErrorNotReady 42 cudaSuccess"
    assert done.stdout == f"{first}\ncudaErrorNotReady 0 11 cudaSuccess 1\n11 7\n", done.stderr


def test_kernels_may_wait_for_kernels_of_other_streams(call: Call) -> None:
    done = call("run", "--timeout", "60", "waits_for_kernels.cu")
    assert done.stdout == "65024 cudaSuccess\ncudaSuccess 200\ncudaErrorNotReady cudaSuccess cudaSuccess\n", (
        done.stderr
    )


def test_kernels_of_few_blocks_run_while_the_host_goes_on(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", "4")
    done = call("run", "--timeout", "60", "streams.cu")
    assert done.stdout.splitlines() == [
        "cudaErrorNotReady cudaErrorNotReady cudaSuccess cudaErrorNotReady",
        "host function: 1",
        "1",
        "launch: cudaSuccess",
        "callback: cudaErrorIllegalAddress",
        "synchronize: cudaErrorIllegalAddress",
        "then: cudaErrorIllegalAddress",
    ], done.stderr
    assert "leave: 4-byte write to p[268435456]" in done.stderr


@pytest.mark.turns(3)
def test_exit_leaves_llvm_to_its_threads(call: Call, tools: build.Tools, tmp_path: Path) -> None:
    libraries: list[str] = []
    for name in ("libother", "libllvmlite"):
        source, library = tmp_path / f"{name}.cpp", tmp_path / f"{name}.so"
        source.write_text(f'#include <cstdio>\nstruct S {{ ~S() {{ puts("{name} ends"); }} }} s;\n')
        compiler = tools.host.as_one_program(tmp_path)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        libraries.append(str(library))
    done = call("run", "loads.cpp", "-ldl", "--", *libraries)
    assert (done.returncode, done.stdout) == (0, "libother ends\n"), done.stderr


@pytest.mark.least("full")
def test_headers_of_libraries_are_there(call: Call) -> None:
    done = call("run", "headers.cu", *"-lcublas -lcufft -lcurand -lcusolver -lcusparse".split())
    assert done.stdout.splitlines() == [
        "blas CUBLAS_STATUS_SUCCESS 17",
        "fft 0 2",
        "rand 0 1",
        "solver 0 0.6364",
        "sparse 0 14",
    ], done.stderr


@pytest.mark.least("full")
def test_descriptors_of_cublaslt_are_there(call: Call) -> None:
    done = call("run", "product.cu", "-lcublasLt")
    assert done.stdout == "1 CUBLAS_STATUS_SUCCESS 11 0 8 0\n", done.stderr


def test_a_function_that_a_header_of_ours_lacks_is_said(call: Call, tmp_path: Path) -> None:
    (tmp_path / "calls.cpp").write_text("#include <cublas_v2.h>\nint main() { cublasSfoo(1); }\n")
    done = call("run", str(tmp_path / "calls.cpp"))
    assert done.returncode == 3
    assert "cublasSfoo is not in warpglass's own header; NVIDIA's comes with: pip install nvidia-cublas" in (
        done.stderr
    )


def test_no_compiler_is_said(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    done = call("run", "ends.cu")
    assert done.returncode == 2
    assert "a C++ compiler is needed" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"cache"}
