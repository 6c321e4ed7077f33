"""Findings that are not to be reported: which file of entries applies, what it says, and what it fits.

Entries stand in pyproject.toml, in warpglass.toml or in a file of their own:

    [[tool.warpglass.suppress]]
    file = "src/legacy/*.cu"       # relative to the file of entries; ** is any number of folders
    kind = "warp-race"
    kernel = "reduce*"             # these three are optional
    line = 42
    reason = "relies on lockstep; to be replaced"

A name without a slash is that of a file in any folder. An entry fits a finding if one of the finding's two
places is in the file (at the line) that it names.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from .check import KINDS, Check, Finding, Suppressed
from .spelling import did_you_mean

_PROJECT, _OWN = "pyproject.toml", "warpglass.toml"
_SECTION = "[[tool.warpglass.suppress]]"
_FIELDS: dict[str, type] = {"file": str, "kind": str, "kernel": str, "line": int, "reason": str}
_NEEDED = ("file", "kind")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: `number` counts those of its `home`, `always` says that it must fit something."""

    home: Path
    number: int
    always: bool
    file: str
    kind: str
    kernel: str = "*"
    line: int | None = None
    reason: str = ""

    def fits(self, check: Check, finding: Finding) -> bool:
        """Whether a finding is not to be reported."""
        if finding.kind != self.kind or not fnmatchcase(check.kernel, self.kernel):
            return False
        places = (place for place in (finding.source, finding.other_source) if place is not None)
        return any(self._names(one.file) and self.line in (None, one.line) for one in places)

    def is_about(self, check: Check) -> bool:
        """Whether a kernel is one of those that the entry names."""
        return self._names(check.file) and fnmatchcase(check.kernel, self.kernel)

    def _names(self, file: str) -> bool:
        path = _from(file, self.home.parent)
        name = path.rpartition("/")[2] if "/" not in self.file else path
        return re.fullmatch(_pattern(self.file), name) is not None

    def __str__(self) -> str:
        words = [f"{name} = {getattr(self, name)!r}" for name in ("file", "kind")]
        words += [f"kernel = {self.kernel!r}"] if self.kernel != "*" else []
        words += [f"line = {self.line}"] if self.line is not None else []
        return f"{self.home}, entry {self.number} ({', '.join(words)})"


def _from(file: str, folder: Path) -> str:
    """A file's name as seen from a folder, with forward slashes."""
    try:
        return Path(os.path.relpath(file, folder)).as_posix() if file else ""
    except ValueError:  # another drive
        return Path(file).as_posix()


def _pattern(glob: str) -> str:
    """The regular expression of a file name pattern: * stays within a folder, ** does not."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("./"))
    return "".join(words.get(part, re.escape(part)) for part in parts)


# -------------------------------------------------------------------------------------------- reading
def find_entries(explicit: Sequence[Path] = (), folder: Path | None = None) -> tuple[Entry, ...]:
    """The entries of some files, which must be there, and of the nearest configuration above a folder.

    That is warpglass.toml, or pyproject.toml if it has a section of ours; the folder is the current one
    unless given. Raises ArgumentError for what is no list of entries.
    """
    entries = [entry for path in explicit for entry in read_entries(path, always=True)]
    start = (folder or Path.cwd()).resolve()
    for place in (start, *start.parents):
        found = [place / name for name in (_OWN, _PROJECT) if (place / name).is_file()]
        own = [path for path in found if path.name == _OWN or _has_section(path)]
        if own:
            known = {path.resolve() for path in explicit}
            return (*entries, *(one for path in own if path not in known for one in read_entries(path)))
    return tuple(entries)


def read_entries(path: Path, *, always: bool = False) -> tuple[Entry, ...]:
    """The entries of one file; raises ArgumentError naming the entry and the key that are wrong."""
    data = _load(path)
    if path.name != _PROJECT and not {"tool", "suppress"} >= set(data):
        strange = next(name for name in data if name not in ("tool", "suppress"))
        _refuse(path, "", strange, ("suppress", "tool"))
    tables = [data] if path.name != _PROJECT else []
    tool = data.get("tool", {})
    ours = tool.get("warpglass", {}) if isinstance(tool, dict) else {}
    if not isinstance(ours, dict):
        raise ArgumentError(f"{path}: tool.warpglass is {ours!r}; it must be a table: {_SECTION}")
    for name in ours:
        if name != "suppress":
            _refuse(path, "[tool.warpglass] ", name, ("suppress",))
    lists = [table["suppress"] for table in (*tables, ours) if "suppress" in table]
    for one in lists:
        if not isinstance(one, list) or not all(isinstance(entry, dict) for entry in one):
            raise ArgumentError(f"{path}: suppress must be a list of tables, each under {_SECTION}")
    every: list[dict[str, Any]] = [entry for one in lists for entry in one]
    return tuple(_entry(path.resolve(), number, always, table) for number, table in enumerate(every, 1))


def _has_section(path: Path) -> bool:
    tool = _load(path).get("tool", {})
    return isinstance(tool, dict) and "warpglass" in tool


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ArgumentError(f"{path} cannot be read: {problem.strerror or problem}") from None
    except UnicodeDecodeError:
        raise ArgumentError(f"{path} is no TOML file: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as problem:
        raise ArgumentError(f"{path} is no TOML file: {problem}") from None


def _entry(path: Path, number: int, always: bool, table: dict[str, Any]) -> Entry:
    where = f"suppress entry {number} "
    for name, value in table.items():
        if name not in _FIELDS:
            _refuse(path, where, name, tuple(_FIELDS))
        if type(value) is not _FIELDS[name]:
            kind = {str: "a string", int: "a whole number"}[_FIELDS[name]]
            raise ArgumentError(f"{path}: {where}has {name} = {value!r}; it must be {kind}")
    for name in _NEEDED:
        if not table.get(name):
            raise ArgumentError(f"{path}: {where}has no {name}; an entry needs file and kind")
    if table["kind"] not in KINDS:
        raise ArgumentError(
            f"{path}: {where}has the unknown kind {table['kind']!r}{did_you_mean(table['kind'], KINDS)}; "
            f"there is {', '.join(KINDS)}"
        )
    return Entry(path, number, always, **table)


def _refuse(path: Path, where: str, name: str, known: Sequence[str]) -> None:
    raise ArgumentError(
        f"{path}: {where}has the unknown key {name!r}{did_you_mean(name, known)}; there is {', '.join(known)}"
    )


# -------------------------------------------------------------------------------------------- applying
def suppress(checks: Sequence[Check], entries: Sequence[Entry]) -> tuple[list[Check], tuple[str, ...]]:
    """Checks with what is not to be reported kept apart, and notes on entries that fit nothing.

    An entry of a file that was named must fit something; one of a configuration must if what it is about
    has been checked.
    """
    used: set[Entry] = set()
    found: list[Check] = []
    for check in checks:
        kept: list[Finding] = []
        hidden: list[Suppressed] = list(check.suppressed)
        for finding in check.findings:
            fitting = [entry for entry in entries if entry.fits(check, finding)]
            used.update(fitting)
            if fitting:
                first = fitting[0]
                hidden.append(Suppressed(finding, str(first.home), first.number, first.reason))
            else:
                kept.append(finding)
        found.append(replace(check, findings=tuple(kept), suppressed=tuple(hidden)))
    idle = [
        entry for entry in entries if entry not in used and (entry.always or any(map(entry.is_about, checks)))
    ]
    return found, tuple(f"{entry} suppresses nothing" for entry in idle)
