"""What the engine refuses: accesses out of bounds, misaligned, to what may only be read; wrong calls of free.

The kernel goes on without them, so that all places with such accesses are found, and races behind them. A
thread that has been refused a value goes on with zero: what it does then shows no races (recorder.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...codegen import Emission
from ...codegen.context import NOWHERE, SLOT
from ...codegen.memory.sites import Site
from ...engine.cpu.faults import Scene, explain_access, explain_call
from ...engine.launch.backend import unflatten
from ...errors import KernelFault
from . import layout
from .detector import Detector, Watched
from .intrinsics import load, store
from .native import exported
from .recorder import code_of, record, set_word, stamp_of, word

_OUT_OF_BOUNDS = code_of("out-of-bounds")
# So many lanes are let go on; a loop that leaves its array for good ends, too.
_MOST = 1 << 20
_WARPS_KNOWN = 1 << 20  # of a launch, up to which is known who was refused something


@exported
def refuse(S, warp, lanes, place, site, addresses):
    """Some lanes of a warp may not make the access of a site."""
    table = word(S, layout.REFUSED)
    known = table + 8 * (word(S, layout.BLOCK) * word(S, layout.WARP_COUNT) + warp)
    count = 0
    for lane in range(layout.LANES):
        if (lanes >> lane) & 1 != 0:
            stamp = stamp_of(S, warp, lane, place)
            record(S, _OUT_OF_BOUNDS, stamp, 0, 0, load(addresses + 8 * lane), 0, 0, site)
            count += 1
    if table != 0:
        store(known, load(known) | lanes)
    set_word(S, layout.REFUSALS, word(S, layout.REFUSALS) + count)


class RefusedAccesses(Detector):
    """What the engine would stop the kernel for."""

    refuses = True

    def begin(self, watched: Watched) -> None:
        memory, scene = watched.memory, watched.begun.scene
        warps = int(np.prod(scene.launch.grid, dtype=np.int64)) * scene.executable.shape.warps
        table = memory.take(warps) if warps <= _WARPS_KNOWN else 0
        for state in memory.states:
            state[layout.REFUSED] = table

    def refused(self, at: Emission, site: Site, number: int) -> None:
        b, code = at.builder, self.code
        slot = b.offset("%context", 8 * SLOT["refused"])
        lanes = b.load("i64", slot)
        place = str(code.place_of(code.steps[site.step]))
        addresses = b.value("ptrtoint ptr %lane_addresses to i64")
        code.call(at, refuse, code.warp(at), lanes, place, str(number), addresses)
        b.store("i64", "0", slot)
        many = b.load("i64", b.offset(code.pointer(at), 8 * layout.REFUSALS))
        on = b.label("goes_on")
        b.branch(b.value(f"icmp sgt i64 {many}, {_MOST}"), at.lanes.access.fault_label, on, unlikely=True)
        b.place(on)
        b.store("i64", str(NOWHERE), b.offset("%context", 8 * SLOT["fault_site"]))


def refused_calls(watched: Watched) -> Iterator[KernelFault]:
    """The calls of the runtime that were left out: what freed no memory."""
    scene: Scene = watched.begun.scene
    for one in scene.system.left_out:
        yield explain_call(scene, one.site, one.account, one.block, one.thread)


def refused_accesses(watched: Watched) -> Iterator[tuple[KernelFault, int, int]]:
    """The faults that were let pass, by place in the program: how many, and the first one's time."""
    table = watched.memory.findings
    rows = table[(table[:, layout.KEY] != 0) & (table[:, layout.CODE] == _OUT_OF_BOUNDS)]
    scene: Scene = watched.begun.scene
    for row in sorted(rows, key=lambda row: int(row[layout.STAMP])):
        stamp = int(row[layout.STAMP])
        block = watched.begun.block_at((stamp >> watched.memory.block_shift) - 1)
        warp, lane = (stamp >> layout.WARP_SHIFT) & 31, (stamp >> layout.LANE_SHIFT) & 31
        thread = unflatten(32 * warp + lane, scene.launch.block)
        address = int(row[layout.OFFSET]) & (1 << 64) - 1
        fault = explain_access(
            scene, int(row[layout.EXTRA]), address, unflatten(block, scene.launch.grid), thread
        )
        within = stamp & (1 << watched.memory.block_shift) - 1
        yield fault, int(row[layout.COUNT]), within >> layout.TIME_SHIFT
