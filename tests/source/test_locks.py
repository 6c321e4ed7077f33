"""Locks of files: one at a time, whoever holds it, and nobody is stopped for want of one."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from warpglass.host import locks
from warpglass.host.locks import locked, slot


def test_a_lock_is_waited_for_but_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_LONGEST", 0.3)
    begun = time.monotonic()
    with locked(tmp_path / "lock"), locked(tmp_path / "lock"):
        assert time.monotonic() - begun > 0.3
    begun = time.monotonic()
    with locked(tmp_path / "lock"):
        assert time.monotonic() - begun < 0.3


def test_there_are_so_many_slots(tmp_path: Path) -> None:
    with slot(tmp_path, "work", 2) as first, slot(tmp_path, "work", 2) as second:
        assert (first, second) == (True, True)
        with slot(tmp_path, "work", 2) as third, slot(tmp_path, "other", 2) as other:
            assert (third, other) == (False, True)
    with slot(tmp_path, "work", 2) as again:
        assert again


def test_where_there_can_be_no_lock_all_go_on(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with locked(path / "lock"), slot(path, "work", 1) as one, slot(None, "work", 1) as other:
        assert one
        assert other
