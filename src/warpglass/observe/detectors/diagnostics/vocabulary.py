"""What a language calls the primitives that order threads."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names in one language; `fence` with what is to be known of it."""

    barrier: str
    warp_barrier: str
    shuffle: str
    fence: str
    atomic: str
    atomics: tuple[tuple[str, str], ...]  # patterns of source text, and the operation for what they find

    def compare_and_store(self, text: str) -> str:
        """The atomic operation for a comparison with an element that decides whether it is set, or ""."""
        found = _COMPARED.search(text)
        if found is None or _BASE.findall(found["left"])[:1] == _BASE.findall(found["right"])[:1]:
            return ""
        least = (found["sign"] == "<") == (found["keeps"] is None)
        return self.atomic_for("min(" if least else "max(")

    def atomic_for(self, text: str) -> str:
        """The atomic operation that does at once what a line does in steps, "" for none that is known."""
        return next((name for pattern, name in self.atomics if re.search(pattern, text)), "")


# `if (a < x) x = a`, and `if (x > a) x = a`, in C++ and in Python.
_COMPARED = re.compile(
    r"\bif\s*\(?\s*(?P<left>[^<>=;]+?)\s*(?P<sign>[<>])=?\s*(?P<right>[^<>=;]+?)\s*\)?\s*[:{]?\s*"
    r"(?:(?P=right)\s*=\s*(?P=left)|(?P<keeps>(?P=left)\s*=\s*(?P=right)))\s*(?:[;}#]|$)"
)
_BASE = re.compile(r"\w+")
_SUMMED = r"(\w+\s*\[[^\]]*\]|\*?\w+)\s*=\s*\1\s*[-+]"  # x = x + 1

_CPP = Vocabulary(
    "__syncthreads()",
    "__syncwarp()",
    "exchange values by __shfl_down_sync() and its like",
    "__threadfence()",
    "atomicAdd",
    (
        (rf"\+\+|\+=|--|-=|{_SUMMED}", "atomicAdd()"),
        (r"\bf?max[fl]*\s*\(", "atomicMax()"),
        (r"\bf?min[fl]*\s*\(", "atomicMin()"),
        (r"\|=", "atomicOr()"),
        (r"&=", "atomicAnd()"),
        (r"\^=", "atomicXor()"),
        (r"[*/]=", "a loop of atomicCAS()"),
    ),
)
_PYTHON = Vocabulary(
    "cuda.syncthreads()",
    "cuda.syncwarp()",
    "exchange values by cuda.shfl_down_sync() and its like",
    "cuda.threadfence() (which numba-cuda-mlir 0.6 lacks: link a __threadfence() from CUDA C++ there)",
    "cuda.atomic.add",
    (
        (rf"\+=|-=|{_SUMMED}", "cuda.atomic.add()"),
        (r"\bmax\s*\(", "cuda.atomic.max()"),
        (r"\bmin\s*\(", "cuda.atomic.min()"),
        (r"\|=", "cuda.atomic.or_()"),
        (r"&=", "cuda.atomic.and_()"),
        (r"\^=", "cuda.atomic.xor()"),
        (r"[*/]=", "a loop of cuda.atomic.cas()"),
    ),
)
_PTX = Vocabulary(
    "bar.sync 0", "bar.warp.sync", "exchange values by shfl.sync", "fence.acq_rel.gpu", "atom", ()
)
VOCABULARIES = {"python": _PYTHON, "cuda": _CPP, "ptx": _PTX}

# What the kinds' own hints say in C++, and in Python.
_TRANSLATED = (
    ("if (i < n)", "if i < n:"),
    ("if (i >= 0)", "if i >= 0:"),
    ("__ballot_sync", "cuda.ballot_sync"),
    ("__shfl", "cuda.shfl"),
)


def in_words_of(language: str, hint: str) -> str:
    """A kind's hint in the words of a language."""
    for cpp, python in _TRANSLATED if language == "python" else ():
        hint = hint.replace(cpp, python)
    return hint
