"""Loads and stores (PTX manual, "ld", "ld.global.nc", "st").

A narrow load into a wider register is zero-extended, or sign-extended for `.s` types; a store writes the
low part of a wider register. Both happen in the meaning: the address operand is a 64-bit value.
"""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, row
from .types import LLVM_TYPE, MEMORY

V = TypeVar("V")

_SPACES = "global shared shared::cta local const"
_COMMON = "global shared shared::cta"  # what threads share: only here are accesses volatile or ordered
_WRITABLE = "global shared shared::cta local"
_SCOPES = "cta cluster gpu sys"
_CACHE = "ca cg cs lu cv"
_COUNT = {None: 1, "v2": 2, "v4": 4}


def _strong(m: Match) -> bool:
    """Whether other threads' accesses to the same place are seen in order: volatile, relaxed, acquire, ..."""
    return m.volatile is not None or m.sem is not None


def space_of(m: Match) -> str:
    """The state space of an access: generic if none is written, without the sub-qualifier."""
    return (m.space or "generic").partition("::")[0]


@row(
    "ld{.weak}{.space}{.cache}{.vec}.type  d*, [a]",
    space=_SPACES,
    cache=_CACHE,
    vec="v2 v4",
    type=MEMORY,
    unit="memory",
)
@row(
    "ld.volatile{.space}{.vec}.type  d*, [a]",
    space=_COMMON,
    vec="v2 v4",
    type=MEMORY,
    unit="memory",
    waits=True,
)
@row(
    "ld.sem.scope{.space}{.cache}{.vec}.type  d*, [a]",
    sem="relaxed acquire",
    scope=_SCOPES,
    space=_COMMON,
    cache=_CACHE,
    vec="v2 v4",
    type=MEMORY,
    unit="memory",
    waits=True,
)
@row("ld.space.nc{.vec}.type  d*, [a]", space="global", vec="v2 v4", type=MEMORY, unit="memory")
def ld(lanes: Lanes[V], m: Match, a: V) -> V | tuple[V, ...]:
    type_ = LLVM_TYPE[m.values["type"]]
    loaded = lanes.load(space_of(m), a, type_, _COUNT[m.vec], volatile=_strong(m))
    return loaded if m.vec else loaded[0]


@row("ld.param{.vec}.type  d*, [a]", vec="v2 v4", type=MEMORY, unit="memory")
def ld_param(lanes: Lanes[V], m: Match, a: V) -> V | tuple[V, ...]:
    loaded = lanes.load("param", a, LLVM_TYPE[m.values["type"]], _COUNT[m.vec], volatile=False)
    return loaded if m.vec else loaded[0]


@row(
    "st{.weak}{.space}{.cache}{.vec}.type  [a], b*",
    space=_WRITABLE,
    cache="wb cg cs wt",
    vec="v2 v4",
    type=MEMORY,
    unit="memory",
)
@row(
    "st.sem.scope{.space}{.cache}{.vec}.type  [a], b*",
    sem="relaxed release",
    scope=_SCOPES,
    space=_COMMON,
    cache="wb cg cs wt",
    vec="v2 v4",
    type=MEMORY,
    unit="memory",
)
@row("st.volatile{.space}{.vec}.type  [a], b*", space=_COMMON, vec="v2 v4", type=MEMORY, unit="memory")
def st(lanes: Lanes[V], m: Match, a: V, b: V | tuple[V, ...]) -> None:
    values = b if isinstance(b, tuple) else (b,)
    lanes.store(space_of(m), a, values, volatile=_strong(m))
