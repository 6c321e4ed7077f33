"""Atomic operations on memory (PTX manual, "atom", "red").

Active lanes take their turn in lane order, each indivisibly towards other blocks; the elements of a vector
are replaced one by one. `red` is `atom` without a result. Single precision is flushed in global memory and
not in shared memory, as the manual says of the hardware; halves never are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .floating import compute, extreme
from .half import pack, unpack
from .hints import hinted
from .lanes import Lanes, Update
from .memory import COMMON, SCOPES, in_window
from .rounding import FORMATS, flush
from .table import AccessKind, Match, Meaning, add_row
from .types import LLVM_TYPE, integer_of, is_signed

V = TypeVar("V")

_ORDER = {"atom": "relaxed acquire release acq_rel", "red": "relaxed release"}
_HALVES, _PAIRS = "f16 bf16", "f16x2 bf16x2"
# LLVM's name of what it has an instruction for; `min` and `max` of unsigned integers begin with u.
_LLVM = {"and": "and", "or": "or", "xor": "xor", "exch": "xchg", "inc": "uinc_wrap", "dec": "udec_wrap"}
_LLVM |= {"add": "add", "min": "min", "max": "max"}
# Operations with the types that PTX allows for each.
_INTEGER_TYPES = {
    "and or xor exch": "b32 b64",
    "inc dec": "u32",
    "add": "u32 s32 u64",
    "min max": "u32 s32 u64 s64",
}

_LARGE = (127 - 100) << 23  # 2^-100 in single precision


# ---------------------------------------------------------------------------------------- changes
def _add_single(lanes: Lanes[V], old: V, given: V, exact: V) -> V:
    """A sum in single precision; `exact` is not zero where subnormal numbers are kept."""
    a, b = (lanes.bitcast(x, "float") for x in (old, given))
    kept = compute(lanes, "add", None, False, a, b)
    flushed = flush(lanes, compute(lanes, "add", None, True, flush(lanes, a), flush(lanes, b)))
    keeps = lanes.compare("ne", exact, lanes.constant("i32", 0))
    return lanes.bitcast(lanes.select(keeps, kept, flushed), "i32")


def _usual_single(lanes: Lanes[V], old: V, given: V, exact: V) -> tuple[V, V]:
    """The sum if it is large: whatever is subnormal of a pair is then lost in rounding, and NaN it is not."""
    total = lanes.apply("fadd", *(lanes.bitcast(x, "float") for x in (old, given)))
    holds = lanes.compare("oge", lanes.apply("llvm.fabs", total), lanes.constant("float", _LARGE))
    return lanes.bitcast(total, "i32"), holds


def _usual_double(lanes: Lanes[V], old: V, given: V, shared: V) -> tuple[V, V]:
    """The sum unless it is NaN."""
    total = lanes.apply("fadd", *(lanes.bitcast(x, "double") for x in (old, given)))
    return lanes.bitcast(total, "i64"), lanes.compare("ord", total, total)


def _add_double(lanes: Lanes[V], old: V, given: V, shared: V) -> V:
    """A sum in double precision; what NaN becomes depends on whether the memory is shared.

    Global memory's own unit (on an H200) lets a given NaN pass, then an old one, both as they are. In shared
    memory ptxas adds by an instruction, which makes the first of old and given quiet.
    """
    a, b = (lanes.bitcast(x, "double") for x in (old, given))
    total = lanes.bitcast(compute(lanes, "add", None, False, a, b), "i64")
    k = lambda value: lanes.constant("i64", value)  # noqa: E731
    old_nan, given_nan = (
        lanes.compare("ugt", lanes.and_(x, k((1 << 63) - 1)), k(0x7FF << 52)) for x in (old, given)
    )
    passed = lanes.select(given_nan, given, lanes.select(old_nan, old, total))
    quiet = lanes.select(old_nan, old, lanes.select(given_nan, given, total))
    quiet = lanes.select(lanes.or_(old_nan, given_nan), lanes.or_(quiet, k(1 << 51)), quiet)
    return lanes.select(lanes.compare("ne", shared, k(0)), quiet, passed)


def _of_halves(operation: str, name: str) -> Callable[..., Any]:
    """What becomes of a half, or of both halves of a pair."""
    f = FORMATS[name.removesuffix("x2")]

    def one(lanes: Lanes[V], old: V, given: V) -> V:
        a, b = (unpack(lanes, x, f) for x in (old, given))
        result = lanes.add(a, b) if operation == "add" else extreme(lanes, operation, False, a, b)
        return pack(lanes, result, f)

    def both(lanes: Lanes[V], old: V, given: V) -> V:
        halves = zip(lanes.split(old, 2), lanes.split(given, 2), strict=True)
        return lanes.join([one(lanes, *pair) for pair in halves])

    return both if name.endswith("x2") else one


_CHANGES = {
    ("add", "f32"): Update("add_f32", _add_single, usual=_usual_single),
    ("add", "f64"): Update("add_f64", _add_double, usual=_usual_double),
    ("exch", "b128"): Update("exch_b128", lambda lanes, old, new: new),
    ("cas", "b128"): Update(
        "cas_b128",
        lambda lanes, old, expected, new: lanes.select(lanes.compare("eq", old, expected), new, old),
    ),
}
_CHANGES |= {
    (operation, type_): Update(f"{operation}_{type_}", _of_halves(operation, type_))
    for operation in ("add", "min", "max")
    for type_ in f"{_HALVES} {_PAIRS}".split()
}


# ---------------------------------------------------------------------------------------- meanings
def atom(lanes: Lanes[V], m: Match, a: V, b: V | tuple[V, ...], policy: V | None = None) -> V | tuple[V, ...]:
    """The old value; the new one is made of it and b."""
    if isinstance(b, tuple):
        return _replace(lanes, m, a, [(value,) for value in b])
    return _replace(lanes, m, a, [(b,)])[0]


def red(lanes: Lanes[V], m: Match, a: V, b: V | tuple[V, ...], policy: V | None = None) -> None:
    """As atom, without a result."""
    atom(lanes, m, a, b)


def cas(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    """The old value; if it is b, c takes its place."""
    return _replace(lanes, m, a, [(b, c)])[0]


def _replace(lanes: Lanes[V], m: Match, a: V, given: list[tuple[V, ...]]) -> tuple[V, ...]:
    operation, type_, space = m.op or "cas", m.values["type"], m.state_space
    change = _CHANGES.get((operation, type_))
    if change is None:
        unsigned = operation in ("min", "max") and not is_signed(type_)
        name = "cmpxchg" if operation == "cas" else f"{'u' if unsigned else ''}{_LLVM[operation]}"
        return (lanes.atomic(space, name, a, given[0]),)
    llvm_type = LLVM_TYPE[type_]
    whole = integer_of(llvm_type)
    patterns = [tuple(lanes.bitcast(value, whole) for value in values) for values in given]
    if operation == "add" and type_ in ("f32", "f64"):
        patterns = [(*values, _is_shared(lanes, space, a, whole)) for values in patterns]
    return tuple(lanes.bitcast(old, llvm_type) for old in lanes.update(space, change, a, patterns))


def _is_shared(lanes: Lanes[V], space: str, a: V, type_: str) -> V:
    """1 where an address is one of shared memory, else 0."""
    if space != "generic":
        return lanes.constant(type_, int(space == "shared"))
    return lanes.extend(in_window(lanes, "shared", a), type_, signed=False)


def float_sum(type_: str) -> tuple[Update, str]:
    """What a sum in a floating-point type does to an element, and LLVM's type of elements and operands."""
    return _CHANGES["add", type_], integer_of(LLVM_TYPE[type_])


