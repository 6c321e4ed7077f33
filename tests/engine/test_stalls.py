"""Launches of programs that wait in vain: they are told, and ended where a GPU would wait for ever."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from tests.ptx_text import kernel
from warpglass.engine.cpu import stalls
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.errors import KernelTimeout
from warpglass.source.compiled import Compiled

# Waits until the word at %rd1 is no longer 0, counting rounds or not.
_WAIT = "ld.param.u64 %rd1, [x]; {0} again: {1} ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;"
_WAITS = f"{_WAIT.format('', '')} @%p1 bra again;"
_COUNTS = (
    f"{_WAIT.format('mov.u32 %r2, 0;', 'add.u32 %r2, %r2, 1;')} @%p1 bra again; st.global.u32 [%rd1], %r2;"
)


def _launch(body: str, blocks: int, x: np.ndarray) -> Launch:
    compiled = Compiled(kernel(body, "u64 x"), "k", "k", "ptx")
    return Launch(compiled, (blocks, 1, 1), (32, 1, 1), (x,), timeout=math.inf)


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let looks come often."""
    monkeypatch.setattr(stalls, "EVERY", 0.02)


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_kernel_that_waits_in_vain_is_told_and_ended(
    blocks: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(KernelTimeout, match=r"k waited for 0\.24 s for what no work .* block \(\d, 0, 0\)"):
        CpuBackend().run(_launch(_WAITS, blocks, np.zeros(1, np.uint32)))
    assert "k has waited in this loop for 0.04 s, and no work under way" in capsys.readouterr().err


def test_what_the_program_does_in_time_ends_it() -> None:
    x = np.zeros(1, np.uint32)
    timer = threading.Timer(0.12, x.fill, (1,))
    timer.start()
    CpuBackend().run(_launch(_WAITS, 2, x))


def test_a_kernel_that_counts_makes_way() -> None:
    x = np.zeros(1, np.uint32)
    threading.Timer(0.5, x.fill, (1,)).start()
    CpuBackend().run(_launch(_COUNTS, 1, x))
    assert x[0] > 1
