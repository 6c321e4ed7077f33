"""Small CUDA programs, compiled by nvcc to shared objects, on the runtime of the virtual GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cuda_runtime import reference
from warpglass.source import nvcc

HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
]

Build = Callable[..., Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compile a program of this folder with more flags of nvcc's; returns its shared object."""
    found = nvcc.find()
    if found is None:
        pytest.skip("needs nvcc's wheel and a host compiler")
    compiler, host = found
    folder = tmp_path_factory.mktemp("programs")
    library = compiler.parents[1] / "lib"

    def built(name: str, *flags: str) -> Path:
        made = folder / f"{name}.so"
        command = [str(compiler), "-ccbin", host, "-arch=compute_90", "-code=compute_90", "-lineinfo"]
        command += ["-std=c++17", "-cudart", "none", "-shared", "-Xcompiler", "-fPIC", "-Xcompiler", "-O0"]
        command += [*flags, str(HERE / "programs" / f"{name}.cu"), "-o", str(made)]
        command += [f"-L{library}", "-l:libcudart.so.13"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return made

    return built


def run(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "child.py"), str(program), *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ)
    )


def test_a_program_launches_kernels_and_reads_its_variables(build: Build) -> None:
    done = run(build("basics"), "a", "b")
    assert done.returncode == 7, done.stdout + done.stderr
    assert done.stdout == "of 1000\nof 32\nof 32\n"


@pytest.mark.parametrize("name", ["calls", "graphs", "kernels", "threads"])
def test_a_program_finds_all_as_it_should(build: Build, name: str) -> None:
    done = run(build(name), "misuse")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == ""
    told = "cudaLogsCurrent is not supported: it returns cudaErrorNotSupported"
    assert done.stderr.count(told) == (name == "calls")


def test_the_page_of_functions_is_what_there_is() -> None:
    assert reference.PAGE.read_text("utf-8") == reference.page(), "python -m tests.cuda_runtime.reference"


def test_checks_of_single_functions_pass() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(HERE / "runtime_checks.py"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_textures_surfaces_and_arrays(build: Build) -> None:
    done = run(build("textures", "-Xcompiler", "-Wno-deprecated-declarations"))
    assert done.returncode == 0, done.stdout + done.stderr
