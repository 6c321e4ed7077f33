"""Every test of the front ends has a cache of its own, so that it compiles what it says it compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

import warpglass.source


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    folder.chmod(0o700)
    monkeypatch.setenv("WARPGLASS_CACHE", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(Path(warpglass.source.__file__).parents[2]))  # for fresh processes
    return folder
