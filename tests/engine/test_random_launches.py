"""Random launches with bad arguments and indices: clear errors, no crash, nothing written outside arrays.

WARPGLASS_FUZZ=FIRST:COUNT tries numbers of one's own choice; tests/fuzz/campaign.py tries many more.
"""

from __future__ import annotations

from tests.fuzz.watched import try_all
from tests.levels import numbers

_NUMBERS = numbers(200, quick=8, ci=3)


def test_random_launches_do_no_harm():
    found = try_all("tests.fuzz.random_launches", _NUMBERS)
    assert not found.bad, "\n\n".join(f"number {number}: {text}" for number, text in found.bad.items())
    assert found.good["run"] + found.good["KernelFault"] > len(_NUMBERS) // 4, (
        "hardly a launch gets as far as its kernel"
    )
