"""What nvJitLink is given besides PTX, on the virtual device. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
import importlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.numba_device.inside.driver_checks import RESULT, ask, context, driver, status_of  # noqa: F401
from warpglass import lab
from warpglass.numba_device.fatbin import fatbins
from warpglass.numba_device.hook import NVCC_FLAGS
from warpglass.source.cubin import ptxas_program

nvjitlink: Any = importlib.import_module("cuda.bindings.nvjitlink")
KERNEL = """
extern "C" __device__ int twice(int x);
extern "C" __global__ void fill(int *y) { y[threadIdx.x] = twice(threadIdx.x); }
"""
OTHERS = 'extern "C" __device__ int twice(int x) { return 2 * x; }'
PTX = ("-gencode", "arch=compute_80,code=compute_80")
SASS = ("-gencode", "arch=compute_90,code=sm_90")
BOTH = ("-gencode", "arch=compute_80,code=[compute_80,sm_90]")


def _nvcc(folder: Path, name: str, *options: str, text: str = OTHERS, lines: bool = False) -> bytes:
    """A file that nvcc makes of a text; with the `lines` that `warpglass run` asks nvcc for, or without."""
    ptxas = ptxas_program()
    nvcc = ptxas.with_name("nvcc") if ptxas else None
    if nvcc is None or not nvcc.exists() or shutil.which("g++") is None:
        pytest.skip("needs nvcc and a host compiler")
    (folder / "others.cu").write_text(text, encoding="utf-8")
    words = ("-rdc=true", str(folder / "others.cu")) if text else ()
    libraries = f"-L{nvcc.parents[1] / 'lib'}"
    command = [str(nvcc), libraries, *options, *words, "-o", str(folder / name)]
    flags = {} if lines else {NVCC_FLAGS: ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | flags)
    if done.returncode:
        pytest.skip(f"nvcc: {done.stderr}")
    return (folder / name).read_bytes()


def _linked(kind: str, data: bytes, *options: str) -> bytes:
    """The cubin of the kernel with an input of a kind."""
    ptx = lab.compile(KERNEL, "fill", options=("-rdc=true",)).compile().ptx.encode() + b"\0"
    handle = nvjitlink.create(1 + len(options), ["-arch=sm_90", *options])
    nvjitlink.add_data(handle, nvjitlink.InputType.PTX, ptx, len(ptx), "kernel")
    nvjitlink.add_data(handle, getattr(nvjitlink.InputType, kind), data, len(data), "others")
    nvjitlink.complete(handle)
    cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
    nvjitlink.get_linked_cubin(handle, cubin)
    nvjitlink.destroy(handle)
    return bytes(cubin)


def _run(module: Any, name: bytes = b"fill") -> list[int]:
    place, back = ask(driver.cuMemAlloc, 32 * 4), np.zeros(32, np.int32)
    kernel = ask(driver.cuModuleGetFunction, module, name)
    values = ((int(place),), (ctypes.c_uint64,))
    ask(driver.cuLaunchKernel, kernel, 1, 1, 1, 32, 1, 1, 0, 0, values, 0)
    ask(driver.cuMemcpyDtoH, back.ctypes.data, place, back.nbytes)
    return back.tolist()


@pytest.mark.parametrize(
    ("kind", "name", "options"),
    [
        ("FATBIN", "ptx.fatbin", ("-fatbin", *PTX)),
        ("FATBIN", "both.fatbin", ("-fatbin", *BOTH)),
        ("FATBIN", "plain.fatbin", ("-fatbin", "-compress-mode=none", *PTX)),
        ("FATBIN", "lz4.fatbin", ("-fatbin", "-compress-mode=speed", *PTX)),
        ("OBJECT", "object.o", ("-c", *PTX)),
        ("LIBRARY", "library.a", ("-lib", *BOTH)),
        ("ANY", "any.fatbin", ("-fatbin", *PTX)),
        ("ANY", "any.o", ("-c", *BOTH)),
        ("ANY", "any.a", ("-lib", *PTX)),
    ],
)
def test_ptx_is_found(kind: str, name: str, options: tuple[str, ...], tmp_path: Path) -> None:
    data = _nvcc(tmp_path, name, *options)
    module = ask(driver.cuModuleLoadData, _linked(kind, data))
    assert _run(module) == list(range(0, 64, 2))


@pytest.mark.parametrize(
    ("kind", "name", "options"),
    [
        ("FATBIN", "sass.fatbin", ("-fatbin", *SASS)),
        ("OBJECT", "s.o", ("-c", *SASS)),
        ("LIBRARY", "s.a", ("-lib", *SASS)),
    ],
)
def test_machine_code_alone_is_told(
    kind: str, name: str, options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cubin = _linked(kind, _nvcc(tmp_path, name, *options))
    assert f"the {kind.lower()} others holds machine code, and warpglass runs PTX" in capsys.readouterr().err
    assert status_of(driver.cuModuleLoadData, cubin) == RESULT.CUDA_ERROR_NO_BINARY_FOR_GPU


@pytest.mark.parametrize("debug", [(), ("-g",), ("-lineinfo",)])
def test_optimised_code_is_linked(debug: tuple[str, ...], tmp_path: Path) -> None:
    data = _nvcc(tmp_path, "lto.fatbin", "-fatbin", "-gencode", "arch=compute_90,code=lto_90")
    module = ask(driver.cuModuleLoadData, _linked("FATBIN", data, "-lto", *debug))
    assert _run(module) == list(range(0, 64, 2))


def test_a_fatbin_is_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = ask(driver.cuModuleLoadData, _nvcc(tmp_path, "ptx.fatbin", "-fatbin", *PTX))
    ask(driver.cuModuleUnload, module)
    sass = _nvcc(tmp_path, "sass.fatbin", "-fatbin", *SASS)
    assert status_of(driver.cuModuleLoadData, sass) == RESULT.CUDA_ERROR_NO_BINARY_FOR_GPU
    assert "the fatbin holds machine code" in capsys.readouterr().err


def test_damaged_fatbins_are_no_traceback(tmp_path: Path) -> None:
    data = _nvcc(tmp_path, "ptx.fatbin", "-fatbin", "-compress-mode=speed", *PTX)
    assert fatbins(data)[0].ptx(80)
    for cut in (17, 40, 100, len(data) - 20):
        assert status_of(driver.cuModuleLoadData, data[:4] + data[4:cut] + bytes(1000)) in (
            RESULT.CUDA_ERROR_INVALID_IMAGE,
            RESULT.CUDA_ERROR_NO_BINARY_FOR_GPU,
            RESULT.CUDA_ERROR_INVALID_PTX,
        )


def test_a_cubin_with_line_numbers_is_loaded_by_its_ptx(tmp_path: Path) -> None:
    data = _nvcc(tmp_path, "lines.cubin", "-cubin", "-arch=sm_90", text=f"{OTHERS}\n{KERNEL}", lines=True)
    assert _run(ask(driver.cuModuleLoadData, data)) == list(range(0, 64, 2))
    damaged = data[:0x28] + bytes(8) + data[0x30:]
    assert status_of(driver.cuModuleLoadData, damaged) == RESULT.CUDA_ERROR_NO_BINARY_FOR_GPU


def test_a_linked_cubin_whose_kernels_launch_kernels_is_loaded_by_its_ptx(tmp_path: Path) -> None:
    text = """
    extern "C" __global__ void one(int *y) { y[threadIdx.x] += threadIdx.x; }
    extern "C" __global__ void fill(int *y) { y[threadIdx.x] = 0; if (threadIdx.x == 0) one<<<1, 32>>>(y); }
    """
    _nvcc(tmp_path, "parts.o", "-dc", "-arch=sm_90", text=text, lines=True)
    words = ("-cubin", "-dlink", "-arch=sm_90", str(tmp_path / "parts.o"), "-lcudadevrt")
    assert _run(ask(driver.cuModuleLoadData, _nvcc(tmp_path, "all.cubin", *words, text=""))) == list(
        range(32)
    )
