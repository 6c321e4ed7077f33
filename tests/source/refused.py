"""Kernels that a numba package should compile and does not; the test fails once it does."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import pytest

from warpglass.errors import CompileError
from warpglass.source.numba_package import Package


def refused_by(package: Package, *names: str) -> AbstractContextManager[object]:
    """Expect a CompileError from the packages of these names, and nothing of the others."""
    return pytest.raises(CompileError) if package.name in names else nullcontext()
