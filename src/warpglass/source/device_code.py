"""The device code of a CUDA C++ program, for NVRTC where no host compiler can read the whole.

Belongs here: which parts of a text are host code. Functions that are neither __global__ nor __device__ are,
and what the compiler refuses outside of device functions. They are blanked, so that lines keep their numbers;
a header that only a host has counts as empty. It is a guess, made when NVRTC has refused the whole: what
remains wrong after it is the compiler's to say.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from .cpp_text import without_noise

_DEVICE = re.compile(r"\b__(?:global|device|constant|managed|shared)__\b|\bconstexpr\b")
_ANNOTATED_LAMBDA = re.compile(r"(?<=\])\s*(?:__(?:host|device)__\s*)+(?=[({])")  # which only nvcc takes
_OPENS = re.compile(r"\b(?:inline\s+)?namespace\b[^;{()]*$|\bextern\s*$")
_TYPE = re.compile(
    r"^\s*(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:struct|class|union|enum)\b[^()]*$", re.DOTALL
)
# Headers of the host. Some have parts that device code uses too, under the names of CUDA's own.
_CUDA_STD = "#include <cuda/std/{0}>\nnamespace std {{ using namespace cuda::std; }}\n"
_EMPTY = (
    "alloca.h complex.h ctype.h errno.h fcntl.h fenv.h getopt.h inttypes.h libgen.h locale.h malloc.h "
    "memory.h omp.h pthread.h setjmp.h signal.h stdbool.h stdlib.h string.h strings.h sys/resource.h "
    "sys/stat.h sys/time.h sys/timeb.h sys/types.h time.h unistd.h wchar.h atomic bitset cctype cerrno "
    "chrono cinttypes clocale condition_variable csetjmp csignal cstdarg cstdlib cstring ctime deque "
    "exception filesystem forward_list fstream future iomanip ios iosfwd iostream istream list locale "
    "map memory mutex new optional ostream queue random regex set shared_mutex sstream stack stdexcept "
    "streambuf string string_view thread typeindex typeinfo unordered_map unordered_set valarray vector "
    "cublas_v2.h cublas.h cufft.h curand.h cusolverDn.h cusparse.h nvml.h mpi.h cuda_profiler_api.h "
    "nvToolsExt.h cuda.h"
)
_SHARED = "array complex functional initializer_list iterator numeric tuple"
_ALGORITHM = """#pragma once
#include <cuda/std/utility>
namespace std {
using namespace cuda::std;
template <class T> __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __device__ constexpr const T &clamp(const T &x, const T &a, const T &b) {
    return x < a ? a : b < x ? b : x; }
}
"""
STAND_INS = {
    **dict.fromkeys(_EMPTY.split(), "#include <stdint.h>\n"),  # which comes with most of them
    "algorithm": _ALGORITHM,
    **{name: _CUDA_STD.format(name) for name in _SHARED.split()},
}
_HOST_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[^\n]*__(?:device|global)__", re.MULTILINE)


def device_only(text: str, refused: Collection[int]) -> str:
    """The text without its host functions, and without the declarations on lines that were refused."""
    clean = without_noise(text)
    marks = set(_HOST_MACRO.findall(text))
    parts, end = list[str](), 0
    for start, body, stop in _declarations(clean):
        first = start + len(clean[start:stop]) - len(clean[start:stop].lstrip())
        head = clean[first : body if body >= 0 else stop]
        device = bool(_DEVICE.search(head)) or not marks.isdisjoint(re.findall(r"\w+", head))
        function = body >= 0 and "(" in head and "=" not in head.partition("(")[0] and not _TYPE.match(head)
        lines = range(text.count("\n", 0, first) + 1, text.count("\n", 0, stop) + 2)
        if not device and (function or any(line in lines for line in refused)):
            parts += text[end:first], re.sub(r"[^\n]", " ", text[first:stop])
            end = stop
    return _ANNOTATED_LAMBDA.sub(_blanks, "".join([*parts, text[end:]]))


def _blanks(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _declarations(clean: str) -> Iterator[tuple[int, int, int]]:
    """Start, opening brace (-1: none) and end of everything declared at namespace scope."""
    start, position = 0, 0
    while position < len(clean):
        found = re.compile(r"[;{}]").search(clean, position)
        if found is None:
            return
        position = found.end()
        if found[0] == "{":
            if not _OPENS.search(clean[start : found.start()]):
                stop = _closing(clean, position)
                tail = re.compile(r"[\w\s*,\[\]]*;").match(clean, stop)  # } name;
                whole = tail.end() if tail and _TYPE.match(clean[start : found.start()]) else stop
                yield start, found.start(), whole
                position = whole
        elif found[0] == ";":
            yield start, -1, position
        start = position


def _closing(clean: str, opening: int) -> int:
    depth = 1
    for found in re.compile(r"[{}]").finditer(clean, opening):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    return len(clean)
