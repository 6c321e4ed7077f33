"""Arrays that share memory, by the names that lines use: PTX keeps none of those that source texts give.

All dynamic shared memory begins where static shared memory ends, and pointers lead into other arrays.
"""

from __future__ import annotations

import re

from ....records.check import Place
from .outline import outermost_text
from .source_text import line_of, text_of

_DECLARED = re.compile(r"\bextern\s+__shared__\s[^;]*?\b(\w+)\s*\[\s*\]\s*;")
_OF_NO_SIZE = re.compile(
    r"^\s*(\w+)\s*=\s*(?:\w+\.)*shared\.array\(\s*(?:shape\s*=\s*)?\(?\s*0\s*,", re.MULTILINE
)
_SHARED = (
    re.compile(r"\b__shared__\s[^;=]*?\b(\w+)\s*\["),
    re.compile(r"\b(\w+)\s*=\s*(?:\w+\.)*shared\.array\("),
)
_GIVEN = re.compile(r"\b([A-Za-z_]\w*)\s*=(?!=)\s*([^;,\n=]*)")  # a name, and what it is set to
_WRITTEN = re.compile(r"\b(\w+)\s*\[[^=]*\][ \t]*[-+*/%&|^]?=(?!=)(.*)")
_SUBSCRIBED = re.compile(r"\b([A-Za-z_]\w*)\s*\[")
_EXCHANGES = (
    r"\b{0}\s*=\s*{1}\s*[;\n]",
    r"\b{1}\s*=\s*{0}\s*[;\n]",
    r"\bswap\s*\(\s*{0}\s*,\s*{1}\s*\)",
    r"\bswap\s*\(\s*{1}\s*,\s*{0}\s*\)",
    r"\b{0}\s*,\s*{1}\s*=\s*{1}\s*,\s*{0}\b",
    r"\b{1}\s*,\s*{0}\s*=\s*{0}\s*,\s*{1}\b",
)


def overlapping(one: Place, other: Place) -> tuple[str, str] | tuple[()]:
    """The names of two such arrays that two lines use, one each; () if they are not known to."""
    if one.file != other.file:
        return ()
    names = {*_DECLARED.findall(text_of(one.file)), *_OF_NO_SIZE.findall(outermost_text(one.file, one.line))}
    return _used_apart(names, one, other)


def carved(one: Place, other: Place) -> tuple[str, str] | tuple[()]:
    """The names of two parts of a shared array that two lines use, one each, meant to follow each other.

    Such names are given once, and where they begin is the same for all threads and turns of loops; () if they
    are not known to.
    """
    text = outermost_text(one.file, one.line)
    if one.file != other.file:
        return ()
    given: dict[str, str] = {}
    for name, start in _GIVEN.findall(text):
        given[name] = "threadIdx" if name in given else start  # of what changes nothing is known
    arrays = {name for pattern in _SHARED for name in pattern.findall(text)}
    parts = {
        name for name, start in given.items() if arrays.intersection(_words(start)) and name not in arrays
    }
    found = _used_apart(parts, one, other)
    if not found or not any(re.search(r"[+\[]", given[name]) for name in found):
        return ()
    fixed = all(_is_fixed(word, given, text) for name in found for word in _words(given[name]))
    return found if fixed else ()


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", re.sub(r"\.[xyz]\b", "", text))


def _is_fixed(name: str, given: dict[str, str], text: str) -> bool:
    """Whether a name stands for one value in a whole block."""
    changed = (
        rf"(?:\+\+|--)\s*{name}\b|\b{name}\s*(?:\+\+|--|[-+*/%]=|<<=|>>=)|\bfor\s+{name}\b|\b{name}\s*\["
    )
    if name == "threadIdx" or (re.search(changed, text) and not _is_array(name, text)):
        return False
    return all(word == name or _is_fixed(word, given, text) for word in _words(given.get(name, "")))


def _is_array(name: str, text: str) -> bool:
    return any(name in pattern.findall(text) for pattern in _SHARED)


def exchanged(place: Place) -> bool:
    """Whether a line writes through one name what it computes through others that are exchanged with it."""
    text = outermost_text(place.file, place.line)
    written = _WRITTEN.search(line_of(place))
    if written is None:
        return False
    name, others = written[1], set(_SUBSCRIBED.findall(written[2]))
    if name in others:
        return False
    pairs = ((name, one) for one in others)
    return any(re.search(form.format(*map(re.escape, pair)), text) for pair in pairs for form in _EXCHANGES)


def _used_apart(names: set[str], one: Place, other: Place) -> tuple[str, str] | tuple[()]:
    """Of some names that of one line and that of another, if both use one only."""
    used = [
        {name for name in names if re.search(rf"\b{name}\s*\[", line_of(place))} for place in (one, other)
    ]
    if len(used[0]) == len(used[1]) == 1 and used[0] != used[1]:
        first, second = used[0].pop(), used[1].pop()
        return (first, second) if first < second else (second, first)
    return ()
