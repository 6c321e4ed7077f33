"""What `prog.cu more.cu -O3 -lm -- 1000` asks for: sources, flags of nvcc, and the program's own arguments.

Belongs here: telling the three apart, and the flags that we answer ourselves. The program is for our runtime,
linked as a library, and for PTX of one architecture: the newest that was asked for and that the GPU takes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import ArgumentError
from .targets import SOURCES

_OBJECTS = (".o", ".obj", ".a", ".so")
_END = "--"
# Options with a value that may be the next word.
_VALUED = frozenset(
    "-I -D -U -L -l -x -std -include -isystem -Xcompiler -Xptxas -Xlinker -Xcudafe -Xnvlink -Xarchive -arch "
    "-gencode -code -o -maxrregcount -O -m -rdc -cudart -cudadevrt -ccbin -default-stream -diag-suppress "
    "-diag-warn -diag-error -ftz -prec-div -prec-sqrt -fmad -t -dopt --include-path --define-macro "
    "--undefine-macro --library-path --library --std --pre-include --system-include --compiler-options "
    "--ptxas-options --linker-options --nvlink-options --gpu-architecture --generate-code --gpu-code "
    "--output-file --maxrregcount --optimize --machine --relocatable-device-code --cudart --cudadevrt "
    "--compiler-bindir --default-stream --diag-suppress --diag-warn --diag-error --threads --ftz --prec-div "
    "--prec-sqrt --fmad --dopt --x".split()
)
_ARCHITECTURE = re.compile(r"(?:sm|compute|lto)_(\d+)")
_ARCHITECTURE_FLAGS = frozenset("-arch -gencode -code --gpu-architecture --generate-code --gpu-code".split())
_OURS = frozenset("-cudart --cudart -cudadevrt --cudadevrt -run --run -c --compile -dc -t --threads".split())
_OUTPUT = frozenset(("-o", "--output-file"))
_LINKING = ("-L", "-l", "-Xlinker", "--library", "--linker-options")
_RUNTIMES = re.compile(r"(?:cudart|cudart_static|cudadevrt)")
_OLDEST = 75  # what nvcc 13 compiles for


@dataclass(frozen=True, slots=True)
class Build:
    """Files and flags of a program, and the file that `-o` asks for.

    `flags` go to each compilation, `link` to the linker, both as nvcc takes them; `architecture` is that of
    the PTX, 90 for instance.
    """

    sources: tuple[Path, ...]
    objects: tuple[Path, ...]
    flags: tuple[str, ...]
    link: tuple[str, ...]
    architecture: int
    output: Path | None
    separate: bool

    @property
    def name(self) -> Path:
        """What the program takes itself to be: beside its first source."""
        return self.output or self.sources[0].with_suffix("")


def read(words: Sequence[str], capability: tuple[int, int]) -> tuple[Build, tuple[str, ...]]:
    """The build and the program's arguments; `capability` is the GPU's. Raises ArgumentError."""
    end = words.index(_END) if _END in words else len(words)
    own, arguments = list(words[:end]), tuple(words[end + 1 :])
    files: list[Path] = []
    given: list[tuple[str, str | None]] = []  # a flag, and the value that is a word of its own
    while own:
        word = own.pop(0)
        if word.startswith("-") and len(word) > 1:
            given.append((word, own.pop(0) if word in _VALUED and own else None))
        else:
            files.append(_file(word, words[0]))
    return _build(files, given, capability), arguments


def _file(word: str, program: str) -> Path:
    path = Path(word)
    if path.suffix.lower() not in (*SOURCES, *_OBJECTS):
        raise ArgumentError(
            f"{word!r} is neither a source file nor a flag of the compiler; what the program itself gets "
            f"follows --: warpglass run {program} -- {word}"
        )
    if not path.is_file():
        raise ArgumentError(f"no file {word}")
    return path


def _build(
    files: Sequence[Path], given: Sequence[tuple[str, str | None]], capability: tuple[int, int]
) -> Build:
    flags, link = list[str](), list[str]()
    architectures = list[int]()
    output, separate = None, False
    for word, value in given:
        name, _, joined = word.partition("=")
        text = joined if value is None else value
        if name in _ARCHITECTURE_FLAGS:
            architectures += map(int, _ARCHITECTURE.findall(text))
        elif name in _OUTPUT:
            output = Path(text)
        elif name in ("-rdc", "--relocatable-device-code"):
            separate = text == "true"
        elif name in ("-dc", "--device-c"):
            separate = True
        elif name not in _OURS and not _is_runtime(word, value):
            whole = [word] if value is None else [word, value]
            (link if name.startswith(_LINKING) else flags).extend(whole)
    newest = capability[0] * 10 + capability[1]
    wanted = max((one for one in architectures if one <= newest), default=newest)
    return Build(
        sources=tuple(path for path in files if path.suffix.lower() in SOURCES),
        objects=tuple(path for path in files if path.suffix.lower() in _OBJECTS),
        flags=tuple(flags),
        link=tuple(link),
        architecture=max(wanted, _OLDEST),
        output=output,
        separate=separate,
    )


def _is_runtime(word: str, value: str | None) -> bool:
    """Whether a flag names a library of NVIDIA's that we bring."""
    for option in ("-l", "--library="):
        name = word.removeprefix(option) if word.startswith(option) else None
        if name is not None:
            return _RUNTIMES.fullmatch(name or value or "") is not None
    return False
