"""The machinery that tries and shrinks inputs, on inputs whose ends are known."""

from __future__ import annotations

import os
import signal
import time

import pytest

from .random_programs import problem, text_of
from .shrink import shrink
from .watched import try_all

pytestmark = pytest.mark.turns(2)


def attempt(number: int) -> str:
    """End as the number says: well, badly, by a signal, or not at all."""
    if number == 1:
        raise ValueError("one")
    if number == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 3:
        time.sleep(60)
    return "fine"


@pytest.mark.least("ci")
def test_crashes_and_hangs_are_results():
    found = try_all("tests.fuzz.test_fuzz", range(5), seconds=8)
    assert found.good == {"fine": 2}
    assert "ValueError: one" in found.bad[1]
    assert found.bad[2].startswith("dies: -11")
    assert found.bad[3] == "hangs for 8 s"


def test_shrinking_keeps_what_fails_and_little_else():
    text = text_of(3)
    small = shrink(text, lambda part: "redux" in part or ("mad.lo.u64" in part and "ret;" in part))
    assert len(small) < 80, small


def test_a_program_that_agrees_is_no_problem():
    assert problem(1, text_of(1)) is None
