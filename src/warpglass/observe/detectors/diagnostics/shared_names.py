"""Arrays that a kernel declares on the same dynamic shared memory, by the names that its lines use.

PTX keeps neither: all of them begin where static shared memory ends.
"""

from __future__ import annotations

import re

from ....records.check import Place
from .source_text import line_of, text_of

_DECLARED = (
    re.compile(r"\bextern\s+__shared__\s[^;]*?\b(\w+)\s*\[\s*\]\s*;"),
    re.compile(r"^\s*(\w+)\s*=\s*(?:\w+\.)*shared\.array\(\s*(?:shape\s*=\s*)?\(?\s*0\s*,", re.MULTILINE),
)


def overlapping(one: Place, other: Place) -> tuple[str, str] | tuple[()]:
    """The names of two such arrays that two lines use, one each; () if they are not known to."""
    text = text_of(one.file)
    names = {name for pattern in _DECLARED for name in pattern.findall(text)}
    if len(names) < 2 or one.file != other.file:
        return ()
    used = [
        {name for name in names if re.search(rf"\b{name}\s*\[", line_of(place))} for place in (one, other)
    ]
    if len(used[0]) == len(used[1]) == 1 and used[0] != used[1]:
        first, second = used[0].pop(), used[1].pop()
        return (first, second) if first < second else (second, first)
    return ()
