"""What can be read off CUDA C++ text without a compiler: its kernels and their parameters' names.

Belongs here: a scan of the text, good enough for messages and argument names; never an authority (macros are
not expanded). Whoever uses it must be content with "not found". The scan blanks comments and literals,
tracks namespaces by their braces, and reads the parameter list that follows `__global__ ... name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NOISE = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|R\"([^(\s\\]{0,16})\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"\bnamespace\b[^;{]*\{|\{|\}|\b__(?:global|constant|device|managed)__\b")
_ATTRIBUTE = re.compile(
    r"\s*(?:\b(?:__launch_bounds__|__cluster_dims__|__maxnreg__|__block_size__|alignas|__attribute__|__declspec)\b"
    r"\s*(?=\()|\[\[.*?\]\])",
    re.DOTALL,
)
_ATTRIBUTED = re.compile(r"\b(?:alignas|__align__|__attribute__|__declspec)\s*\((?:[^()]|\([^()]*\))*\)")
_TEMPLATE_BEFORE = re.compile(r"\btemplate\s*<[^;{}]*>[^;{}()]*$", re.DOTALL)
_SCALAR_WORDS = frozenset(
    re.findall(
        r"\w+",
        "const volatile signed unsigned char short int long float double bool size_t ssize_t ptrdiff_t half "
        "__half __nv_bfloat16 int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uint ushort "
        "uchar ulong __grid_constant__ std cuda",
    )
)
_NOT_NAMES = _SCALAR_WORDS | {"__restrict__", "__restrict", "restrict", "struct", "class", "enum", "typename"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its name ("" if it has none), whether it is a pointer (None: cannot tell), its type.

    `type` is as written, without the name; "" where that cannot be told.
    """

    name: str
    pointer: bool | None
    type: str = ""

    def __str__(self) -> str:
        """The parameter as C++ writes it, without what only the compiler wants to know."""
        kind = re.sub(r"\s*\b__restrict(?:__)?\b\s*", " ", self.type).strip()
        kind = re.sub(r"\s*([*&]+)$", r" \1", kind)
        return f"{kind}{'' if kind.endswith(('*', '&')) or not kind else ' '}{self.name}" or "..."


@dataclass(frozen=True, slots=True)
class KernelDeclaration:
    """One `__global__` function; `name` carries its namespaces, `parameters` is None if unreadable."""

    name: str
    template: bool
    line: int
    parameters: tuple[Parameter, ...] | None


def find_kernels(*texts: str) -> tuple[KernelDeclaration, ...]:
    """Return the kernels that the texts declare, in order; a declaration and its definition count once."""
    found: dict[tuple[str, tuple[Parameter, ...] | None], KernelDeclaration] = {}
    for clean, word, place, scopes in _declarations(texts):
        if word == "__global__" and (kernel := _read_kernel(clean, place[0], place[1], scopes)):
            found.setdefault((kernel.name, kernel.parameters), kernel)
    return tuple(found.values())


def find_variables(*texts: str) -> tuple[str, ...]:
    """Return the names, with namespaces, of what may be variables in constant or device memory."""
    found = dict[str, None]()
    for clean, word, place, scopes in _declarations(texts):
        if word == "__global__":
            continue
        declared = _ATTRIBUTED.sub(" ", re.split(r"[;{=]", clean[place[1] :], maxsplit=1)[0])
        if "(" in declared or ")" in declared:
            continue  # a function
        for part in _split(declared):
            words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", " ", _without_templates(part)))
            if words:
                found["::".join([*filter(None, scopes), words[-1]])] = None
    return tuple(found)


def _declarations(texts: Sequence[str]) -> Iterator[tuple[str, str, tuple[int, int], list[str]]]:
    """Every execution or memory space in the texts: text without comments, word, place, namespaces."""
    for text in texts:
        clean = _NOISE.sub(_blank, text)
        scopes: list[str] = []
        for token in _TOKEN.finditer(clean):
            word = token.group()
            if word == "}":
                if scopes:
                    scopes.pop()
            elif not word.startswith("__"):
                scopes.append(re.sub(r"\b(?:namespace|inline)\b|[\s{]|\[\[.*?\]\]", "", word))
            else:
                yield clean, word, token.span(), scopes


def without_noise(text: str) -> str:
    """The text with blanks for comments, literals and directives; lines and columns stay."""
    return _NOISE.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _read_kernel(clean: str, start: int, position: int, scopes: list[str]) -> KernelDeclaration | None:
    """Read `... name(parameters)` after `__global__`; None if no name stands there (a macro's body)."""
    while opening := clean.find("(", position) + 1:
        head = clean[position : opening - 1]
        if _ATTRIBUTE.search(head + "("):
            position = _closing(clean, opening)
            continue
        words = re.findall(r"[A-Za-z_]\w*", head)
        if not words or ";" in head or "{" in head:
            return None
        body = clean[opening : _closing(clean, opening) - 1]
        before = clean[max(0, start - 2000) : start]
        return KernelDeclaration(
            name="::".join([*filter(None, scopes), words[-1]]),
            template=_TEMPLATE_BEFORE.search(before) is not None,
            line=clean.count("\n", 0, opening) + 1,
            parameters=_read_parameters(body),
        )
    return None


def _closing(clean: str, opening: int) -> int:
    """Return the position behind the bracket that closes the one just before `opening`."""
    depth = 1
    for position in range(opening, len(clean)):
        depth += (clean[position] in "([{") - (clean[position] in ")]}")
        if depth == 0:
            return position + 1
    return len(clean)


def _read_parameters(body: str) -> tuple[Parameter, ...] | None:
    if body.strip() in ("", "void"):
        return ()
    if "..." in body:
        return None  # a parameter pack
    return tuple(_read_parameter(part) for part in _split(body))


def _split(body: str) -> list[str]:
    """Split at the commas outside all brackets; `<` and `>` count as brackets."""
    parts, depth, begin = list[str](), 0, 0
    for position, character in enumerate(body):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and body[position - 1] not in "-="):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(body[begin:position])
            begin = position + 1
    return [*parts, body[begin:]]


def _read_parameter(part: str) -> Parameter:
    declared = re.split(r"(?<![<>=!])=(?!=)", part)[0]
    inner = re.search(r"\(\s*[*&]\s*(?:\w+\s+)*?([A-Za-z_]\w*)?\s*(?:\[[^\]]*\]\s*)*\)", declared)
    if inner:  # T (*name)[4], R (*name)(int)
        return Parameter(inner.group(1) or "", True)
    outer = _without_templates(declared)
    pointer = "*" in outer or "&" in outer or "[" in outer
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", outer))
    named = len(words) > 1 or (pointer and words)
    name = words[-1] if named and words[-1] not in _NOT_NAMES else ""
    kind = words[:-1] if name else words
    scalar = False if _SCALAR_WORDS.issuperset(kind) else None
    whole = " ".join(re.sub(rf"\b{name}\b(?=[^\w]*$)", " ", declared).split()) if name else ""
    return Parameter(name, True if pointer else scalar, re.sub(r"\s*\[\]$", " *", whole))


def _without_templates(text: str) -> str:
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"<[^<>]*>", " ", text)
    return text
