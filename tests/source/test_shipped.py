"""PTX that ships with the package: complete, current, and enough on a machine without a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpglass.errors import CompileError
from warpglass.ladders import ship
from warpglass.ops import ship as operations
from warpglass.source import compile_text, from_numba, nvrtc, python, python_names, shipped

pytestmark = pytest.mark.turns(2)


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("not shipped: run `python -m warpglass.ladders.ship`, or `warpglass.ops.ship`")

    monkeypatch.setattr(nvrtc, "compile_program", refuse)
    monkeypatch.setattr(nvrtc, "version", lambda: None)
    monkeypatch.setattr(python_names, "version_of", lambda package: None)
    monkeypatch.setattr(python.PythonSource, "_build", refuse)


@pytest.mark.turns(2)
@pytest.mark.usefixtures("no_compiler")
def test_archives_hold_exactly_what_the_ladders_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_CACHE", "")
    parts = list(ship.all_parts())
    assert parts
    for folder, obtain in parts:
        with shipped.record(fresh=False) as entries:
            obtain()
        assert shipped.keys(folder / shipped.ARCHIVE) == entries.keys(), (
            "run `python -m warpglass.ladders.ship`"
        )


@pytest.mark.usefixtures("no_compiler")
def test_the_archive_of_operations_holds_what_ladders_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_CACHE", "")
    with shipped.record(fresh=False) as entries:
        operations.obtain()
    assert shipped.keys(operations.ARCHIVE) == operations.own(entries).keys(), (
        "run `python -m warpglass.ops.ship`, after `python -m warpglass.ladders.ship`"
    )


def test_shipped_ptx_points_to_the_files_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_CACHE", "")
    from warpglass.ladders.reduction import interleaved

    x = np.zeros(4)
    text = from_numba(interleaved.interleaved).compile((x, x, np.uint32(4))).ptx
    assert f'"{interleaved.__file__}"' in text


def test_without_a_compiler_and_without_shipped_ptx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "version_of", lambda package: None)

    def kernel(x):
        x[0] = 1

    with pytest.raises(CompileError, match="pip install numba-cuda-mlir"):
        from_numba(kernel).compile((np.zeros(3),))


def test_recording_takes_fresh_entries_only() -> None:
    text = 'extern "C" __global__ void k(int* x) { x[0] = 1; }'
    with shipped.record(fresh=True) as entries:
        compile_text(text, "k")
    assert len(entries) == 1
    compile_text(text, "k", options=("-DX",))
    assert len(entries) == 1
