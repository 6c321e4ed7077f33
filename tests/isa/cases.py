"""The cases by group, and what their oracles are made of: exact integers, a bit or a digit at a time."""

from __future__ import annotations

from collections.abc import Callable

from .case_kernels import Case
from .oracles import wrap

CASES: dict[str, list[Case]] = {}
ALL_ONES = 0xFFFFFFFF


def case(
    group: str, text: str, sources: str, results: str, oracle: Callable[..., object], **options: bool
) -> None:
    """Add a case; types are separated by blanks."""
    CASES.setdefault(group, []).append(
        Case(text, tuple(sources.split()), tuple(results.split()), oracle, **options)  # type: ignore[arg-type]
    )


def bit(a: int, position: int) -> int:
    """A bit of an integer."""
    return a >> position & 1


def clamp(type_: str, value: int) -> int:
    """The nearest value that a type holds; `s4` and `u2` too."""
    bits = int(type_[1:])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if type_[0] == "s" else (0, (1 << bits) - 1)
    return max(low, min(high, value))


def parts(a: int, count: int, type_: str) -> list[int]:
    """The equal parts of a 32-bit number, the lowest first, read as signed or not."""
    bits = 32 // count
    return [wrap(f"{type_[0]}{bits}", a >> k * bits) for k in range(count)]


def packed(values: list[int], bits: int) -> int:
    """Numbers side by side, the first lowest."""
    return sum((value & ((1 << bits) - 1)) << k * bits for k, value in enumerate(values))
