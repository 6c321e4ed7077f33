"""Locks that a kernel makes of atomic operations: where they are taken and given back."""

from __future__ import annotations

from ....program import Step
from ....records.check import Place
from ..instrumentation import inlining
from .line_facts import LineFacts


def lock_around(facts: LineFacts, one: Place, other: Place) -> tuple[Place, Place] | None:
    """Between which lines a lock is held around two lines: those of its taking and of its release.

    A lock is a word that a compare and swap takes (or an exchange whose result is used) and that an exchange
    or a store by an atomic operation gives back.
    """
    if one.file != other.file:
        return None
    first, last = sorted((one.line, other.line))
    atomics = _atomics(facts, one.file)
    taken = [place for step, place in atomics if place.line < first and _takes(facts, step)]
    given = [place for step, place in atomics if place.line > last and _gives(facts, step)]
    if not taken or not given:
        return None
    return max(taken, key=_line), min(given, key=_line)


def _atomics(facts: LineFacts, file: str) -> list[tuple[Step, Place]]:
    """The atomic operations of a file's lines, with their lines in the outermost function."""
    found: list[tuple[Step, Place]] = []
    for step in facts.steps:
        chain = inlining(step) if step.instruction.opcode in ("atom", "red") else []
        if chain and chain[-1].file == file:
            found.append((step, Place(file, chain[-1].line)))
    return found


def _takes(facts: LineFacts, step: Step) -> bool:
    modifiers = step.instruction.modifiers
    return "cas" in modifiers or ("exch" in modifiers and _result_is_used(facts, step))


def _gives(facts: LineFacts, step: Step) -> bool:
    modifiers = step.instruction.modifiers
    return ("exch" in modifiers or "cas" in modifiers) and not _result_is_used(facts, step)


def _result_is_used(facts: LineFacts, step: Step) -> bool:
    return any(not one.reads.isdisjoint(step.writes) for one in facts.steps)


def _line(place: Place) -> int:
    return place.line
