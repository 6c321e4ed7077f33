"""What a C++ compiler knows of a kernel's parameters and of a file's variables: their types.

Belongs here: text that is compiled behind the author's (`text_of`), the answers, which the compiler leaves in
the PTX as the initial bytes of variables of ours, and their removal (`answers`). Typedefs, macros, templates
and `extern "C"` are all the compiler's business then. A question that it refuses is left out (`without`); its
line tells which, because each has one of its own in a file named FILE.

An answer is a list of records: the size in bytes of what a pointer points to, else of the type; whether that
is an enumeration of signed (1) or unsigned (2) numbers; the type's name as __PRETTY_FUNCTION__ spells it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from .compiled import CType
from .cpp_types import parameter_type, variable_type

FILE = "<warpglass>"
_NAME = 400  # bytes of a type's name; a longer one is cut and thereby unknown
_RECORD = 16 + _NAME
_PREFIX = "__warpglass_"
# Every line is in use before the questions; the compilers' front end refuses functions of no execution space.
_PREAMBLE = f"""
namespace __warpglass {{
struct __record {{ unsigned long long __size; unsigned long long __enumeration; char __name[{_NAME}]; }};
template <class __T> struct __pointee {{ using __type = __T; }};
template <class __T> struct __pointee<__T *> {{ using __type = __T; }};
template <class __T> struct __element {{ using __type = __T; }};
template <class __T, decltype(sizeof(0)) __N> struct __element<__T[__N]> : __element<__T> {{}};
template <class __T, bool __is> struct __numbers {{ enum {{ __value = 0 }}; }};
template <class __T> struct __numbers<__T, true> {{
    using __number = __underlying_type(__T);
    enum {{ __value = static_cast<__number>(-1) < static_cast<__number>(0) ? 1 : 2 }}; }};
template <class __T, class = void> struct __complete {{ enum : unsigned long long {{ __size = 0 }}; }};
template <class __T> struct __complete<__T, decltype(void(sizeof(__T)))> {{
    enum : unsigned long long {{ __size = sizeof(__T) }}; }};
template <class __T> __device__ constexpr __record __describe() {{
    using __bare = typename __element<typename __pointee<__T>::__type>::__type;
    __record __r = {{__complete<__bare>::__size, __numbers<__bare, __is_enum(__bare)>::__value, {{}}}};
    const char *__text = __PRETTY_FUNCTION__;
    for (int __i = 0; __i < {_NAME} && __text[__i]; ++__i) __r.__name[__i] = __text[__i];
    return __r; }}
template <int __N> struct __list {{ __record __of[__N]; }};
template <class... __P> __device__ constexpr __list<sizeof...(__P)> __parameters(void (*)(__P...)) {{
    return {{{{__describe<__P>()...}}}}; }}
template <class... __P> __device__ constexpr int __count(void (*)(__P...)) {{ return sizeof...(__P); }}
}}
""".replace("\n    ", " ").strip()
_VARIABLE = re.compile(rf"^[^\n;]*\.b8 (\w*{_PREFIX}(\w+?))\[\d+\] = \{{([^}}]*)\}};\n?", re.MULTILINE)
_SPELLED = re.compile(r"\[with __T = (.*)\]\0*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask of the compiler: the parameters of a kernel, or the type of a variable, by C++ name."""

    name: str
    is_kernel: bool

    def line(self, number: int) -> str:
        """The question as C++; it takes one line."""
        place = "__device__ __attribute__((used)) __warpglass::"
        if not self.is_kernel:
            return f"{place}__record {_PREFIX}{number} = __warpglass::__describe<decltype(::{self.name})>();"
        function = f"decltype(&{self.name})(nullptr)"
        return (
            f"{place}__list<__warpglass::__count({function})> {_PREFIX}{number} = "
            f"__warpglass::__parameters({function});"
        )


@dataclass(frozen=True, slots=True)
class Record:
    """One type of an answer: its name, its size in bytes, the sign of an enumeration's numbers."""

    text: str
    size: int
    enumeration: str

    def parameter(self) -> CType:
        """The type of a parameter."""
        return parameter_type(self.text, self.size, self.enumeration)

    def variable(self) -> tuple[CType, tuple[int, ...]]:
        """The element type and the extents of a variable."""
        return variable_type(self.text, self.size, self.enumeration)


def text_of(questions: Sequence[Question]) -> str:
    """What to compile behind the author's text."""
    if not questions:
        return ""
    lines = [question.line(number) for number, question in enumerate(questions)]
    return f'\n#line 1 "{FILE}"\n' + "\n".join([*_PREAMBLE.splitlines(), *lines]) + "\n"


def without(questions: Sequence[Question], refused: Collection[int]) -> tuple[Question, ...]:
    """The questions that were not refused on these lines; none if what they all need was refused."""
    before = len(_PREAMBLE.splitlines())
    if not all(before < line <= before + len(questions) for line in refused):
        return ()
    return tuple(one for number, one in enumerate(questions) if number + before + 1 not in refused)


def answers(ptx: str, questions: Sequence[Question]) -> tuple[str, Mapping[Question, tuple[Record, ...]]]:
    """The PTX without our variables, and the types that they tell."""
    found: dict[Question, tuple[Record, ...]] = {}
    if not questions:
        return ptx, found
    for match in _VARIABLE.finditer(ptx):
        content = bytes(map(int, match[3].split(",")))
        records = (content[at : at + _RECORD] for at in range(0, len(content), _RECORD))
        found[questions[int(match[2])]] = tuple(map(_read, records))
    for one in questions:
        found.setdefault(one, ())
    return _VARIABLE.sub("", ptx), found


def _read(record: bytes) -> Record:
    size, enumeration = (int.from_bytes(record[at : at + 8], "little") for at in (0, 8))
    spelled = record[16:].decode(errors="replace")
    named = _SPELLED.search(spelled)
    return Record(named[1].replace("__nv_bool", "bool") if named else "?", size, ("", "i", "u")[enumeration])
