"""With what status the commands end, all of them alike: docs/reference/exit-status.md explains it.

Belongs here: the numbers and which error has which. The status of a program that a command runs is passed on.
"""

from __future__ import annotations

from ..errors import ArgumentError, CompileError, KernelTimeout, LaunchError, UnknownKernel, WarpglassError

FAILED = 1  # done, and what was asked for is not so: findings, wrong results, numbers that got worse
BAD_USAGE = 2  # what typer has for its own, too
NOT_COMPILED = 3
NOT_LAUNCHED = 4
DEFECT = 70  # EX_SOFTWARE of sysexits.h
TIMED_OUT = 124  # as of timeout(1)
INTERRUPTED = 130  # as of a shell for a command that SIGINT ends


def status_of(problem: WarpglassError) -> int:
    """The exit status that an error of ours stands for."""
    if isinstance(problem, (ArgumentError, UnknownKernel)):
        return BAD_USAGE
    if isinstance(problem, KernelTimeout):
        return TIMED_OUT
    if isinstance(problem, LaunchError):
        return NOT_LAUNCHED
    return NOT_COMPILED if isinstance(problem, CompileError) else BAD_USAGE
