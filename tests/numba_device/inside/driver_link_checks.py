"""The driver's own linker, through cuda.bindings. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
import importlib
from pathlib import Path
from typing import Any

import pytest

driver: Any = importlib.import_module("cuda.bindings.driver")
RESULT = driver.CUresult
_HEAD = b".version 8.0\n.target sm_80\n.address_size 64\n"
_CALLER = _HEAD + (
    b".extern .func (.param .b32 r) twice (.param .b32 x);\n"
    b".visible .entry kernel(.param .u64 data) {\n"
    b".reg .b32 %r<3>; .reg .b64 %d;\n"
    b"ld.param.u64 %d, [data]; ld.global.u32 %r1, [%d];\n"
    b"{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 b; call (b), twice, (a); ld.param.b32 %r2, [b]; }\n"
    b"st.global.u32 [%d], %r2; ret; }\n\0"
)
_CALLED = _HEAD + (
    b".visible .func (.param .b32 r) twice (.param .b32 x) {\n"
    b".reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }\n"
)


def ask(function: Any, *arguments: Any) -> Any:
    status, *results = function(*arguments)
    assert status == RESULT.CUDA_SUCCESS, (function.__name__, status)
    return results[0] if len(results) == 1 else results


@pytest.fixture(autouse=True)
def context() -> None:
    ask(driver.cuInit, 0)
    ask(driver.cuCtxPushCurrent, ask(driver.cuDevicePrimaryCtxRetain, 0))


def test_ptx_of_memory_and_of_a_file_is_linked(tmp_path: Path) -> None:
    (tmp_path / "called.ptx").write_bytes(_CALLED)
    state = ask(driver.cuLinkCreate, 0, [], [])
    ptx = driver.CUjitInputType.CU_JIT_INPUT_PTX
    ask(driver.cuLinkAddData, state, ptx, _CALLER, len(_CALLER), b"caller", 0, [], [])
    ask(driver.cuLinkAddFile, state, ptx, str(tmp_path / "called.ptx").encode(), 0, [], [])
    found, size = ask(driver.cuLinkComplete, state)
    module = ask(driver.cuModuleLoadData, ctypes.string_at(int(found), size))
    ask(driver.cuLinkDestroy, state)
    kernel = ask(driver.cuModuleGetFunction, module, b"kernel")
    place = ask(driver.cuMemAlloc, 4)
    ask(driver.cuMemsetD32, place, 21, 1)
    ask(driver.cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, 0, ((int(place),), (ctypes.c_uint64,)), 0)
    answer = ctypes.c_uint32()
    ask(driver.cuMemcpyDtoH, ctypes.addressof(answer), place, 4)
    assert answer.value == 42


def test_what_cannot_be_linked_is_refused(tmp_path: Path) -> None:
    state = ask(driver.cuLinkCreate, 0, [], [])
    ptx = driver.CUjitInputType.CU_JIT_INPUT_PTX
    missing = str(tmp_path / "none.ptx").encode()
    assert driver.cuLinkAddFile(state, ptx, missing, 0, [], [])[0] == RESULT.CUDA_ERROR_FILE_NOT_FOUND
    assert driver.cuLinkComplete(state)[0] == RESULT.CUDA_ERROR_INVALID_VALUE
    ask(driver.cuLinkDestroy, state)


def test_a_log_says_why_ptx_is_refused() -> None:
    cuda = ctypes.CDLL("libcuda.so.1")
    errors, module = ctypes.create_string_buffer(b"?" * 200, 200), ctypes.c_void_p()
    options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
    wrong = _HEAD + b".entry kernel() { bogus.u32 %r; }"
    for image, right, text in ((wrong, RESULT.CUDA_ERROR_INVALID_PTX, "bogus"), (_CALLED, 0, "")):
        values = (ctypes.c_uint64 * 2)(ctypes.addressof(errors), len(errors))
        assert cuda.cuModuleLoadDataEx(ctypes.byref(module), image, 2, options, values) == right
        said = errors.value.decode()
        assert text in said if text else not said
        assert values[1] == (len(errors.value) + 1 if said else 0)
