"""What becomes of loaded values, found from a kernel's code."""

from __future__ import annotations

from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.observe.detectors.value_uses import uses_of_loads
from warpglass.program import build_program

BODY = """
    ld.param.u64 %rd1, [x];
    selp.b64 %rd2, %rd1, 0, %p1;
    ld.global.u32 %r1, [%rd2];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd2], %r2;
    ret;
"""


def test_parameters_are_not_loaded_from_memory() -> None:
    program = build_program(ptx.parse(kernel(BODY, "u64 x"), "test"), "k")
    steps = [step for block in program.blocks for step in block.steps]
    (load,) = (step for step in steps if step.match.row.access == "load")
    uses = uses_of_loads(program)
    assert uses.carried == frozenset()
    assert uses.masks == {load.number: 1}
