"""Small PTX kernels for tests: the header, the parameter list and the register declarations are made here.

Registers are declared by how they are called, as NVVM does: `%p` predicates, `%rb` 8, `%rs` 16, `%r` 32,
`%rd` 64 and `%rq` 128 bits, `%f` single and `%fd` double precision.
"""

from __future__ import annotations

import re

_CLASSES = {
    "p": "pred",
    "rb": "b8",
    "rs": "b16",
    "r": "b32",
    "rd": "b64",
    "rq": "b128",
    "f": "f32",
    "fd": "f64",
}
_REGISTER = re.compile(r"%(p|rb|rs|rd|rq|r|fd|f)(\d+)\b")
HEADER = ".version 8.3\n.target sm_90\n.address_size 64\n"


def kernel(
    body: str, parameters: str = "", *, name: str = "k", shared: str = "", directives: str = ""
) -> str:
    """A module with one entry; `parameters` is like "u64 x, u32 n", `shared` like ".align 4 .b8 s[64]"."""
    listed = ", ".join(
        f".param .{one.strip().replace(' ', ' ')}" for one in parameters.split(",") if one.strip()
    )
    variables = [f".shared {one.strip()};" for one in shared.split(",") if one.strip()]
    lines = [*_declarations(body), *variables, body]
    return f"{HEADER}.visible .entry {name}({listed}) {directives}\n{{\n" + "\n".join(lines) + "\n}\n"


def function(name: str, results: str, parameters: str, body: str) -> str:
    """A device function, to stand in front of the entry that calls it."""
    lines = [*_declarations(body), body]
    return f".func ({results}) {name}({parameters})\n{{\n" + "\n".join(lines) + "\n}\n"


def _declarations(body: str) -> list[str]:
    highest: dict[str, int] = {}
    for found in _REGISTER.finditer(body):
        highest[found[1]] = max(highest.get(found[1], 0), int(found[2]))
    return [f".reg .{_CLASSES[prefix]} %{prefix}<{top + 1}>;" for prefix, top in sorted(highest.items())]
