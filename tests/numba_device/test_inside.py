"""Programs that find the virtual GPU, each in a process of its own: no process can go back from it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

INSIDE = Path(__file__).parent / "inside"
pytestmark = [
    pytest.mark.turns(3),
    pytest.mark.turns(2),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
]


def _run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warpglass", "run", *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **environment}
    )


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("driver_checks.py", "cuda.bindings"),
        ("launch_checks.py", "cuda.bindings"),
        ("undefined_checks.py", "cuda.bindings"),
        ("virtual_memory_checks.py", "cuda.bindings"),
        ("driver_link_checks.py", "cuda.bindings"),
        ("link_checks.py", "cuda.bindings"),
        ("core_checks.py", "cuda.core"),
        ("numba_checks.py", "numba_cuda_mlir"),
        ("numba_checks.py", "numba_cuda"),
    ],
)
def test_checks_inside_pass(file: str, package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    options = ("-q", "-p", "no:cacheprovider", "--no-header")
    done = _run("-m", "pytest", *options, str(INSIDE / file), WARPGLASS_CHECKED=package)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.least("full")
def test_a_package_that_was_written_for_gpus() -> None:
    pytest.importorskip("stumpy")
    pytest.importorskip("numba_cuda")
    done = _run(str(Path(__file__).parents[2] / "examples" / "stumpy" / "matrix_profile.py"))
    assert "starts at 50 and 300" in done.stdout, done.stderr


def test_a_program_and_those_that_it_starts_find_one_gpu(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import subprocess, sys\n"
        "from cuda.bindings import driver\n"
        "assert driver.cuInit(0)[0] == 0\n"
        "name = driver.cuDeviceGetName(20, 0)[1].rstrip(b'\\0')\n"
        "print(sys.argv[1:], driver.cuDeviceGetCount()[1], name, flush=True)\n"
        "if len(sys.argv) == 2: sys.exit(subprocess.call([sys.executable, __file__]))\n"
        "sys.exit(7)\n",
        encoding="utf-8",
    )
    done = _run("--model", "a100", str(program), "--grid")
    assert done.stdout.splitlines() == ["['--grid'] 1 b'NVIDIA A100-SXM4-40'", "[] 1 b'NVIDIA A100-SXM4-40'"]
    assert done.returncode == 7


def test_the_simulators_variable_is_explained(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os; print(os.environ.get('NUMBA_ENABLE_CUDASIM'))\n", encoding="utf-8")
    done = _run(str(program), NUMBA_ENABLE_CUDASIM="1")
    assert done.stdout == "None\n"
    assert "takes the simulator's place" in done.stderr


def test_a_version_that_is_not_known_is_refused(tmp_path: Path) -> None:
    version = "0.7.0"
    folder = tmp_path / f"numba_cuda_mlir-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: numba_cuda_mlir\nVersion: {version}\n")
    program = tmp_path / "program.py"
    program.write_text(
        "try: import numba_cuda_mlir\nexcept ImportError as refusal: print(refusal)\n", encoding="utf-8"
    )
    done = _run(str(program))
    assert done.stdout.startswith(f"warpglass knows numba-cuda-mlir 0.5 to 0.6, and this is {version}: pip")
    assert _run(str(program), WARPGLASS_ANY_VERSION="1").stdout == ""


def test_a_driver_in_use_is_not_replaced() -> None:
    program = (
        "import ctypes\n"
        "from warpglass.numba_device.shared_library import SharedLibrary\n"
        "keep = SharedLibrary('libcuda.so.1', {'cuInit': ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)}, 0)\n"
        "import warpglass.numba_device as device\n"
        "try: device.activate()\n"
        "except ValueError as problem: print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "in use in this process already" in done.stdout, done.stderr


@pytest.mark.parametrize("package", ["numba", "numba_cuda_mlir"])
def test_what_has_found_no_gpu_is_not_switched_on_late(package: str) -> None:
    program = (
        f"from {package} import cuda\n"
        "import warpglass.numba_device as device\n"
        "try: device.activate()\n"
        "except ValueError as problem: print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    name = "numba.cuda" if package == "numba" else package
    if package == "numba" and importlib.util.find_spec("numba_cuda"):
        name = "numba_cuda"
    assert f"{name} was imported before the virtual device was switched on" in done.stdout, done.stderr


@pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is not None, reason="numba-cuda is installed")
def test_what_numba_cuda_needs_is_one_sentence(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("from numba import cuda\ncuda.to_device([1])\n", encoding="utf-8")
    done = _run(str(program))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'warpglass[numba-cuda]'" in done.stderr
    late = (
        "from warpglass.numba_device import activate\nactivate()\n"
        "try: from numba import cuda\nexcept ImportError as problem: print(problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", late], capture_output=True, text=True, check=False)
    assert "pip install 'warpglass[numba-cuda]'" in done.stdout, done.stderr


def test_numbas_advice_about_idle_multiprocessors_is_off(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from numba_cuda_mlir import cuda\n"
        "import numpy as np\n"
        "k = cuda.jit(lambda x: None)\n"
        "k[1, 32](cuda.to_device(np.zeros(3)))\n",
        encoding="utf-8",
    )
    done = _run(str(program))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "no_such_module"), "no module no_such_module"),
        (("--model", "gtx9999", "program.py"), "gtx9999"),
        ((), "give FILE:KERNEL"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(words: tuple[str, ...], message: str) -> None:
    done = _run(*words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("value", "status"), [("", 100), ("-1", 100), ("0", 0), ("3,4", 0)])
def test_a_program_hides_the_gpu_as_it_hides_others(value: str, status: int, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import ctypes\nfrom warpglass.numba_device import activate\nactivate()\n"
        "print(ctypes.CDLL('libcuda.so.1').cuInit(0))\n"
    )
    assert _run(str(program), CUDA_VISIBLE_DEVICES=value).stdout == f"{status}\n"
