"""Random programs synchronised by flags, masks and barriers: verdicts are those of every two accesses."""

from __future__ import annotations

import random
from importlib import import_module

import numpy as np
import pytest

import warpglass as wg
from tests.generators.synchronised import ACCESSES, COUNTERS, FLAGS, Dialect, Judge, Program, random_program
from tests.levels import numbers
from warpglass.observe.detectors.diagnostics import explain
from warpglass.observe.detectors.diagnostics.causes import RACES

_PLAIN = ("read", "write", "byte_read", "byte_write", "pair_read", "pair_write")
_ATOMIC = (*_PLAIN[:2], "update", "volatile_read", "volatile_write")
DIALECTS = {
    "masks": Dialect(_PLAIN, masks=True),
    "masks_atomic": Dialect((*_ATOMIC, "byte_read"), masks=True),
    "atomic": Dialect(_ATOMIC),
    "flags": Dialect(_PLAIN, flags=True),
    "flags_atomic": Dialect((*_ATOMIC, "block_update"), flags=True),
    "near": Dialect(_ATOMIC, flags=True, near=True),
    "flags_masks": Dialect((*_PLAIN, "update"), flags=True, masks=True),
    "named": Dialect(("read", "write", "update"), named=True, masks=True),
    "all": Dialect(ACCESSES, flags=True, near=True, named=True, masks=True),
}


def _check(kernel: wg.Kernel, program: Program) -> tuple[wg.Check, np.ndarray]:
    steps, threads = program.kinds.shape
    log = np.full((steps, threads), -1, np.int32)
    args = (
        *(np.zeros(2, np.int32), np.zeros(FLAGS, np.uint32), np.zeros(COUNTERS, np.uint32)),
        *(log.view(np.uint32), np.zeros(threads, np.int32)),
        *(program.operations, program.places, program.kinds, program.masks, np.int32(steps)),
    )
    return wg.check(kernel, program.blocks, program.block, args, timeout=60), log


@pytest.fixture(autouse=True)
def every_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Races are told even where what removes one removes another."""
    for module in (explain, import_module("warpglass.lab.check")):
        monkeypatch.setattr(module, "one_per_cause", lambda findings: findings)
    monkeypatch.setattr(explain, "one_per_remedy", lambda findings, remedies: findings)


@pytest.mark.parametrize("name", DIALECTS)
def test_verdicts_are_those_of_every_pair(name: str) -> None:
    dialect = DIALECTS[name]
    kernel = wg.compile(dialect.text, "k")
    for number in numbers(250, quick=24, ci=8):
        program = random_program(dialect, random.Random(f"{name} {number}"))
        checked, log = _check(kernel, program)
        found = {
            (one.kind, frozenset(place.line for place in (one.source, one.other_source) if place))
            for one in checked.findings
            if one.kind in RACES
        }
        judged = list(Judge(program, log).races())
        races = set().union(*judged)
        assert found <= races, (number, "false alarms", found - races, races)
        for of_byte in judged:
            assert found & of_byte, (number, "missed", of_byte, found)
