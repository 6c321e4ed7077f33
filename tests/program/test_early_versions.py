"""PTX of early versions, as ptxas takes it: multiply-adds without rounding, targets that flush."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import HEADER, kernel
from warpglass.errors import UnsupportedError

_MULTIPLY_ADD = "ld.global.f32 %f1, [%rd1]; mad{0}.f32 %f1, %f1, %f1, %f1; st.global.f32 [%rd1], %f1;"
_SUBNORMAL = np.float32(1e-40)


def _result(body: str, version: str, target: str, value: np.float32, engine: str) -> np.float32:
    text = kernel(f"ld.param.u64 %rd1, [x]; {body}", "u64 x")
    x = np.array([value], np.float32)
    run_ptx(text.replace(HEADER, f".version {version}\n.target {target}\n"), 1, 1, [x], engine=engine)
    return x[0]


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(("version", "target"), [("1.4", "sm_13"), ("3.1", "sm_30")])
def test_a_multiply_add_without_rounding_rounds_once(version: str, target: str, engine: str) -> None:
    value = np.float32(1 + 2**-23)
    exact = np.float32(np.float64(value) * np.float64(value) + np.float64(value))
    assert _result(_MULTIPLY_ADD.format(""), version, target, value, engine) == exact


def test_later_versions_refuse_it() -> None:
    with pytest.raises(UnsupportedError, match=r"mad\.f32 is not supported"):
        _result(_MULTIPLY_ADD.format(""), "3.2", "sm_30", np.float32(1), CPU_ENGINES[0])


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(("target", "expected"), [("sm_10", 0.0), ("sm_20", 2 * _SUBNORMAL)])
def test_first_targets_flush_subnormal_numbers(target: str, expected: float, engine: str) -> None:
    body = "ld.global.f32 %f1, [%rd1]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd1], %f1;"
    assert _result(body, "2.3", target, _SUBNORMAL, engine) == np.float32(expected)


def test_comparisons_of_the_first_targets_flush() -> None:
    body = (
        "ld.global.f32 %f1, [%rd1]; setp.gt.f32 %p1, %f1, 0f00000000; selp.f32 %f1, 0f3F800000, "
        "0f40000000, %p1; st.global.f32 [%rd1], %f1;"
    )
    assert _result(body, "2.3", "sm_13", _SUBNORMAL, CPU_ENGINES[0]) == 2
    assert _result(body, "2.3", "sm_20", _SUBNORMAL, CPU_ENGINES[0]) == 1
