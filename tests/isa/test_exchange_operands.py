"""shfl, vote, match and redux with operands known at run time only, in groups of lanes with their own masks.

The lanes of a warp fall into groups at random. Every instruction is executed by all groups together, each
lane with its group's mask, and by each group in a branch of its own. What a shuffle takes from a lane outside
the group is undefined, and not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.ptx_text import kernel

BLOCK = 64
GROUPS = 3
_WORD = 0xFFFFFFFF

# A form with the registers it is given (a %r1, b %r2, c %r3, mask %r4, predicate %p1) and its two results.
_FORMS = {
    **{f"shfl.{mode}": f"shfl.sync.{mode}.b32 %r5|%p2, %r1, %r2, %r3, %r4;" for mode in ("up", "down")},
    **{f"shfl.{mode}": f"shfl.sync.{mode}.b32 %r5|%p2, %r1, %r2, %r3, %r4;" for mode in ("bfly", "idx")},
    "ballot": "vote.sync.ballot.b32 %r5, %p1, %r4;",
    **{vote: f"vote.sync.{vote}.pred %p2, %p1, %r4;" for vote in ("all", "any", "uni")},
    "match.any": "match.any.sync.b32 %r5, %r3, %r4;",
    "match.any.b64": "mov.b64 %rd9, {%r3, %r3}; match.any.sync.b64 %r5, %rd9, %r4;",
    "match.all": "match.all.sync.b32 %r5|%p2, %r3, %r4;",
    **{f"redux.{op}.u32": f"redux.sync.{op}.u32 %r5, %r1, %r4;" for op in ("add", "min", "max")},
    **{f"redux.{op}.s32": f"redux.sync.{op}.s32 %r5, %r1, %r4;" for op in ("add", "min", "max")},
    **{f"redux.{op}.b32": f"redux.sync.{op}.b32 %r5, %r1, %r4;" for op in ("and", "or", "xor")},
}
_REDUCTIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}

Result = tuple[int | None, int]  # the value, None where undefined, and the predicate


def _shuffle(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane that is read, and whether it is in range (PTX manual, "shfl.sync", semantics)."""
    b_value, c_value, segment = b & 31, c & 31, c >> 8 & 31
    most, least = lane & segment | c_value & ~segment, lane & segment
    j = {"up": lane - b_value, "down": lane + b_value, "bfly": lane ^ b_value}.get(
        mode, least | b_value & ~segment
    )
    inside = j >= most if mode == "up" else j <= most
    return (j if inside else lane), inside


def _expected(form: str, rows: np.ndarray, group: list[int]) -> dict[int, Result]:
    """Results by lane; `rows` are a, b, c and the predicate of each lane."""
    kind, _, rest = form.partition(".")
    a, b, c, p = ([int(value) for value in rows[:, k]] for k in range(4))
    found: dict[int, Result] = {}
    for lane in group:
        held = [other for other in group if p[other] & 1]
        same = [other for other in group if c[other] == c[lane]]
        value: int | None = 0
        truth = 0
        if kind == "shfl":
            source, inside = _shuffle(rest, lane, b[lane], c[lane])
            value, truth = a[source] if source in group else None, int(inside)
        elif kind == "ballot":
            value = sum(1 << other for other in held)
        elif kind in ("all", "any", "uni"):
            truth = int({"all": held == group, "any": bool(held), "uni": held in ([], group)}[kind])
        elif kind == "match":
            everyone = rest == "all"
            truth = int(everyone and same == group)
            value = sum(1 << other for other in same) if not everyone or truth else 0
        else:
            operation, type_ = rest.split(".")
            signed = [a[k] - (1 << 32 if type_ == "s32" and a[k] >> 31 else 0) for k in group]
            value = reduce(_REDUCTIONS[operation], signed) & _WORD
        found[lane] = (value, truth)
    return found


def _kernel(form: str) -> str:
    """Both ways of executing a form, one result after the other."""
    store = (
        "selp.b32 %r6, 1, 0, %p2; st.global.u32 [%rd4+{0}], %r5; st.global.u32 [%rd4+{1}], %r6; "
        "mov.u32 %r5, 0; setp.ne.u32 %p2, %r5, 0;"
    )
    branches = "\n".join(
        f"setp.ne.u32 %p3, %r7, {group}; @%p3 bra NEXT{group}; {_FORMS[form]}\nNEXT{group}:"
        for group in range(GROUPS)
    )
    return kernel(
        f"""
        ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r8, %tid.x;
        mad.wide.u32 %rd3, %r8, 24, %rd1; mad.wide.u32 %rd4, %r8, 16, %rd2;
        ld.global.u32 %r1, [%rd3]; ld.global.u32 %r2, [%rd3+4]; ld.global.u32 %r3, [%rd3+8];
        ld.global.u32 %r9, [%rd3+12]; ld.global.u32 %r4, [%rd3+16]; ld.global.u32 %r7, [%rd3+20];
        and.b32 %r9, %r9, 1; setp.ne.u32 %p1, %r9, 0; mov.u32 %r5, 0; setp.ne.u32 %p2, %r5, 0;
        {_FORMS[form]} {store.format(0, 4)}
        {branches}
        {store.format(8, 12)} ret;
        """,
        "u64 in, u64 out",
    )


@pytest.mark.sampled(quick=6)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", _FORMS)
def test_operands_known_at_run_time(form: str, engine: str):
    rng = np.random.default_rng(len(form))
    text = _kernel(form)
    for trial in range(6):
        rows = rng.integers(0, 1 << 32, (BLOCK, 6), np.uint32)
        if form.startswith("match"):  # few values, and sometimes one
            rows[:, 2] = rng.integers(0, 1 + trial, BLOCK)
        elif trial % 2:  # segments as compilers make them
            width = 1 << rng.integers(0, 6, BLOCK)
            rows[:, 2] = (32 - width) << 8 | (0 if form == "shfl.up" else 31)
            rows[:, 1] %= 32
        rows[:, 3] |= np.uint32(trial == 2)
        rows[:, 5] = rng.integers(0, GROUPS, BLOCK)
        groups = [
            [lane for lane in range(first, first + 32) if rows[lane, 5] == group]
            for first in range(0, BLOCK, 32)
            for group in range(GROUPS)
        ]
        for group in groups:
            rows[group, 4] = sum(1 << lane % 32 for lane in group)
        out = np.zeros((BLOCK, 2, 2), np.uint32)
        run_ptx(text, 1, BLOCK, [rows, out], engine=engine)
        for group in filter(None, groups):
            first = group[0] // 32 * 32
            want = _expected(form, rows[first : first + 32], [lane - first for lane in group])
            for lane, (value, truth) in want.items():
                for way in range(2):
                    got = out[first + lane, way].tolist()
                    assert got[1] == truth, f"lane {lane}, way {way}"
                    assert value is None or got[0] == value, f"lane {lane}, way {way}: {got[0]:#x}"
