"""What is handed in: files in a folder, read without following them anywhere."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import ArgumentError
from .task import LANGUAGES, Task
from .verdicts import UNREADABLE, Verdict


@dataclass(frozen=True)
class Submission:
    """One kernel: its author's name for it, its language and text; `problem` says why there is no text."""

    name: str
    suffix: str
    text: bytes
    problem: str = ""

    @property
    def language(self) -> str:
        """ "cuda", "python" or "ptx"."""
        return LANGUAGES.get(self.suffix, "")


@dataclass(frozen=True)
class Job:
    """A submission to be judged by a task: what a worker gets."""

    submission: Submission
    task: Task

    @property
    def name(self) -> str:
        """The submission's name."""
        return self.submission.name

    @property
    def key(self) -> str:
        """What the verdict depends on: text, language, task; not whose it is."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256(self.task.key.encode())
        digest.update(self.submission.suffix.encode() + b"\0" + self.submission.problem.encode() + b"\0")
        digest.update(self.submission.text)
        return digest.hexdigest()

    @property
    def axes(self) -> tuple[tuple[str, str], ...]:
        """What a store of results shows beside the name."""
        return (("language", self.submission.language),)

    @property
    def model(self) -> str:
        """The GPU model judged for."""
        return self.task.model

    def __str__(self) -> str:
        return self.name


def read_submissions(folder: str | Path, task: Task) -> Iterator[Submission]:
    """Every submission of a folder, by name: a file, or a folder that holds one file of a kernel.

    Raises ArgumentError if the folder cannot be read or has none.
    """
    folder = Path(folder)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as problem:
        raise ArgumentError(f"{folder} cannot be read: {problem.strerror}") from None
    found = 0
    for entry in entries:
        if entry.name.startswith("."):
            continue
        found += 1
        if entry.is_dir(follow_symlinks=False):
            yield _of_folder(Path(entry.path), task)
        else:
            yield _read(Path(entry.path), entry.name, task)
    if not found:
        kinds = ", ".join(LANGUAGES)
        raise ArgumentError(f"{folder} has no submissions; each is a file ({kinds}) or a folder")


def _of_folder(folder: Path, task: Task) -> Submission:
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in LANGUAGES)
    if len(files) != 1:
        listed = ", ".join(path.name for path in files[:5]) or "none"
        return Submission(folder.name, "", b"", f"the folder must hold one file of a kernel; it has {listed}")
    return _read(files[0], folder.name, task)


def _read(path: Path, name: str, task: Task) -> Submission:
    suffix = path.suffix.lower()
    try:
        return Submission(name, suffix, _content(path, task))
    except Verdict as verdict:
        return Submission(name, suffix, b"", verdict.text)
    except OSError as problem:
        return Submission(name, suffix, b"", f"it cannot be read: {problem.strerror}")


def of_text(name: str, text: str, task: Task) -> Submission:
    """The submission of a text, with the name of the file that it would be."""
    suffix = Path(name).suffix.lower()
    try:
        _check_language(suffix, task)
        return Submission(name, suffix, _checked(text.encode("utf-8", "surrogatepass"), task))
    except Verdict as verdict:
        return Submission(name, suffix, b"", verdict.text)


def _check_language(suffix: str, task: Task) -> None:
    if LANGUAGES.get(suffix, "") not in task.languages:
        raise Verdict(UNREADABLE, f"{suffix or 'no ending'}: the task takes {', '.join(task.languages)}")


def _content(path: Path, task: Task) -> bytes:
    """The bytes of a plain file of a sensible size; links and devices are not followed."""
    _check_language(path.suffix.lower(), task)
    place = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(place, "rb") as file:
        if not stat.S_ISREG(os.fstat(place).st_mode):
            raise Verdict(UNREADABLE, "it is no plain file")
        return _checked(file.read(task.limits.source + 1), task)


def _checked(text: bytes, task: Task) -> bytes:
    if len(text) > task.limits.source:
        raise Verdict(UNREADABLE, f"it has more than {task.limits.source} bytes")
    if not text.strip():
        raise Verdict(UNREADABLE, "it is empty")
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise Verdict(UNREADABLE, f"byte {problem.start} is no UTF-8 text") from None
    return text
