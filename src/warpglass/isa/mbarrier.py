"""Barriers that are objects in shared memory (PTX manual, "mbarrier").

An object is 64 bits, opaque to kernels. Here they are, from the lowest:

    20 bits    arrivals that the current phase still waits for
    20 bits    arrivals that each phase waits for
    22 bits    bytes of asynchronous copies that the phase still waits for, in two's complement
    1 bit      unused
    1 bit      parity of the current phase

The state that an arrival gives is the object before it, so a phase is over when the parity has changed. Each
operation changes the object indivisibly. `try_wait` does not suspend: loops around it are fair
(program/fairness.py), so whoever is waited for runs in the meantime.
"""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes, Update
from .memory import SHARED
from .table import Match, add_row, row

V = TypeVar("V")

_FIELD = 20
_PENDING = (1 << _FIELD) - 1
_EXPECTED = _PENDING << _FIELD
_BYTES_START, _BYTES_WIDTH = 2 * _FIELD, 22
_BYTES = ((1 << _BYTES_WIDTH) - 1) << _BYTES_START
_PARITY = 1 << 63


# ---------------------------------------------------------------------------------------- changes
def _add(lanes: Lanes[V], word: V, field: int, amount: V) -> V:
    """Add to a field, whose mask is given, modulo its width; the amount stands where the field does."""
    inside = lanes.constant("i64", field)
    changed = lanes.and_(lanes.add(word, amount), inside)
    return lanes.or_(lanes.and_(word, lanes.not_(inside)), changed)


def _settle(lanes: Lanes[V], word: V) -> V:
    """Begin the next phase if the current one waits for nothing more."""
    awaited = lanes.and_(word, lanes.constant("i64", _PENDING | _BYTES))
    expected = lanes.and_(word, lanes.constant("i64", _EXPECTED))
    parity = lanes.and_(lanes.not_(word), lanes.constant("i64", _PARITY))
    pending = lanes.apply("lshr", expected, lanes.constant("i64", _FIELD))
    fresh = lanes.or_(lanes.or_(parity, expected), pending)
    return lanes.select(lanes.compare("eq", awaited, lanes.constant("i64", 0)), fresh, word)


def _arrive(lanes: Lanes[V], word: V, count: V) -> V:
    return _settle(lanes, _add(lanes, word, _PENDING, lanes.neg(count)))


def _drop(lanes: Lanes[V], word: V, count: V) -> V:
    distance = lanes.constant("i64", _FIELD)
    fewer = _add(lanes, word, _EXPECTED, lanes.neg(lanes.apply("shl", count, distance)))
    return _arrive(lanes, fewer, count)


def _expect(lanes: Lanes[V], word: V, amount: V) -> V:
    return _add(lanes, word, _BYTES, lanes.apply("shl", amount, lanes.constant("i64", _BYTES_START)))


def _complete(lanes: Lanes[V], word: V, amount: V) -> V:
    return _settle(lanes, _expect(lanes, word, lanes.neg(amount)))


def _after_expecting(change: Update) -> Update:
    """An arrival of one thread that first adds to the bytes waited for."""

    def make(lanes: Lanes[V], word: V, amount: V) -> V:
        return change.make(lanes, _expect(lanes, word, amount), lanes.constant("i64", 1))

    return Update(f"{change.name}_expecting", make)


_ARRIVE, _DROP = Update("mbarrier_arrive", _arrive), Update("mbarrier_drop", _drop)
_ARRIVALS = {
    ("arrive", None): _ARRIVE,
    ("arrive_drop", None): _DROP,
    ("arrive", "expect_tx"): _after_expecting(_ARRIVE),
    ("arrive_drop", "expect_tx"): _after_expecting(_DROP),
}
_TRANSFERS = {
    "expect_tx": Update("mbarrier_expect", _expect),
    "complete_tx": Update("mbarrier_complete", _complete),
}


def _change(lanes: Lanes[V], m: Match, change: Update, a: V, amount: V) -> V:
    """Change an object by an i32; returns its state before."""
    wide = lanes.extend(amount, "i64", signed=False)
    return lanes.update(m.state_space, change, a, [(wide,)])[0]


# ---------------------------------------------------------------------------------------- rows
_ORDERED = {"sem": "release relaxed", "scope": "cta cluster", "space": SHARED}
_OWN = "shared shared::cta"


