"""Constants that lanes look up by number: a table is data of the kernel's module."""

from __future__ import annotations

from ...isa.lanes import Table
from ...isa.types import BITS
from ..builder import Builder, suffix, vector
from ..values.value import literal


def looked_up(b: Builder, table: Table, index: str, lanes: int) -> str:
    """The constants that lanes number, or of one lane the scalar."""
    name, type_ = f"@wg_{table.name}", table.type
    contents = ", ".join(f"{type_} {literal(type_, pattern, BITS[type_])}" for pattern in table.patterns)
    count = len(table.patterns)
    b.declarations.add(f"{name} = private unnamed_addr constant [{count} x {type_}] [{contents}], align 64")
    where = b.value(f"getelementptr {type_}, ptr {name}, {vector('i32', lanes)} {index}")
    if lanes == 1:
        return b.load(type_, where)
    whole, places = vector(type_, lanes), vector("ptr", lanes)
    args = [(places, f"align {BITS[type_] // 8} {where}"), (vector("i1", lanes), "splat (i1 true)")]
    name = f"llvm.masked.gather.{suffix(type_, lanes)}.{suffix('ptr', lanes)}"
    return b.call(whole, name, [*args, (whole, "poison")])
