"""What a new process costs and loads: nothing heavy for a known kernel, never the driver."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import warpglass.source

pytestmark = pytest.mark.turns(2)

PROGRAM = """
import json, sys, time
import numpy as np
start = time.process_time()
from warpglass.source import from_numba, load
sources = []
if {cuda!r}:
    sources.append(load({cuda!r}, "scale<3>").compile(()))
if {python!r}:
    sources.append(load({python!r}, "kernel").compile((np.zeros(3), 4)))
seconds = time.process_time() - start
maps = open("/proc/self/maps").read() if sys.platform == "linux" else ""
print(json.dumps(dict(
    seconds=seconds,
    ptx=[source.ptx for source in sources],
    heavy=[n for n in ("numba_cuda_mlir", "numba", "cuda.bindings", "llvmlite") if n in sys.modules],
    driver="libcuda.so" in maps,
)))
"""
CUDA = "template <int N> __global__ void scale(int* x) { x[0] *= N; }\n"
PYTHON = """
def helper(a):
    return a + OFFSET

OFFSET = 3

def kernel(x, n):
    # a comment
    i = cuda.grid(1)
    if i < n:
        x[i] = helper(x[i])
"""


def run(tmp_path: Path, *, cuda: str = "", python: str = "") -> dict[str, Any]:
    files = {"cuda": "", "python": ""}
    for language, name, text in (("cuda", "k.cu", cuda), ("python", "k.py", python)):
        if text:
            (tmp_path / name).write_text(text)
            files[language] = str(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(**files)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_known_kernel_imports_no_compiler(tmp_path: Path) -> None:
    first = run(tmp_path, cuda=CUDA, python=PYTHON)
    assert first["heavy"]
    assert not first["driver"]
    second = run(tmp_path, cuda=CUDA, python=PYTHON)
    assert second["heavy"] == []
    assert second["seconds"] < 0.3
    assert [text.split() for text in second["ptx"]] == [text.split() for text in first["ptx"]]


COMMAND = """
import atexit, sys
atexit.register(lambda: print([n for n in ("numba", "scipy") if n in sys.modules], file=sys.stderr))
from warpglass.cli import main
main()
"""


@pytest.mark.parametrize("command", ["run", "check", "profile"])
def test_commands_on_cuda_kernels_import_no_numba(tmp_path: Path, own_cache: Path, command: str) -> None:
    kernel = tmp_path / "k.cu"
    kernel.write_text(CUDA)
    words = [command, f"{kernel}:scale<3>", "--grid", "1", "--block", "1", "--arg", "i4[1]"]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.fixture(scope="module")
def cache_that_knows_it(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache in which the Python kernel is, from a file somewhere else."""
    folder = tmp_path_factory.mktemp("known")
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPGLASS_CACHE", str(folder))
        patch.setenv("PYTHONPATH", str(Path(warpglass.source.__file__).parents[2]))
        run(tmp_path_factory.mktemp("elsewhere"), python=PYTHON)
    return folder


@pytest.mark.sampled(quick=7, ci=4)
@pytest.mark.parametrize(
    ("changed", "known"),
    [
        (PYTHON.replace("    # a comment", "    # another"), True),
        ("# a new first line\n\n" + PYTHON, True),
        (PYTHON.replace("if i < n", "if i <= n"), False),
        (PYTHON.replace("OFFSET = 3", "OFFSET = 4"), False),
        (PYTHON.replace("a + OFFSET", "a - OFFSET"), False),
        (PYTHON.replace("OFFSET = 3", "OFFSET = 3.0"), False),
        (PYTHON.replace("    # a comment\n", ""), False),  # lines of the kernel move against each other
    ],
)
def test_what_makes_a_python_kernel_another_one(
    tmp_path: Path, own_cache: Path, cache_that_knows_it: Path, changed: str, known: bool
) -> None:
    shutil.copytree(cache_that_knows_it, own_cache, dirs_exist_ok=True)
    again = run(tmp_path, python=changed)
    assert (again["heavy"] == []) is known
    line = changed.splitlines().index("        x[i] = helper(x[i])") + 1
    (text,) = again["ptx"]
    assert re.search(rf"\.loc\s+\d+ {line} ", text)


@pytest.mark.parametrize("language", ["cuda", "python"])
def test_two_processes_at_once(tmp_path: Path, language: str) -> None:
    text = {"cuda": CUDA, "python": PYTHON}[language]
    name = {"cuda": "k.cu", "python": "k.py"}[language]
    (tmp_path / name).write_text(text)
    files = {"cuda": "", "python": "", language: str(tmp_path / name)}
    command = [sys.executable, "-c", PROGRAM.format(**files)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    results = [json.loads(process.communicate(timeout=120)[0]) for process in both]
    assert results[0]["ptx"] == results[1]["ptx"]


def test_a_relative_folder_on_the_path_misleads_no_compiler(tmp_path: Path) -> None:
    # Compilers work in a process of their own, in another folder, where a relative name means something else.
    program = (
        "import sys; sys.path.insert(0, '.'); import warpglass as wg; "
        "print(wg.compile('extern \"C\" __global__ void k(int* x) { x[0] = 1; }').compile(()).name)"
    )
    environment = {**os.environ, "WARPGLASS_CACHE": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == "k", done.stderr
