"""Kernels of Triton: what `triton.compile` returns, or the PTX and JSON files that it leaves in its cache.

Triton compiles ahead of time, without a GPU: `triton.compile(..., target=GPUTarget("cuda", 80, 32))`. Its PTX
is a kernel like any other, but part of the launch is fixed: threads, dynamic shared memory, and pointers to
scratch memory behind the declared parameters. Belongs here: reading that from Triton's metadata.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import CompileError
from .compiled import Argument, CType, Demands, FixedSource
from .ptx import entry_parameters, load_ptx

_THREADS = re.compile(r"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
_WARP = 32
_SCRATCH = ("global_scratch", "profile_scratch")  # in the order of their hidden parameters
# Triton's names of element types: as C++ calls them, kind and bytes.
_TYPES = {
    "fp64": ("double", "f", 8),
    "fp32": ("float", "f", 4),
    "fp16": ("__half", "f", 2),
    "bf16": ("__nv_bfloat16", "bfloat", 2),
    "i1": ("bool", "b", 1),
    **{f"{letter}{8 * n}": (f"{word}int{8 * n}_t", "iu"[letter == "u"], n)
       for letter, word in (("i", ""), ("u", "u")) for n in (1, 2, 4, 8)},
}  # fmt: skip


def is_triton(thing: object) -> bool:
    """Whether an object is what triton.compile returns."""
    return "ptx" in (getattr(thing, "asm", None) or ()) and hasattr(thing, "metadata")


def load_triton(kernel: Any) -> FixedSource:
    """The kernel that triton.compile has returned, with parameters' names and types; raises CompileError."""
    metadata = kernel.metadata
    fields = metadata._asdict() if hasattr(metadata, "_asdict") else dict(vars(metadata))
    name = str(fields.get("name") or "Triton's kernel")
    source = load_ptx(kernel.asm["ptx"], name, fields.get("name"))
    signature = getattr(getattr(kernel, "src", None), "signature", None)
    return _completed(source, fields, name, signature if isinstance(signature, Mapping) else {})


def triton_metadata(ptx: Path) -> dict[str, Any] | None:
    """What Triton says of the launches of a PTX file, in a JSON file beside it; None if it is not Triton's.

    Raises CompileError for a file that is broken.
    """
    place = ptx.with_suffix(".json")
    if not place.is_file():
        return None
    try:
        fields = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise CompileError(
            f"{place}: Triton's metadata beside {ptx.name} cannot be read: {problem}"
        ) from None
    return fields if isinstance(fields, dict) and "num_warps" in fields else None


def with_metadata(source: FixedSource, fields: Mapping[str, Any], file: str) -> FixedSource:
    """A kernel of a PTX file, with what Triton's metadata says of its launches."""
    return _completed(source, fields, file, {})


def _completed(
    source: FixedSource, fields: Mapping[str, Any], file: str, signature: Mapping[str, Any]
) -> FixedSource:
    numbers = {name: _number(fields, name, file) for name in ("num_warps", "shared")}
    compiled = source.compiled
    found = _THREADS.search(compiled.ptx, compiled.ptx.find(f" {compiled.entry}("))
    threads = numbers["num_warps"] * _WARP
    if found:
        threads = int(found[1]) * int(found[2] or 1) * int(found[3] or 1)
    sizes = [f"{kind}_size" for kind in _SCRATCH if f"{kind}_size" in fields]
    scratch = tuple(_number(fields, name, file) for name in sizes)
    clusters = _number({"num_ctas": 1, **fields}, "num_ctas", file)
    demands = Demands(threads, numbers["shared"], scratch, clusters)
    parameters = _parameters(signature)
    hidden = tuple(Argument(name, ("any",)) for name in sizes)
    if parameters is not None and len(parameters) + len(hidden) == len(
        entry_parameters(compiled.ptx, compiled.entry)
    ):
        return FixedSource(replace(compiled, arguments=parameters + hidden, demands=demands))
    return FixedSource(replace(compiled, demands=demands))


def _number(fields: Mapping[str, Any], name: str, file: str) -> int:
    value = fields.get(name)
    if type(value) is not int or value < 0:
        raise CompileError(
            f"{file}: Triton's metadata has {name} = {value!r}; a number, 0 or more, is needed"
        )
    return value


def _parameters(signature: Mapping[str, Any]) -> tuple[Argument, ...] | None:
    """The declared parameters that are left at run time; None where some are not plain."""
    found = list[Argument]()
    for name, text in signature.items():
        if text == "constexpr":
            continue
        if not isinstance(text, str) or not isinstance(name, str):
            return None  # tuples and descriptors are several parameters
        pointer = text.startswith("*")
        if (known := _TYPES.get(text.removeprefix("*k").removeprefix("*"))) is None:
            if not pointer:
                return None
            found.append(Argument(name, ("pointer",)))
            continue
        word, kind, size = known
        declared = CType(f"{word} *" if pointer else word, pointer, kind, size)
        found.append(Argument(name, ("pointer",) if pointer else ("any",), declared=declared))
    return tuple(found) or None
