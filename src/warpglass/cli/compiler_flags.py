"""Flags of the CUDA C++ compiler on our command lines: `-D N=4 -I include --use_fast_math`.

Belongs here: which words are such flags. They are written as for nvcc and handed on as they are; others
follow `-X`. The target architecture (`-arch=sm_80`) is split off: it is an argument of its own of `wg.load`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ..errors import ArgumentError

_OPTION, _SHORT = OPTIONS = ("--compiler-option", "-X")
CompilerOption = Annotated[
    list[str] | None,
    typer.Option(
        _OPTION,
        _SHORT,
        metavar="FLAG",
        help="A flag of the compiler. -D NAME=VALUE, -I FOLDER, -std=c++20, --use_fast_math, "
        "-maxrregcount=N, -arch=sm_80, -G and the like also stand for themselves.",
    ),
]
# Flags with a value, which may be the next word; the second ones are joined to it by "=".
_ATTACHED = ("-D", "-U", "-I")
_VALUED = (
    *("--define-macro", "--undefine-macro", "--include-path", "-include", "--pre-include", "-std", "--std"),
    *("-maxrregcount", "--maxrregcount", "-arch", "--gpu-architecture"),
)
_FLAG = re.compile(
    r"-[DUI].+|-(?:G|O[0-3]|lineinfo|w|restrict|extra-device-vectorization)|--(?:device-debug|restrict|"
    r"generate-line-info|extra-device-vectorization|disable-warnings|device-int128|extended-lambda|"
    r"expt-relaxed-constexpr)|--?use_fast_math|--?(?:fmad|ftz|prec-div|prec-sqrt|std|maxrregcount|"
    r"diag-(?:suppress|error|warn)|dopt)=.+|-?-(?:arch|gpu-architecture|include|pre-include|include-path|"
    r"define-macro|undefine-macro)=.+"
)
_TARGET = re.compile(r"(?:-arch|--gpu-architecture)=(?:sm|compute)_(\d+[af]?)")


class CompilerCommand(TyperCommand):
    """A command that compiles kernels, with the compiler's flags among its own options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse our own words; the compiler's become values of CompilerOption."""
        return super().parse_args(ctx, self.compiler_words(args))

    def ends_ours(self, word: str) -> bool:
        """Whether a word ends what is ours: those behind it belong to a program."""
        return word in ("--", "-m")

    def compiler_words(self, args: Sequence[str]) -> list[str]:
        """The words with the compiler's flags as values of CompilerOption; a program's words stay."""
        valued = {
            name for option in self.params if not getattr(option, "is_flag", True) for name in option.opts
        }
        words, rest = list[str](), list(args)
        while rest:
            word = rest.pop(0)
            if self.ends_ours(word):
                return [*words, word, *rest]
            if word in _ATTACHED and rest:
                words.append(f"{_OPTION}={word}{rest.pop(0)}")
            elif word in _VALUED and rest:
                words.append(f"{_OPTION}={word}={rest.pop(0)}")
            elif _FLAG.fullmatch(word):
                words.append(f"{_OPTION}={word}")
            else:
                words.append(word)
                if word in valued and rest:
                    words.append(rest.pop(0))
        return words


def split_target(flags: Sequence[str] | None) -> dict[str, Any]:
    """The arguments of `wg.load` that flags stand for."""
    found: dict[str, Any] = {}
    options = list[str]()
    for flag in flags or ():
        match = _TARGET.fullmatch(flag)
        if match:
            found["target"] = f"sm_{match[1]}"
        else:
            options.append(flag)
    return {**found, "options": tuple(options)}


def ladder_options(flags: Sequence[str] | None) -> tuple[str, ...]:
    """The compiler's options for the rungs of a ladder, whose target is fixed."""
    found = split_target(flags)
    if "target" in found:
        raise ArgumentError("-arch: the rungs of a ladder are compiled for sm_90")
    return found["options"]
