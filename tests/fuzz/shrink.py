"""Makes a failing text small: `python -m tests.fuzz.shrink MODULE NUMBER` prints what is left of it.

MODULE has `text_of(number)`, and `problem(number, text)`, a word for how a text fails or None. Lines, then
statements, are left out in ever smaller pieces as long as the text fails in the same way.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Sequence

_STATEMENT = re.compile(r"[^;{}\n]*[;{}\n]|[^;{}\n]+")


def main() -> None:
    """Shrink the input that the arguments name."""
    if len(sys.argv) != 3:
        sys.exit("usage: python -m tests.fuzz.shrink MODULE NUMBER")
    tried, number = importlib.import_module(sys.argv[1]), int(sys.argv[2])
    text = tried.text_of(number)
    wanted = tried.problem(number, text)
    if wanted is None:
        sys.exit(f"number {number} does not fail")
    sys.stdout.write(f"// {wanted}\n{shrink(text, lambda small: tried.problem(number, small) == wanted)}")


def shrink(text: str, fails: Callable[[str], bool]) -> str:
    """The smallest text found that fails."""
    for split in (lambda t: t.splitlines(keepends=True), _STATEMENT.findall):
        text = "".join(_without_needless(split(text), lambda parts: fails("".join(parts))))
    return text


def _without_needless(parts: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> Sequence[str]:
    """Leave out runs of parts, long ones first, until no single one can go."""
    length = max(1, len(parts) // 2)
    while True:
        first, before = 0, len(parts)
        while first < len(parts):
            shorter = [*parts[:first], *parts[first + length :]]
            if len(shorter) < len(parts) and fails(shorter):
                parts = shorter
            else:
                first += length
        if length == 1 and len(parts) == before:
            return parts
        length = max(1, length // 2)


if __name__ == "__main__":
    main()
