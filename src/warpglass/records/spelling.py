"""What a misspelt name may have been meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelt most like another; None if none is near. Case does not matter."""
    plain: dict[str, str] = {}
    for one in known:
        plain.setdefault(one.lower(), one)
    found = difflib.get_close_matches(name.lower(), plain, 1, 0.6)
    return plain[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ " (did you mean X?)", "" if nothing is near."""
    near = nearest(name, known)
    return f" (did you mean {near}?)" if near else ""
