"""The self-test's part of the wiring: the planted bugs under the checker."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .. import __version__, lab
from ..records.argument_text import make_marked
from ..records.check import Check, SelfTest, SelfTestRow
from ..selftest.plants import PLANTED, PLANTS, SOUND, Plant
from . import check as lab_check


def selftest(plants: Sequence[Plant] = PLANTS) -> SelfTest:
    """Check the kernel with each planted bug and the one without it."""
    rows: list[SelfTestRow] = []
    device = ""
    for plant in plants:
        started = time.perf_counter()
        planted, sound = _check(plant, PLANTED), _check(plant, SOUND)
        device = planted.device
        rows.append(
            SelfTestRow(
                kind=plant.kind,
                file=str(plant.file),
                expected_line=plant.line,
                found=tuple(finding.kind for finding in planted.findings),
                line=_guilty(planted, plant.line),
                alarms=tuple(finding.kind for finding in sound.findings),
                seconds=time.perf_counter() - started,
            )
        )
    return SelfTest(tuple(rows), device, __version__)


def _check(plant: Plant, name: str) -> Check:
    kernel = lab.load(plant.file, name)
    args = make_marked(plant.args)
    return lab_check.check(kernel, plant.grid, plant.block, args, timeout=plant.timeout)


def _guilty(check: Check, expected: int) -> int | None:
    """The line that the first finding names: of a race's two the expected one, if it is one of them."""
    places = [(one.source, one.other_source) for one in check.findings[:1]]
    lines = [place.line for pair in places for place in pair if place is not None]
    return expected if expected in lines else next(iter(lines), None)
