"""Functions for meanings so long that a kernel should have their code only once, such as matrix products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..isa.lanes import Outline
from .builder import Builder
from .lanes.reference import ReferenceLanes
from .memory.access import Access
from .memory.local import LocalMemory
from .shape import BlockShape
from .values.value import Value

# Put in where it is called in optimised code, whose registers would have to be saved around calls. Quick code
# is only of the functions that must be.
_INLINED = '"function-inline-cost"="0"'


Called = Mapping[str, tuple[Outline, tuple[str, ...]]]  # by name, with the scalar types of operands


def outline_helpers(called: Called, declarations: set[str], width: int) -> list[str]:
    """The functions that are called, and those that these call."""
    known, waiting = dict(called), list(called)
    helpers: list[str] = []
    while waiting:
        helper, inner = _helper(*known[waiting.pop()], declarations, width)
        helpers.append(helper)
        waiting += [name for name in inner if name not in known]
        known = {**inner, **known}
    return helpers


def _helper(
    outline: Outline, operands: Sequence[str], declarations: set[str], width: int
) -> tuple[str, Called]:
    """`@wg_NAME`: vectors of all lanes in, a structure of vectors out; and what it calls."""
    builder = Builder(declarations, width)
    vector = builder.vector
    access = Access(builder)
    lanes = ReferenceLanes(access, LocalMemory(access, 0), BlockShape((width, 1, 1), 0, width))
    given = [Value(type_, f"%operand{k}") for k, type_ in enumerate(operands)]
    whole = "{ " + ", ".join(vector(type_) for type_ in outline.results) + " }"
    result = "poison"
    for k, value in enumerate(outline.make(lanes, *given)):
        result = builder.value(f"insertvalue {whole} {result}, {vector(value.type)} {value.ir}, {k}")
    inlining = _INLINED if outline.lanewise else "noinline"
    listed = ", ".join(f"{vector(value.type)} {value.ir}" for value in given)
    text = "\n".join(
        [
            f"define internal {whole} @wg_{outline.name}({listed}) {inlining} #0 {{",
            "entry:",
            *builder.lines,
            f"  ret {whole} {result}",
            "}\n",
        ]
    )
    return text, lanes.outlines
