"""The choice of a front end.

`load` goes by a file's suffix, `compile_text` by the language named, `from_numba` by the package that a
Python function is written for.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import CompileError
from .compiled import DeclaredKernel, Source
from .cuda import declared_in_cuda, load_cuda
from .ptx import declared_in_ptx, load_ptx
from .python import from_function, load_python
from .triton import is_triton, load_triton, triton_metadata, with_metadata

DEFAULT_TARGET = "sm_90"


def load(
    path: str | PathLike[str] | object,
    name: str | None = None,
    *,
    target: str = DEFAULT_TARGET,
    options: Sequence[str] | str = (),
) -> Source:
    """Return the kernel `name` of a .cu, .ptx or .py file; None means the only kernel of the file.

    `name` is an entry, a C++ name or a template's name with its arguments (`reduce<512u>`). C++ is compiled
    at once; Python at the first launch, when types are known. What triton.compile returns stands for itself,
    and a .ptx file of Triton's cache brings its metadata along. Raises CompileError.
    """
    if is_triton(path):
        return load_triton(path)
    if not isinstance(path, str | PathLike):
        raise CompileError(
            f"{path!r} is no file; load takes the path of a .cu, .ptx or .py file, or what triton.compile "
            "returns"
        )
    place = Path(path)
    text = _text(place)
    suffix = place.suffix.lower()
    if suffix in (".cu", ".cuh"):
        return load_cuda(text, place, name, target=target, options=_words(options))
    if suffix == ".ptx":
        kernel, metadata = load_ptx(text, str(place), name), triton_metadata(place)
        return (
            kernel if metadata is None else with_metadata(kernel, metadata, str(place.with_suffix(".json")))
        )
    if suffix == ".py":
        return load_python(place, name, target=target, options=_words(options))
    raise CompileError(f"{place}: expected a .cu, .ptx or .py file")


def compile_text(
    text: str,
    name: str | None = None,
    *,
    language: str = "cuda",
    target: str = DEFAULT_TARGET,
    options: Sequence[str] | str = (),
) -> Source:
    """Return the kernel `name` of CUDA C++ ("cuda") or PTX ("ptx") text."""
    if language == "cuda":
        return load_cuda(text, None, name, target=target, options=_words(options))
    if language == "ptx":
        return load_ptx(text, "<ptx>", name)
    raise CompileError(f"language {language!r}: expected 'cuda' or 'ptx'")


def kernels_of(path: str | PathLike[str]) -> tuple[DeclaredKernel, ...]:
    """The kernels of a .cu or .ptx file as it declares them; nothing is compiled. Raises CompileError."""
    place = Path(path)
    text = _text(place)
    return declared_in_ptx(text) if place.suffix.lower() == ".ptx" else declared_in_cuda(text, place)


def from_numba(function: Callable[..., Any], *, target: str = DEFAULT_TARGET) -> Source:
    """Return the kernel that a @cuda.jit dispatcher of numba-cuda(-mlir), or a plain function, describes."""
    return from_function(function, target=target)


def _text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise CompileError(f"{place}: {error.strerror}") from None


def _words(options: Sequence[str] | str) -> tuple[str, ...]:
    return tuple(shlex.split(options) if isinstance(options, str) else options)
