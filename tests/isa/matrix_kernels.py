"""Kernels of matrix instructions: every warp loads its fragments, runs forms and stores what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tests.engines import run_ptx
from tests.ptx_text import kernel


@dataclass(frozen=True)
class Form:
    """An instruction with the numbers of registers of D, A, B and C; `double` if they are of 64 bits."""

    opcode: str
    registers: tuple[int, int, int, int]
    double: bool = False


def run_forms(
    forms: Sequence[Form], a: np.ndarray, b: np.ndarray, c: np.ndarray, engine: str
) -> list[np.ndarray]:
    """D of each form, for fragments (warps, registers, lanes) that all forms share."""
    count, warps = forms[0].registers[0], len(a)
    out = np.zeros((len(forms), warps, count, 32), np.uint64 if forms[0].double else np.uint32)
    run_ptx(_text(forms, warps), warps, 32, [a, b, c, out], engine=engine)
    return list(out)


def _text(forms: Sequence[Form], warps: int) -> str:
    double = forms[0].double
    size, prefix, type_ = (8, "%fd", "f64") if double else (4, "%r", "b32")
    lines = ["mov.u32 %r90, %tid.x; mov.u32 %r91, %ctaid.x;"]
    named: dict[str, list[str]] = {}
    first = 0
    for number, (name, count) in enumerate(zip("dabc", forms[0].registers, strict=True)):
        lines.append(f"ld.param.u64 %rd{number}, [{name}];")
        lines.append(f"mad.lo.u32 %r92, %r91, {count * 32}, %r90;")
        lines.append(f"mad.wide.u32 %rd{number}, %r92, {size}, %rd{number};")
        named[name] = [f"{prefix}{first + k}" for k in range(count)]
        first += count
        if name != "d":
            loads = (
                f"ld.global.{type_} {register}, [%rd{number}+{k * 32 * size}];"
                for k, register in enumerate(named[name])
            )
            lines += loads
    lists = {name: "{" + ", ".join(registers) + "}" for name, registers in named.items()}
    for number, form in enumerate(forms):
        lines.append(f"{form.opcode} {lists['d']}, {lists['a']}, {lists['b']}, {lists['c']};")
        start = number * warps * forms[0].registers[0] * 32 * size
        for k, register in enumerate(named["d"]):
            lines.append(f"st.global.{type_} [%rd0+{start + k * 32 * size}], {register};")
    text = kernel("\n".join([*lines, "ret;"]), "u64 a, u64 b, u64 c, u64 d")
    new = any(".e4m3" in form.opcode or ".e5m2" in form.opcode for form in forms)
    return text.replace(".version 8.3", ".version 8.7") if new else text
