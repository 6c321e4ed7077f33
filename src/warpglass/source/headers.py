"""Which headers of the user's own a CUDA C++ file reads; NVRTC does not tell.

Belongs here: a superset of the files that `#include` can reach in the given folders, for cache keys. CUDA's
own headers are covered by their wheels' versions. Conditions are ignored: a header that is not reached under
these options costs at worst a needless recompilation.
"""

from __future__ import annotations

import re
from pathlib import Path

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include(?:_next)?\b[ \t]*(.*)$", re.MULTILINE)
_PROBE = re.compile(r"__has_include\s*\(\s*([\"<][^\">\n]*[\">])")
_NAME = re.compile(r"[\"<]([^\">\n]*)[\">]")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)


def reachable_headers(text: str, folder: str, include: tuple[str, ...]) -> tuple[tuple[str, str], ...] | None:
    """Return (where, content) of every header that `text`, standing in `folder`, may include.

    `where` tells the place without absolute paths. None: a name is computed by a macro, so nobody can tell.
    """
    found: dict[str, str] = {}
    pending = [(text, folder, "")]
    while pending:
        content, own, prefix = pending.pop()
        names = _included_names(content)
        if names is None:
            return None
        for name in names:
            for index, place in enumerate((own, *include)):
                path = Path(place, name)
                if not path.is_file():
                    continue
                where = f"{prefix if index == 0 else f'@{index - 1}/'}{name}"
                if where not in found:
                    found[where] = path.read_text(encoding="utf-8", errors="surrogateescape")
                    pending.append((found[where], str(path.parent), where.rpartition("/")[0] + "/"))
                break
    return tuple(sorted(found.items()))


def _included_names(content: str) -> list[str] | None:
    content = _COMMENT.sub(" ", content.replace("\\\n", " "))
    names = list[str]()
    for operand in [*_INCLUDE.findall(content), *_PROBE.findall(content)]:
        match = _NAME.match(operand.strip())
        if match is None:
            return None
        names.append(match[1])
    return names
