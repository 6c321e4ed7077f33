"""redux.sync for full and partial warps, under a guard and in divergent code; fences beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.ptx_text import kernel

from .inputs import edges
from .oracles import wrap

BLOCK = 72
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_FORMS = [(f"{op}.{type_}", op, type_) for op in ("add", "min", "max") for type_ in ("u32", "s32")]
_FORMS += [(f"{op}.b32", op, "b32") for op in ("and", "or", "xor")]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("form", "operation", "type_"), _FORMS)
def test_redux(form: str, operation: str, type_: str, engine: str):
    text = kernel(
        f"""
        ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
        mov.u32 %r1, %tid.x; mad.wide.u32 %rd3, %r1, 4, %rd1; mad.wide.u32 %rd4, %r1, 4, %rd2;
        ld.global.u32 %r2, [%rd3];
        setp.ge.u32 %p1, %r1, 64; selp.b32 %r3, 0xFF, 0xFFFFFFFF, %p1;
        redux.sync.{form} %r4, %r2, %r3;
        st.global.u32 [%rd4], %r4; membar.cta; membar.gl; membar.sys; fence.sc.gpu; fence.acq_rel.cta;
        and.b32 %r5, %r1, 3; setp.eq.u32 %p2, %r5, 1; and.b32 %r3, %r3, 0x22222222; mov.u32 %r4, 9;
        @!%p2 bra OTHERS;
        redux.sync.{form} %r4, %r2, %r3;
OTHERS: st.global.u32 [%rd4+{4 * BLOCK}], %r4;
        @!%p1 redux.sync.{form} %r4, 5, -1;
        @!%p1 st.global.u32 [%rd4+{8 * BLOCK}], %r4;
        ret;
        """,
        "u64 in, u64 out",
    )
    values = np.random.default_rng(1).integers(0, 1 << 32, BLOCK, dtype=np.uint64).astype(np.uint32)
    values[: len(edges("u32"))] = edges("u32")
    output = np.zeros(3 * BLOCK, np.uint32)
    run_ptx(text, 1, BLOCK, [values, output], engine=engine)

    def combined(lanes: list[int]) -> int:
        return reduce(_OPERATIONS[operation], [wrap(type_, int(values[lane])) for lane in lanes]) & 0xFFFFFFFF

    for thread in range(BLOCK):
        warp = range(thread // 32 * 32, min(BLOCK, thread // 32 * 32 + 32))
        assert output[thread] == combined(list(warp))
        quarter = [lane for lane in warp if lane % 4 == 1]
        assert output[BLOCK + thread] == (combined(quarter) if thread % 4 == 1 else 9)
        fives = {"add": 160, "xor": 0}.get(operation, 5)
        assert output[2 * BLOCK + thread] == (fives if thread < 64 else 0)
