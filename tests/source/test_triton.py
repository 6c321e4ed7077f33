"""Kernels of Triton: their metadata, their launches, and what its PTX has that other compilers' has not."""

from __future__ import annotations

import json
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass.source.cubin import resources

# As Triton writes it: a version ahead of ours, vectors of one register, scratch pointers behind the
# parameters, and shared memory that the launch gives.
PTX = """
.version 9.4
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 global_smem[];
.visible .entry twice(
    .param .u64 .ptr .global .align 1 twice_param_0,
    .param .u64 .ptr .global .align 1 twice_param_1,
    .param .u32 twice_param_2,
    .param .u64 .ptr .global .align 1 twice_param_3,
    .param .u64 .ptr .global .align 1 twice_param_4
)
.reqntid 64
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.b64 %rd1, [twice_param_0];
    ld.param.b64 %rd2, [twice_param_1];
    ld.param.b32 %r1, [twice_param_2];
    ld.param.b64 %rd5, [twice_param_3];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r2, %r2, 64, %r3;
    setp.lt.s32 %p1, %r2, %r1;
    mad.wide.s32 %rd3, %r2, 4, %rd1;
    mad.wide.s32 %rd4, %r2, 4, %rd2;
    mov.u32 %r4, 0x0;
    @%p1 ld.global.b32 { %r4 }, [ %rd3 + 0 ];
    add.f32 %r5, %r4, %r4;
    setp.eq.s32 %p2, %r3, 0;
    mov.b32 %r6, global_smem;
    @%p2 st.shared.b32 [ %r6 ], %r5;
    @%p1 st.global.b32 [ %rd4 + 0 ], { %r5 };
    mad.wide.s32 %rd6, %r2, 4, %rd5;
    st.global.b32 [ %rd6 ], %r5;
    ret;
}
"""
METADATA = {
    "name": "twice",
    "num_warps": 2,
    "num_ctas": 1,
    "shared": 16,
    "global_scratch_size": 256,
    "profile_scratch_size": 0,
}


def compiled(**changes: Any) -> Any:
    """What triton.compile returns, as far as it is looked at."""
    fields = {**METADATA, **changes}
    source = SimpleNamespace(signature={"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"})
    metadata = namedtuple("KernelMetadata", fields)(**fields)
    return SimpleNamespace(asm={"ptx": PTX, "cubin": b""}, metadata=metadata, src=source)


@pytest.fixture
def cached(tmp_path: Path) -> Path:
    """A kernel as it lies in Triton's cache."""
    (tmp_path / "twice.ptx").write_text(PTX)
    (tmp_path / "twice.json").write_text(json.dumps({**METADATA, "target": {"arch": 90}}))
    return tmp_path / "twice.ptx"


def arrays(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n, dtype="f4"), np.zeros(n, "f4")


def test_a_compiled_kernel_is_launched_by_its_grid_alone() -> None:
    x, y = arrays()
    kernel = wg.load(compiled())
    kernel[4](x, y, len(x))
    np.testing.assert_array_equal(y, 2 * x)
    assert wg.check(kernel, 4, None, (x, wg.out(y), len(x))).findings == ()


def test_a_file_of_its_cache_brings_its_metadata(cached: Path) -> None:
    x, y = arrays()
    kernel = wg.load(cached)
    kernel[(4, 1)](x, y, len(x))
    wg.run(kernel, 4, None, (x, y, len(x)), device="cpu")
    np.testing.assert_array_equal(y, 2 * x)
    assert wg.profile(kernel, 4, None, (x, y, np.int32(len(x)))).metrics["gst_transactions"]


def test_plain_ptx_has_no_demands(cached: Path) -> None:
    cached.with_suffix(".json").write_text('{"name": "something else"}')
    assert wg.load(cached).demands is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"num_warps": 2, "name": "twice"}', r"twice.json: .*shared = None; a number"),
        ('{"num_warps": "2", "shared": 0}', r"twice.json: .*num_warps = '2'"),
        ('{"num_warps": 2', r"twice.json: Triton's metadata beside twice.ptx cannot be read"),
    ],
)
def test_broken_metadata_is_named(cached: Path, content: str, message: str) -> None:
    cached.with_suffix(".json").write_text(content)
    with pytest.raises(wg.CompileError, match=message):
        wg.load(cached)


def test_arguments_are_those_of_its_source() -> None:
    x, y = arrays()
    kernel = wg.load(compiled())
    with pytest.raises(wg.ArgumentError, match=r"argument 1 of \d \(x\) got an array of float64"):
        kernel[4](x.astype("f8"), y, len(x))
    with pytest.raises(
        wg.ArgumentError, match=r"takes 3 arguments \(float \*x, float \*y, int32_t n\), got 2"
    ):
        kernel[4](x, y)
    with pytest.raises(wg.ArgumentError, match="its compiler has fixed 64 threads; pass None"):
        wg.run(kernel, 4, 32, (x, y, len(x)))


def test_what_is_no_file_is_refused() -> None:
    with pytest.raises(wg.CompileError, match="3 is no file; load takes the path"):
        wg.load(3)


def test_ptx_ahead_of_the_assembler_is_assembled() -> None:
    found = resources(wg.load(compiled()).compile(), "sm_90")
    assert (found.target, found.registers > 0) == ("sm_90", True)
