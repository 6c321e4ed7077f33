"""The instrument that checks a launch, and what it has found afterwards."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

from ...check_record import Finding
from ...codegen import Probe
from ...engine.cpu import Begun
from ...program import Program
from . import layout, native
from .communication import Communication
from .events import DetectorProbe
from .explain import explain
from .marked import unread_inputs, unwritten_outputs
from .memory import Memory


class Checker:
    """Watches one launch: pass it to the engine's `observe`, with its `begin`, then ask for its findings.

    `purposes` says of argument positions what the arrays are for (marks.py). All checkers are equal as
    instruments: they share compiled code.
    """

    def __init__(self, purposes: Mapping[int, str] | None = None):
        self._purposes = dict(purposes or {})
        self._begun: Begun | None = None
        self._memory: Memory | None = None
        self._communication: Communication | None = None  # kept alive for the launch

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checker)

    def __hash__(self) -> int:
        return hash(Checker)

    def probes(self, program: Program) -> Sequence[Probe]:
        """The probe that calls the detectors."""
        return (DetectorProbe(),)

    @property
    def _probe(self) -> DetectorProbe:
        assert self._begun is not None, "the launch has begun"
        probe = next(iter(self._begun.scene.executable.probes))
        assert isinstance(probe, DetectorProbe)
        return probe

    def begin(self, begun: Begun) -> None:
        """Make memory for a launch and tell its workers where it is."""
        self._begun = begun
        probe = self._probe
        marked = {
            array.allocation
            for array in begun.scene.bound.arrays
            if self._purposes.get(array.position) == "output"
        }
        self._memory = Memory(begun, granules(begun), sorted(marked), probe.copies, follows=probe.follows)
        places = native.addresses()
        if probe.communicates:
            self._communication = Communication(begun, self._memory, probe)
            places = {**places, "order": self._communication.order}
            for state in self._memory.states:
                state[layout.ASK] = self._communication.ask
        for worker, state in zip(begun.workers, self._memory.states, strict=True):
            worker.words[probe.state] = state.ctypes.data
            for name, address in places.items():
                worker.words[probe.functions[name]] = address

    @property
    def holds_for(self) -> str:
        """For which schedules the verdict holds."""
        if self._begun is None:
            return "no schedule: the launch did not begin"
        if any(one.strong for one in self._probe.orderings.values()):
            return "all schedules in which atomic and volatile accesses come in the same order"
        return "all schedules"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not looked at."""
        if self._memory is None:
            return ()
        found: list[str] = []
        states = self._memory.states
        if any(state[layout.OVERRUN] for state in states):
            found.append("a thread synchronised more often than can be told apart: races may be missing")
        if any(state[layout.FINDINGS_FULL] for state in states):
            found.append(f"only the first {layout.FINDING_SLOTS} pairs of places are kept")
        return tuple(found)

    def findings(self, *, complete: bool) -> tuple[Finding, ...]:
        """What was found, by severity and source line; `complete` says that the kernel came to its end."""
        if self._begun is None or self._memory is None:
            return ()
        if complete:
            call = ctypes.CFUNCTYPE(None, ctypes.c_int64)(native.addresses()["report_absent"])
            for state in self._memory.states:
                call(state.ctypes.data)
        found = explain(self._begun, self._memory, self._probe)
        if complete:
            found += unwritten_outputs(self._begun, self._memory, self._purposes)
            found += unread_inputs(self._begun, self._memory, self._purposes)
        return tuple(found)


def granules(begun: Begun) -> dict[str, int]:
    """The bytes (log2) that all accesses to a state space are multiples of, up to 8."""
    least = {"shared": 3, "global": 3}
    for site in begun.scene.executable.code.sites:
        for space in (site.space,) if site.space in least else tuple(least):
            if site.space in (*least, "generic"):
                least[space] = min(least[space], max(0, site.size.bit_length() - 1))
    return least
