"""Where compiled kernels come from: the disk cache, the PTX shipped with the package, then the compiler.

Belongs here: the order of the three and the form of an entry (JSON of a Compiled, its PTX detached from its
place by relocate.py). `key` digests the content alone: source, types, options, target; never a path, a
line number or a compiler's version, so that shipped PTX is found everywhere. The disk cache adds the version.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ..errors import Diagnostic
from . import shipped
from .cache import Cache, digest
from .compiled import Argument, Compiled, CompilerWarning, CType, ModuleVariable
from .relocate import Layout, attach, attach_path, detach, detach_path

FORMAT = "2"  # of an entry; part of the disk cache's key


def obtain(
    key: str,
    version: str | None,
    layout: Layout,
    build: Callable[[], Compiled],
    equivalent: tuple[str, ...] = (),
) -> Compiled:
    """Return the kernel with this content key; `build` compiles it if it is nowhere to be found.

    `version` is the compiler's; None (unknown) leaves the disk cache alone. `equivalent` are the keys of the
    same kernel from other compilers: shipped PTX of theirs will do.
    """
    cache = Cache("ptx")
    place = None if version is None else digest(FORMAT, key, version)
    payload = cache.get(place) if place else None
    if payload is None:
        keys = key, *equivalent
        payload = next((found for one in keys if (found := shipped.find(one, layout.folder))), None)
    if payload is None:
        payload = pack(build(), layout)
        if place:
            cache.put(place, payload)
    shipped.note(key, payload)
    compiled = unpack(payload, layout)  # fresh ones too, so that the text does not depend on where it is from
    for diagnostic in compiled.warnings:
        _warn(diagnostic)
    return compiled


_shown: dict[str, dict[Any, Any]] = {}  # by file, what has been said of it


def _warn(found: Diagnostic) -> None:
    """Say what the compiler warns of at the place in the kernel's file, where Python shows that line."""
    file, line = found.file or "kernel", found.line or 1
    said = found.message if found.column is None else f"{found.message} (column {found.column})"
    warnings.warn_explicit(said, CompilerWarning, file, line, registry=_shown.setdefault(file, {}))


def pack(compiled: Compiled, layout: Layout) -> bytes:
    """Return the entry for a kernel."""
    record = asdict(compiled)
    del record["exceptions"]  # classes of Python have no place on disk: such kernels are not kept
    del record["text"]  # whose kernels are not found by it
    record["ptx"] = detach(compiled.ptx, layout)
    for argument in record["arguments"] or ():
        argument["dtype"] = argument["dtype"] and argument["dtype"].str
    for diagnostic in record["warnings"]:
        diagnostic["file"] = diagnostic["file"] and detach_path(diagnostic["file"], layout)
    return json.dumps(record, separators=(",", ":")).encode()


def unpack(payload: bytes, layout: Layout) -> Compiled:
    """Return the kernel of an entry, its lines where the source stands now."""
    record: dict[str, Any] = json.loads(payload)
    arguments, remarks = record.pop("arguments"), record.pop("warnings")
    variables = record.pop("variables", ())
    compiled = Compiled(
        **record,
        arguments=None if arguments is None else tuple(map(_argument, arguments)),
        warnings=tuple(
            Diagnostic(**{**remark, "file": remark["file"] and attach_path(remark["file"], layout)})
            for remark in remarks
        ),
        variables=tuple(map(_variable, variables)),
    )
    return replace(compiled, ptx=attach(compiled.ptx, layout))


def _argument(record: dict[str, Any]) -> Argument:
    dtype = record["dtype"]
    return Argument(
        name=record["name"],
        fields=tuple(record["fields"]),
        dtype=None if dtype is None else np.dtype(dtype),
        ndim=record["ndim"],
        declared=_ctype(record.get("declared")),
    )


def _variable(record: dict[str, Any]) -> ModuleVariable:
    return ModuleVariable(
        record["name"], record["symbol"], record["size"], _ctype(record["element"]), tuple(record["shape"])
    )


def _ctype(record: dict[str, Any] | None) -> CType | None:
    return None if record is None else CType(**record)