def depends_on_order(m: Match, used: bool) -> bool:
    """Whether what an instruction leaves in memory or returns depends on its turn among other blocks' ones.

    `used` says whether its result is; without it only what is the same in any order does not.
    """
    if not m.row.is_atomic or m.state_space == "shared":
        return False
    return used or not commutes(m)


def commutes(m: Match) -> bool:
    """Whether an instruction is an atomic operation that leaves the same in memory in any order."""
    return (
        m.row.is_atomic
        and m.op in ("add", "min", "max", "and", "or", "xor")
        and (m.op, m.type) not in _CHANGES
    )


def has_instruction(m: Match) -> bool:
    """Whether an instruction is an atomic operation that hosts have, besides the comparing exchange."""
    return m.row.is_atomic and not m.cas and (m.op, m.type) not in _CHANGES


# ---------------------------------------------------------------------------------------- rows
def _add_rows(operations: str, notation: str, *, exchange: bool = False, **choices: str) -> None:
    """`atom` and, unless it is an exchange, `red`; `notation` is what follows sem, scope and space."""
    star = "*" if ".vec" in notation else ""
    kinds: tuple[tuple[str, str, Meaning, AccessKind], ...] = (
        ("atom", f"d{star}, [a], b{star}", atom, "atomic"),
        ("red", f"[a], b{star}", red, "reduction"),
    )
    for opcode, operands, meaning, access in kinds:
        if exchange and opcode == "red":
            continue
        given: dict[str, Any] = {"sem": _ORDER[opcode], "scope": SCOPES, "space": COMMON, **choices}
        given |= {"meaning": meaning, "access": access, "waits": opcode == "atom", "op": operations}
        before, after = notation.split()
        for line in hinted(f"{opcode}{{.sem}}{{.scope}}{{.space}}{before}", after, operands):
            add_row(line, unit="memory", **given)


for _names, _types in _INTEGER_TYPES.items():
    _plain = " ".join(name for name in _names.split() if name != "exch")
    _add_rows(_plain, ".op .type", type=_types)
_add_rows("exch", ".op .type", exchange=True, type="b32 b64 b128")
_add_rows("add", ".op .type", type="f32 f64")
_add_rows("add", ".op.noftz .type", type=f"{_HALVES} {_PAIRS}")
_add_rows("add", ".op .vec.type", vec="v2 v4", type="f32", space="global")
_add_rows("add min max", ".op.noftz .vec.type", vec="v2 v4 v8", type=_HALVES, space="global")
_add_rows("add min max", ".op.noftz .vec.type", vec="v2 v4", type=_PAIRS, space="global")

add_row(
    "atom{.sem}{.scope}{.space}.cas.type  d, [a], b, c",
    sem=_ORDER["atom"],
    scope=SCOPES,
    space=COMMON,
    type="b16 b32 b64 b128",
    unit="memory",
    meaning=cas,
    access="atomic",
    waits=True,
)
