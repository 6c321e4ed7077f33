"""Broken PTX by number: texts that kernels are made of, with some tokens changed, and a launch of the result.

Most mutations are small, so that the parser, the analyses, code generation and the running kernel all get
their share. `attempt(number)` is what watched.py tries.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from functools import cache
from pathlib import Path

import numpy as np

from tests.engines import CPU_ENGINES, engine_mode
from tests.generators.kernels import random_kernel
from tests.isa.answer_forms import Form, all_forms
from tests.isa.answer_kernels import build
from warpglass import lab, ptx
from warpglass.engine.launch.backend import Launch
from warpglass.errors import WarpglassError
from warpglass.ptx.tree import Variable
from warpglass.source import shipped
from warpglass.source.compiled import Compiled

_TESTS = Path(__file__).parents[1]
_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|0[fFdD][0-9a-fA-F]+|[\w.%$]+|\s+|.", re.DOTALL)
_LONGEST = 9000  # characters of a text: what takes long to compile is tried seldom anyway
_PLACELESS = re.compile(r"\n[^\n]*\.loc[^\n]*@[^\n]*")  # lines of shipped kernels whose files are not known
_SHIPPED = 8  # one of so many shipped kernels: they are alike
_NUMBERS = ("0", "1", "-1", "2", "3", "7", "32", "33", "255", "4096", "65536", "2147483648", "4294967296")
_NUMBERS += ("-2147483649", "9223372036854775808", "18446744073709551616", "0x7fffffff", "1e9", "0f7FC00000")
_TYPES = ".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f32 .f64 .pred .f16x2".split()
_BUFFER = 1 << 17  # bytes behind every pointer


@cache
def corpus() -> tuple[str, ...]:
    """Texts that run: files of the tests, shipped kernels, random kernels, and instruction forms."""
    files = [path.read_text(encoding="utf-8") for path in sorted(_TESTS.rglob("*.ptx"))]
    for archive in shipped.archives():
        entries = json.loads(gzip.decompress(archive.read_bytes()))
        files += [_PLACELESS.sub("", entries[key]["ptx"]) for key in sorted(entries)[::_SHIPPED]]
    forms = all_forms()
    spaced: dict[object, list[Form]] = {}
    for form in forms:
        spaced.setdefault((form.space, form.in_warp), []).append(form)
    for alike in spaced.values():
        files += [build(alike[k : k + 6]).text for k in range(0, len(alike), 24)]
    files += [random_kernel(seed, size=6).text for seed in range(40)]
    return tuple(text for text in files if len(text) < _LONGEST)


@cache
def _words() -> tuple[str, ...]:
    """Tokens of all texts, the rare ones as likely as the frequent."""
    return tuple(
        sorted({token for text in corpus() for token in _TOKEN.findall(text) if not token.isspace()})
    )


def text_of(number: int) -> str:
    """The text of a number."""
    rng = random.Random(number)
    tokens = _TOKEN.findall(rng.choice(corpus()))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        tokens = _mutate(tokens, rng)
    return "".join(tokens)


def _mutate(tokens: list[str], rng: random.Random) -> list[str]:
    solid = [k for k, token in enumerate(tokens) if not token.isspace()]
    if not solid:
        return tokens
    k = rng.choice(solid)
    way = rng.random()
    if way < 0.14:
        return tokens[:k] + tokens[k + 1 :]
    if way < 0.22:
        return tokens[: k + 1] + tokens[k:]
    if way < 0.30:
        other = rng.choice(solid)
        tokens = tokens.copy()
        tokens[k], tokens[other] = tokens[other], tokens[k]
        return tokens
    if way < 0.42:
        return [*tokens[:k], rng.choice(_words()), *tokens[k + 1 :]]
    if way < 0.46:
        return tokens[:k]
    if way < 0.52:
        donor = _TOKEN.findall(rng.choice(corpus()))
        first = rng.randrange(len(donor))
        return tokens[:k] + donor[first : first + rng.randrange(1, 40)] + tokens[k:]
    if way < 0.60:
        return _without_statement(tokens, k, rng)
    return _similar(tokens, solid, rng)


def _without_statement(tokens: list[str], k: int, rng: random.Random) -> list[str]:
    """A whole statement left out, or said again elsewhere."""
    ends = [0, *(j + 1 for j, token in enumerate(tokens) if token in ";{}")]
    first = max(end for end in ends if end <= k)
    last = min((end for end in ends if end > k), default=len(tokens))
    if rng.random() < 0.6:
        return tokens[:first] + tokens[last:]
    where = rng.choice(ends)
    return tokens[:where] + tokens[first:last] + tokens[where:]


_REGISTER = re.compile(r"%[a-z]+\d+$")
_NUMBER = re.compile(r"-?\d|0[fFdD]")


def _similar(tokens: list[str], solid: list[int], rng: random.Random) -> list[str]:
    """A register, number, type or opcode in place of another: mostly still grammatical."""
    kind = rng.choice(("register", "number", "modifier", "opcode"))
    tests = {
        "register": lambda token: bool(_REGISTER.match(token)),
        "number": lambda token: bool(_NUMBER.match(token)),
        "modifier": lambda token: "." in token and token[0] != ".",
        "opcode": lambda token: "." in token and token[0].isalpha(),
    }
    places = [k for k in solid if tests[kind](tokens[k])]
    if not places:
        return tokens
    k = rng.choice(places)
    tokens = tokens.copy()
    if kind == "register":
        tokens[k] = tokens[rng.choice(places)]
    elif kind == "number":
        tokens[k] = rng.choice(_NUMBERS) if rng.random() < 0.8 else str(rng.randrange(1 << 40))
    elif kind == "opcode":
        head, _, _ = tokens[k].partition(".")
        alike = [word for word in _words() if word.startswith(head + ".")]
        tokens[k] = rng.choice(alike or [tokens[k]])
    else:
        words = tokens[k].split(".")
        place = rng.randrange(1, len(words))
        words[place] = rng.choice(_TYPES)[1:] if rng.random() < 0.6 else rng.choice(words)
        tokens[k] = ".".join(words)
    return tokens


# ---------------------------------------------------------------------------------------- running
def attempt(number: int) -> str:
    """Compile and launch the text of a number on one of the engines; how it ended."""
    rng = random.Random(-number)
    return run_broken(text_of(number), CPU_ENGINES[rng.randrange(2)], block=rng.choice((1, 32, 33, 64)))


def problem(number: int, text: str) -> str | None:
    """How a changed text of a number still ends badly; for shrink.py."""
    rng = random.Random(-number)
    try:
        run_broken(text, CPU_ENGINES[rng.randrange(2)], block=rng.choice((1, 32, 33, 64)))
    except Exception as error:
        return type(error).__name__
    return None


def run_broken(text: str, engine: str, block: int = 33) -> str:
    """Compile and launch every kernel of a text; the name of the error, or "run"."""
    backend = lab.backend("cpu")
    ended = "run"
    try:
        module = ptx.parse(text, "broken.ptx")
        names = [function.name for function in module.functions if function.entry]
        for name in names[:2]:
            function = next(one for one in module.functions if one.name == name)
            args = tuple(_argument(parameter) for parameter in function.parameters)
            with engine_mode(engine):
                backend.run(
                    Launch(Compiled(text, name, name, "ptx"), (2, 1, 1), (block, 1, 1), args, 256, timeout=2)
                )
    except WarpglassError as error:
        ended = type(error).__name__
    finally:
        backend.reset()
    return ended


def _argument(parameter: Variable) -> object:
    if parameter.shape:
        size = np.prod(parameter.shape, dtype=object) * max(1, int(parameter.type[1:]) // 8)
        return bytes(min(size, 4096))
    if parameter.type in ("u64", "b64", "s64"):
        return np.zeros(_BUFFER, np.uint8)
    return 3.0 if parameter.type[0] == "f" else 5
