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


def outline_helpers(
    called: Mapping[str, tuple[Outline, tuple[str, ...]]], declarations: set[str], width: int
) -> list[str]:
    """The functions of these outlines, by name with the types of their operands, and of those they call."""
    functions: dict[str, str] = {}
    waiting = dict(called)
    while waiting:
        name, (outline, operands) = waiting.popitem()
        functions[name], inner = _helper(outline, operands, declarations, width)
        waiting |= {name: one for name, one in inner.items() if name not in functions}
    return list(functions.values())


def _helper(
    outline: Outline, operands: Sequence[str], declarations: set[str], width: int
) -> tuple[str, dict[str, tuple[Outline, tuple[str, ...]]]]:
    """`@wg_NAME`: vectors of all lanes in, of the scalar types `operands`; a structure of vectors out.

    With it come the outlines that it calls.
    """
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
