"""Programs of sources/, built once, and the command line that runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from warpglass.errors import ArgumentError
from warpglass.programs import build

ROOT = Path(__file__).parent.parent.parent
SOURCES = Path(__file__).parent / "sources"

Call = Callable[..., subprocess.CompletedProcess[str]]


def environment() -> dict[str, str]:
    """The variables of a process that finds this package."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


@pytest.fixture(scope="session")
def tools() -> build.Tools:
    """The compilers."""
    if not sys.platform.startswith("linux"):
        pytest.skip("programs need Linux")
    try:
        return build.tools()
    except ArgumentError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def call(tools: build.Tools) -> Call:
    """Call `warpglass WORD...` in the folder of the sources."""

    def called(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "warpglass", *words],
            env=environment(),
            cwd=SOURCES,
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return called


@pytest.fixture(scope="session")
def static(tools: build.Tools, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Build one of the sources as nvcc does by itself, with the runtime linked statically."""
    folder = tmp_path_factory.mktemp("static")

    def built(source: str, *flags: str, code: str = "compute_90") -> Path:
        target = folder / Path(source).stem
        architecture = f"-gencode=arch=compute_90,code={code}"
        words = ["-o", str(target), architecture, f"-L{tools.nvcc.parent.parent / 'lib'}", *flags]
        command = [str(tools.nvcc), "-ccbin", tools.host.as_one_program(folder), *words, source]
        subprocess.run(command, cwd=SOURCES, check=True, timeout=120)
        return target

    return built
