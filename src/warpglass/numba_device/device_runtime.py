"""Functions of the device runtime that kernels call and no module defines: ours.

Belongs here: what a GPU's driver or linker would put into a module when it is loaded. What it takes to launch
kernels from kernels is CUDA C++ (device_runtime.cu), compiled for modules that do so.
"""

from __future__ import annotations

import re
from pathlib import Path

from ..devices import Device
from ..ptx.parts import Parts
from ..source.link import Code, link
from .device_calls import attribute_of

# The handle of a condition is the address of its value (graphs.py).
_FUNCTIONS = {
    "cudaGraphSetConditional": """
.version 7.0
.target sm_50
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
    .reg .b64 %address;
    .reg .b32 %value;
    ld.param.b64 %address, [handle];
    ld.param.b32 %value, [value];
    st.b32 [%address], %value;
    ret;
}
"""
}
CAPACITY = 1 << 16  # launches of a grid that are noted
PARAMETERS = 64  # where parameters begin in a note
_LEAST_ROOM = 64
_LAUNCHES = "__cudaCDP2"  # what the names of the functions that launch begin with
_ADDRESS = re.compile(r"(\bmov\.[bu]64\s+%?[\w$]+\s*,\s*)([A-Za-z_$][\w$]*)(?=\s*;)")
_PARAMETER = re.compile(r"\.param\b[^,;)]*?\.[busf](\d+)\b[^,;)\[]*(?:\[(\d+)\])?")
_ALIGN = 16
_ATTRIBUTES = 160


def completed(text: str, model: Device) -> str:
    """A module's PTX with the functions of the device runtime that it calls. Raises CompileError.

    A kernel's address in a kernel is then its number among the module's kernels, from 1.
    """
    codes = [Code(name, body, "ptx") for name, body in _FUNCTIONS.items() if name in text]
    if _LAUNCHES in text:
        parts = Parts(text)
        codes.append(Code("device_runtime.cu", _launching(parts, model), "cuda"))
        numbers = {name: number for number, name in enumerate(parts.entries, 1)}
        text = _ADDRESS.sub(lambda found: f"{found[1]}{numbers.get(found[2], found[2])}", text)
    major, minor = model.capability
    return link(text, codes, f"sm_{major}{minor}") if codes else text


def _room(parts: Parts) -> int:
    """Bytes that the parameters of any kernel of a module have room in."""
    sizes = [
        sum(-(-int(bits) // 8 * int(count or 1) // _ALIGN) * _ALIGN for bits, count in found)
        for found in map(_PARAMETER.findall, parts.headings)
    ]
    return max(1, -(-max(sizes, default=0) // _LEAST_ROOM)) * _LEAST_ROOM


def _launching(parts: Parts, model: Device) -> str:
    numbers = {
        "CAPACITY": CAPACITY,
        "ROOM": _room(parts),
        "PARAMETERS": PARAMETERS,
        "ATTRIBUTES": ", ".join(str(attribute_of(model, number) or 0) for number in range(_ATTRIBUTES)),
    }
    defined = "".join(f"#define {name} {number}\n" for name, number in numbers.items())
    return defined + Path(__file__).with_suffix(".cu").read_text("utf-8")
