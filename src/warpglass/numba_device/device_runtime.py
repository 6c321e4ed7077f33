"""Functions of the device runtime that kernels call and no module defines: ours, as PTX.

Belongs here: what a GPU's driver would link into a module when it is loaded.
"""

from __future__ import annotations

from ..source.link import Code, link

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


def completed(text: str, architecture: int) -> str:
    """A module's PTX with the functions of the device runtime that it calls. Raises CompileError."""
    codes = [Code(name, body, "ptx") for name, body in _FUNCTIONS.items() if name in text]
    return link(text, codes, f"sm_{architecture}") if codes else text
