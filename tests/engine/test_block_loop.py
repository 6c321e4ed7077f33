"""What every block starts with: its indices, and shared memory that is empty."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx

# Each block notes its index, and all bits that it finds in shared memory, which it then fills.
PTX = """
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 memory[];
.visible .entry k(.param .u64 indices, .param .u64 found, .param .u32 words)
{
  .reg .pred %p<4>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [indices];
  ld.param.u64 %rd2, [found];
  ld.param.u32 %r1, [words];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ctaid.y;
  mov.u32 %r4, %ctaid.z;
  mov.u32 %r5, %nctaid.x;
  mov.u32 %r6, %nctaid.y;
  mad.lo.u32 %r7, %r4, %r6, %r3;
  mad.lo.u32 %r7, %r7, %r5, %r2;
  mul.wide.u32 %rd3, %r7, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  mad.lo.u32 %r8, %r3, 1000, %r2;
  mad.lo.u32 %r8, %r4, 1000000, %r8;
  mov.u32 %r9, %tid.x;
  mov.u32 %r10, 0;
  mov.u32 %r11, %r9;
  mov.u32 %r12, memory;
more:
  setp.ge.u32 %p1, %r11, %r1;
  @%p1 bra done;
  mad.lo.u32 %r13, %r11, 4, %r12;
  ld.shared.u32 %r14, [%r13];
  or.b32 %r10, %r10, %r14;
  st.shared.u32 [%r13], -1;
  add.u32 %r11, %r11, 32;
  bra more;
done:
  red.global.or.b32 [%rd2], %r10;
  setp.eq.u32 %p2, %r9, 0;
  @%p2 st.global.u32 [%rd1], %r8;
  ret;
}
"""


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("tier", ["quick", "optimised"])
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_start_with_their_indices_and_empty_shared_memory(
    engine: str, tier: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGLASS_TIER", tier)
    monkeypatch.setenv("WARPGLASS_THREADS", str(threads))
    for grid, size in [
        ((3, 5, 7), 4),
        ((1, 131, 1), 0),
        ((2, 1, 67), 4096),
        ((131, 1, 1), 4100),
        ((5, 13, 2), 20000),
    ]:
        x, y, z = grid
        indices, found = np.full(x * y * z, -1, np.int32), np.zeros(x * y * z, np.int32)
        run_ptx(PTX, grid, 32, (indices, found, np.uint32(size // 4)), engine=engine, shared=size)
        expected = np.arange(x) + 1000 * np.arange(y)[:, None] + 1000000 * np.arange(z)[:, None, None]
        assert (indices == expected.ravel()).all(), (grid, size)
        assert not found.any(), (grid, size)
