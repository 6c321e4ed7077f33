"""What early versions of PTX mean by what a module does not say, written out as today's PTX says it.

* Up to PTX 3.1 a multiply-add of floats needs no rounding: ptxas takes it as `mad.rn`, and refuses it later.
* For `.target sm_1x` arithmetic of single precision flushes subnormal numbers, as `.ftz` does.

Source: PTX ISA, notes of `mad` and of each floating-point instruction ("Target ISA Notes").
"""

from __future__ import annotations

from dataclasses import replace

from .. import isa
from ..ptx import tree

_STRICT = (3, 2)  # the version from which a rounding must be given
_ROUNDINGS = frozenset("rn rz rm rp".split())
_FLUSHED = frozenset("add sub mul mad fma div rcp sqrt neg abs min max set setp slct".split())


def write_defaults(module: tree.Module, entry: tree.Function) -> tuple[tree.Module, tree.Function]:
    """A module and one of its kernels in which instructions say what their version and target imply."""
    flushes = any(target.startswith("sm_1") and len(target) == len("sm_10") for target in module.target)
    if module.version >= _STRICT and not flushes:
        return module, entry
    functions = tuple(_written(one, flushes) for one in module.functions)
    at = next(k for k, one in enumerate(module.functions) if one is entry)
    return replace(module, functions=functions), functions[at]


def _written(function: tree.Function, flushes: bool) -> tree.Function:
    if function.body is None:
        return function
    body = (
        _explicit(item, flushes) if isinstance(item, tree.Instruction) else item for item in function.body
    )
    return replace(function, body=tuple(body))


def _explicit(item: tree.Instruction, flushes: bool) -> tree.Instruction:
    said = item.modifiers
    if item.opcode == "mad" and said and said[-1] in ("f32", "f64") and not _ROUNDINGS.intersection(said):
        item = replace(item, modifiers=("rn", *said))
    if flushes and item.opcode in _FLUSHED and "f32" in item.modifiers and "ftz" not in item.modifiers:
        return _with_flush(item)
    return item


def _with_flush(item: tree.Instruction) -> tree.Instruction:
    """The instruction with `.ftz` at the place where it has one; itself where it has none."""
    said = item.modifiers
    forms = (replace(item, modifiers=(*said[:at], "ftz", *said[at:])) for at in range(len(said)))
    return next((form for form in forms if isa.match(form) is not None), item)
