"""CUDA C++ written for CUDA 12 or before: what CUDA 13 has under another name or in another form.

Belongs here: headers that stand before CUDA 13's own, include those and add what is gone (include/), and the
decision which programs need them: those that the compiler refuses for it. All others see CUDA 13 alone.
"""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "include"
# Names that were the same functions as the newer ones since CUDA 4; harmless, so that every program has them.
NAMES = FOLDER / "warpglass_older_names.h"
# What nvcc's front end and the host's compilers say where a program takes CUDA 13 for CUDA 12.
_ASKED = re.compile(
    r"cudaMemLocation|CUmemLocation|CUctxCreateParams|(?:cuda|CU)[gG]raphEdgeData|cudaGraphExecUpdateResultInfo"
    r"|too few arguments (?:in|to) function"
    r"|cudaDeviceProp\W.*no member|no member.*cudaDeviceProp"
    r"|\b(?:thrust|cub)\b\W.*no(?:t a)? member|cub/\S*_input_iterator\.cuh"
    r'|identifier "__shfl(?:_up|_down|_xor)?" is undefined'
)
_VOTES = "Instruction 'vote' without '.sync'"  # as ptxas says for the functions of these names


def flags(said: str) -> tuple[str, ...]:
    """The flags with which a compiler that says this may take the program; none if they would not help."""
    if _VOTES in said:
        return f"-I{FOLDER}", "-DWARPGLASS_OLDER_VOTES"
    return (f"-I{FOLDER}",) if _ASKED.search(said) else ()
