"""What the checker and faults say of textures and surfaces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


_WORDS = (
    "error: uninitialised-read of p0[",
    "error: global-race of p0[",
    "writes it at PTX:",
    "coordinates outside a surface of 64 x 64 texels of 4 bytes",
    "the handle 0x3039 is no texture or surface object",
)


def test_defects_of_textures_and_surfaces_are_found() -> None:
    command = [sys.executable, "-m", "warpglass", "check", "-m", "tests.textures.checked"]
    done = subprocess.run(
        command, cwd=_ROOT, env=dict(os.environ), capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 1, done.stdout + done.stderr
    said = " ".join((done.stdout + done.stderr).split())
    assert not [words for words in _WORDS if words not in said], done.stdout + done.stderr
