"""Every exception that warpglass raises for a user's mistake or a kernel's fault.

Belongs here: exception classes and the data they carry. Does not belong here: wording that needs a
stage's knowledge (the stage composes its message) and printing (report/ and cli/ do that).
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path


class WarpglassError(Exception):
    """Base of all errors that a user can cause; its text is complete and needs no traceback."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it, a line an element; asked for by this name."""
        return in_notebook(self)


def in_notebook(problem: BaseException) -> list[str]:
    """An error as a notebook's cells need it, a line an element: where they asked for it, and what it says.

    Frames end at the first of ours. IPython's own are left out, and calls of magics, which repeat the cell.
    """
    own = Path(__file__).parent
    kept: list[traceback.FrameSummary] = []
    for frame in traceback.extract_tb(problem.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(own):
            break
        if "IPython" not in path.parts and not (frame.line or "").startswith("get_ipython()."):
            kept.append(frame)
    said = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    return "".join([*traceback.format_list(kept), said]).splitlines()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about one place: `file:line:column: message`, with the line's text if known."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    text: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        shown = f"{place}: {self.message}" if place else self.message
        return f"{shown}\n    {self.text.strip()}" if self.text and self.text.strip() else shown


class CompileError(WarpglassError):
    """A source file that its compiler, or our PTX parser, refused; `diagnostics` lists every place."""

    def __init__(self, summary: str, diagnostics: tuple[Diagnostic, ...] = ()):
        self.summary = summary
        self.diagnostics = diagnostics
        super().__init__("\n".join([summary, *map(str, diagnostics)]))


class UnknownKernel(CompileError):
    """A kernel that its file has not, or that is not named; the text lists those that there are."""


class UnsupportedError(CompileError):
    """PTX that is valid but that the engine has no row for; all such instructions of the entry at once."""


class ArgumentError(WarpglassError, ValueError):
    """A kernel argument of the wrong count, type, layout or alignment; the text names the argument."""


class PackageError(WarpglassError, ImportError):
    """A package that a program needs is missing, or cannot run here; the text says what to install."""


class LaunchError(WarpglassError):
    """A launch that failed as CUDA would report it.

    `cuda_name` is the runtime's name (cudaErrorInvalidConfiguration, ...), `synchronous` says whether the
    launch call itself fails (else the error appears later), `sticky` whether the device refuses all
    further work until it is reset.
    """

    def __init__(self, message: str, *, cuda_name: str, synchronous: bool, sticky: bool):
        self.cuda_name = cuda_name
        self.synchronous = synchronous
        self.sticky = sticky
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by fields: pools of processes hand errors on, and __init__ takes more than a message."""
        return _remake, (type(self), self.args, self.__dict__)


def _remake(kind: type[LaunchError], args: tuple[object, ...], fields: dict[str, object]) -> LaunchError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


@dataclass(frozen=True, slots=True)
class FaultPlace:
    """Where a kernel failed: every field that is known, in the kernel author's own terms."""

    kind: str  # a finding kind of the public interface: out-of-bounds, misaligned, read-only-write, ...
    file: str | None = None
    line: int | None = None
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    array: str | None = None
    index: int | None = None  # element index, counted from the array's first element
    address: int | None = None
    size: int | None = None  # bytes accessed


class KernelFault(LaunchError):
    """A kernel that was stopped by an illegal access or a trap; `place` says where."""

    def __init__(self, message: str, place: FaultPlace, *, cuda_name: str):
        self.place = place
        super().__init__(message, cuda_name=cuda_name, synchronous=False, sticky=True)


class KernelTimeout(LaunchError):
    """A kernel that did not end within its time budget; `place` names where it was, if known."""

    def __init__(self, message: str, place: FaultPlace | None = None):
        self.place = place
        super().__init__(message, cuda_name="cudaErrorLaunchTimeout", synchronous=False, sticky=True)


_RAISED = "raised by kernel "


def mark_raised(error: BaseException, kernel: str) -> None:
    """Say in an exception of Python, as a note, that a kernel raised it."""
    error.add_note(_RAISED + kernel)


def raised_by_kernel(error: BaseException) -> bool:
    """Whether a kernel raised an exception of Python."""
    return any(note.startswith(_RAISED) for note in getattr(error, "__notes__", ()))
