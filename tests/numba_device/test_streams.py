"""Random programs of several streams, in processes of their own: no process can go back from the device."""

from __future__ import annotations

import sys

import pytest

from tests.fuzz.watched import try_all

pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
]


@pytest.mark.parametrize("first", [0, pytest.param(100, marks=pytest.mark.least("ci"))])
def test_streams_do_as_if_all_were_done_in_turn(first: int) -> None:
    found = try_all("tests.fuzz.stream_programs", range(first, first + 6 + first))
    assert not found.bad
    assert set(found.good) == {"agree", "agree, behind"}
