"""Atomics of a warp at once against the same, thread after thread: operations, spaces, forms of address."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from warpglass.engine.cpu.worker import Worker

THREADS = 52  # the last warp is partial
CHANGES: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda old, new: old + new,
    "and.b32": lambda old, new: old & new,
    "or.b32": lambda old, new: old | new,
    "xor.b32": lambda old, new: old ^ new,
    "min.s32": lambda old, new: min(old, new, key=_signed),
    "max.s32": lambda old, new: max(old, new, key=_signed),
    "min.u32": min,
    "max.u32": max,
    "exch.b32": lambda old, new: new,
    "inc.u32": lambda old, new: 0 if old >= new else old + 1,
    "dec.u32": lambda old, new: new if old == 0 or old > new else old - 1,
    "cas.b32": lambda old, new: new if old == START else old,
}
# One address, neighbouring ones, and three that the lanes share.
PLACES: dict[str, Callable[[int], int]] = {
    "0": lambda t: 0,
    "%t": lambda t: t,
    "%mod": lambda t: t % 3,
}
OPERANDS: dict[str, Callable[[int], int]] = {"%odd": lambda t: (t * 2654435761) % (1 << 32), "5": lambda t: 5}
CASES = list(product(CHANGES, ("global", "shared"), PLACES, OPERANDS))
CELLS = 64  # of each case
START = 0x80000F0F


def _signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def _acts(thread: int) -> bool:
    return thread % 5 != 2


def _text() -> str:
    lines = [
        ".version 8.0\n.target sm_90\n.address_size 64",
        f".shared .align 4 .b8 cells[{4 * CELLS * len(CASES)}];",
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) {",
        ".reg .pred %p; .reg .b32 %t, %odd, %mod, %old, %at, %i;",
        ".reg .b64 %global, %out, %x, %wide, %end, %kept;",
        "ld.param.u64 %global, [a]; ld.param.u64 %out, [b]; ld.param.u64 %end, [c];",
        "mov.u32 %t, %tid.x; mul.lo.u32 %odd, %t, 2654435761; rem.u32 %mod, %t, 3;",
        "mul.wide.u32 %wide, %t, 4; add.u64 %out, %out, %wide;",
        "mov.u32 %i, %t;",
        f"fill: mad.lo.u32 %at, %i, 4, cells; st.shared.u32 [%at], {START}; add.u32 %i, %i, {THREADS};",
        f"setp.lt.u32 %p, %i, {CELLS * len(CASES)}; @%p bra fill;",
        "bar.sync 0;",
        "rem.u32 %at, %t, 5; setp.ne.u32 %p, %at, 2;",
    ]
    for number, (change, space, place, operand) in enumerate(CASES):
        first = 4 * CELLS * number
        if space == "shared":
            lines.append(f"mov.u32 %at, {place}; mad.lo.u32 %at, %at, 4, cells; add.u32 %at, %at, {first};")
            where = "[%at]"
        else:
            lines.append(f"mov.u32 %at, {place}; mul.wide.u32 %x, %at, 4; add.u64 %x, %x, %global;")
            where = f"[%x+{first}]"
        given = f"{START}, {operand}" if change == "cas.b32" else operand
        lines.append(f"mov.u32 %old, 0; @%p atom.{space}.{change} %old, {where}, {given};")
        lines.append(f"st.global.u32 [%out+{4 * THREADS * number}], %old;")
    lines += [
        "bar.sync 0; mov.u32 %i, %t;",
        "copy: mad.lo.u32 %at, %i, 4, cells; ld.shared.u32 %old, [%at]; mul.wide.u32 %kept, %i, 4;",
        f"add.u64 %kept, %kept, %end; st.global.u32 [%kept], %old; add.u32 %i, %i, {THREADS};",
        f"setp.lt.u32 %p, %i, {CELLS * len(CASES)}; @%p bra copy; ret;",
        "}",
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_atomics_of_a_warp_are_those_of_its_lanes_in_order(
    engine: str, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_alone = Worker.set_alone
    monkeypatch.setattr(Worker, "set_alone", lambda worker, _: set_alone(worker, alone))
    shape = len(CASES), CELLS
    memory = {"global": np.full(shape, START, np.uint32), "shared": np.zeros(shape, np.uint32)}
    found = np.zeros((len(CASES), THREADS), np.uint32)
    run_ptx(_text(), 1, THREADS, (memory["global"], found, memory["shared"]), engine=engine)
    for number, (change, space, place, operand) in enumerate(CASES):
        cells, old = [START] * CELLS, [0] * THREADS
        for thread in filter(_acts, range(THREADS)):
            at = PLACES[place](thread)
            old[thread] = cells[at]
            cells[at] = CHANGES[change](cells[at], OPERANDS[operand](thread)) % (1 << 32)
        assert memory[space][number].tolist() == cells, CASES[number]
        assert found[number].tolist() == old, CASES[number]