@row("mbarrier.init{.space}.b64  [a], b:u32", space=_OWN, unit="memory", access="barrier object")
def init(lanes: Lanes[V], m: Match, a: V, b: V) -> None:
    """A fresh object whose phases wait for so many arrivals."""
    count = lanes.and_(lanes.extend(b, "i64", signed=False), lanes.constant("i64", _PENDING))
    expected = lanes.apply("shl", count, lanes.constant("i64", _FIELD))
    lanes.store(m.state_space, a, (lanes.or_(expected, count),), volatile=True)


@row("mbarrier.inval{.space}.b64  [a]", space=_OWN, unit="memory", access="barrier object")
def invalidate(lanes: Lanes[V], m: Match, a: V) -> None:
    """The object's memory may be used for something else."""
    lanes.store(m.state_space, a, (lanes.constant("i64", 0),), volatile=True)


def arrive(lanes: Lanes[V], m: Match, a: V, count: V | None = None) -> V:
    """Arrive as one thread or as `count`; returns the state before."""
    amount = lanes.constant("i32", 1) if count is None else count
    return _change(lanes, m, _ARRIVALS[m.values["op"], m.expect_tx], a, amount)


for _operation in ("arrive", "arrive_drop"):
    for _head, _operands in (("", "{b:u32}"), (".noComplete", "b:u32"), (".expect_tx", "b:u32")):
        add_row(
            f"mbarrier.op{_head}{{.sem}}{{.scope}}{{.space}}.b64  d, [a], {_operands}",
            op=_operation,
            sem=_ORDERED["sem"],
            scope=_ORDERED["scope"],
            space=_ORDERED["space"],
            unit="memory",
            access="barrier object",
            meaning=arrive,
        )


@row(
    "mbarrier.op{.sem}{.scope}{.space}.b64  [a], b:u32",
    op="expect_tx complete_tx",
    sem="relaxed",
    scope="cta cluster",
    space=SHARED,
    unit="memory",
    access="barrier object",
)
def transfer(lanes: Lanes[V], m: Match, a: V, b: V) -> None:
    """More bytes are waited for, or have arrived."""
    _change(lanes, m, _TRANSFERS[m.values["op"]], a, b)


@row(
    "mbarrier.op{.sem}{.scope}{.space}.b64  p:pred, [a], b:b64, {hint:u32}",
    op="test_wait try_wait",
    sem="acquire relaxed",
    scope="cta cluster",
    space=_OWN,
    unit="memory",
    access="barrier object",
    waits=True,
)
@row(
    "mbarrier.op.parity{.sem}{.scope}{.space}.b64  p:pred, [a], b:u32, {hint:u32}",
    op="test_wait try_wait",
    sem="acquire relaxed",
    scope="cta cluster",
    space=_OWN,
    unit="memory",
    access="barrier object",
    waits=True,
)
def wait(lanes: Lanes[V], m: Match, a: V, b: V, hint: V | None = None) -> V:
    """Whether the phase of a state, or the latest of a parity, is over."""
    (word,) = lanes.load(m.state_space, a, "i64", 1, volatile=True)
    if m.parity:
        to_top = lanes.constant("i64", 63)
        b = lanes.apply("shl", lanes.extend(b, "i64", signed=False), to_top)
    return lanes.compare("slt", lanes.xor(word, b), lanes.constant("i64", 0))


@row("mbarrier.pending_count.b64  d:u32, a:b64", unit="integer")
def pending_count(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.convert("trunc", lanes.and_(a, lanes.constant("i64", _PENDING)), "i32")


# Copies are complete when they are issued (async_copy.py), so what waits for them arrives at once. Without
# .noinc the arrival is one more than the phase was to wait for, so nothing changes.
_UNCHANGED = Update("mbarrier_unchanged", lambda lanes, word, amount: word)


@row(
    "cp.async.mbarrier.arrive{.noinc}{.space}.b64  [a]",
    space=_OWN,
    unit="memory",
    access="barrier object",
    control="copy-arrive",
)
def arrive_after_copies(lanes: Lanes[V], m: Match, a: V) -> None:
    """The object's phase waits for the thread's copies up to here."""
    _change(lanes, m, _ARRIVE if m.noinc else _UNCHANGED, a, lanes.constant("i32", 1))
