"""Libraries with a runtime of their own within them, loaded into a Python process: led to ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from warpglass.source import nvcc

pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
]
SOURCE = """
__device__ int base = 40;
__global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = base + i;
}
extern "C" int last_of(int n) {
    int *x, found = -1;
    if (cudaMalloc(&x, n * sizeof(int))) return -2;
    fill<<<(n + 31) / 32, 32>>>(x, n);
    if (cudaMemcpy(&found, x + n - 1, sizeof(int), cudaMemcpyDeviceToHost)) return -3;
    cudaFree(x);
    return found;
}
"""
CHILD = """
import ctypes, sys
from pathlib import Path
from warpglass.cuda_runtime import activate
from warpglass.cuda_runtime.static_runtime import lead
activate()
library = ctypes.CDLL(sys.argv[1])
print(lead(Path(sys.argv[1])), lead(Path(sys.argv[1])), library.last_of(100))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = nvcc.find()
    if found is None:
        pytest.skip("needs nvcc's wheel and a host compiler")
    compiler, host = found
    folder = tmp_path_factory.mktemp("static")
    (folder / "source.cu").write_text(SOURCE)
    made = folder / "library.so"
    command = [
        str(compiler),
        "-ccbin",
        host,
        "-arch=compute_90",
        "-code=compute_90",
        "-shared",
        "-Xcompiler",
        "-fPIC",
    ]
    command += [
        "-cudart",
        "static",
        f"-L{compiler.parents[1] / 'lib'}",
        str(folder / "source.cu"),
        "-o",
        str(made),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def run(library: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHILD, str(library)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_its_kernels_run_on_the_virtual_gpu(library: Path) -> None:
    done = run(library)
    assert (done.returncode, done.stdout) == (0, "True False 139\n"), done.stdout + done.stderr


def test_without_symbols_a_sentence_says_so(library: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.so"
    try:
        subprocess.run(["strip", "-o", str(stripped), str(library)], check=True)
    except FileNotFoundError:
        pytest.skip("needs strip")
    assert "carries a CUDA runtime without symbols" in run(stripped).stderr


def test_what_a_script_loads_by_ctypes_is_led(library: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import ctypes\nprint(ctypes.CDLL({str(library)!r}).last_of(100))\n")
    command = [sys.executable, "-m", "warpglass", "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "139\n", done.stderr
