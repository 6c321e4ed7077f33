"""The instrument that checks a launch, and what it has found afterwards."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...codegen import Probe
from ...engine.cpu.backend import Begun
from ...engine.cpu.faults import Scene
from ...engine.launch.backend import unflatten
from ...isa.ordering import Ordering
from ...program import Program, Step
from ...records.check import ALL_SCHEDULES, SAME_ORDER, Finding
from ...records.marks import INPUT, OUTPUT
from . import layout, native
from .communication import Communication
from .dependence import depends_on_order
from .events import DetectorProbe
from .explain import explain, kernel_place
from .faults import fault_finding
from .marked import unread_inputs, unwritten_outputs
from .memory import Memory
from .only_read import set_only_read


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
            if self._purposes.get(array.position) == OUTPUT
        }
        read = {
            array.allocation
            for array in begun.scene.bound.arrays
            if self._purposes.get(array.position) == INPUT
        }
        self._memory = Memory(
            begun,
            granules(begun),
            sorted(marked),
            probe.copies,
            follows=probe.follows,
            journals=probe.journals,
        )
        set_only_read(begun, self._memory, probe, read)
        places = native.addresses()
        if probe.communicates:
            self._communication = Communication(begun, self._memory, probe)
            places = {**places, "order": self._communication.order}
            for state in self._memory.states:
                state[layout.ASK] = self._communication.ask
        for worker, state in zip(begun.workers, self._memory.states, strict=True):
            worker.words[probe.state] = state.ctypes.data
            state[layout.COUNTED] = int(not probe.uncounted)
            state[layout.NOTES] = worker.words[probe.carried.notes :].ctypes.data
            worker.words[probe.met_regions] = state[layout.REGIONS]  # of any
            for name, address in places.items():
                worker.words[probe.functions[name]] = address

    @property
    def scene(self) -> Scene:
        """The launch that was watched."""
        assert self._begun is not None, "the launch has begun"
        return self._begun.scene

    @property
    def file(self) -> str:
        """The file of the kernel, "" where nothing says it."""
        place = None if self._begun is None else kernel_place(self._probe)
        return "" if place is None else place.file

    @property
    def holds_for(self) -> str:
        """For which orders of threads the verdict holds: ALL_SCHEDULES or SAME_ORDER."""
        if self._begun is None or self._memory is None:
            return ALL_SCHEDULES
        probe, executable = self._probe, self._begun.scene.executable
        depends = depends_on_order(
            probe.program,
            executable.code.sites,
            probe.orderings,
            self._racing(self._memory),
            communicates=probe.communicates,
        )
        return SAME_ORDER if depends else ALL_SCHEDULES

    def _races_decide(self) -> bool:
        """Whether what racing accesses read may decide where a thread goes."""
        assert self._memory is not None, "the launch has begun"
        probe, sites = self._probe, self.scene.executable.code.sites
        plain = dict.fromkeys(probe.orderings, Ordering())
        return depends_on_order(probe.program, sites, plain, self._racing(self._memory), communicates=False)

    def _racing(self, memory: Memory) -> set[int]:
        """The steps of accesses that race, those of equal values aside."""
        races = (layout.WARP_RACE, layout.BLOCK_RACE, layout.GRID_RACE)
        table = memory.findings
        rows = table[np.isin(table[:, layout.KIND], races) & (table[:, layout.SAME_VALUE] == 0)]
        numbers = rows[:, [layout.STAMP, layout.OTHER]] >> layout.PLACE_SHIFT & layout.PLACES - 1
        found = [self._probe.places[number] for number in np.unique(numbers)]
        lines = {_line_of(step) for step in found if step is not None}
        return {number for number, step in self._probe.steps.items() if _line_of(step) in lines}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not looked at."""
        if self._memory is None:
            return ()
        found: list[str] = []
        states = self._memory.states
        if any(state[layout.OVERRUN] for state in states):
            found.append("a thread synchronised more often than can be told apart: races may be missing")
        if any(state[layout.SURPRISED] for state in states):
            found.append("a store has led to an array that no argument of it points to: races may be missing")
        if any(state[layout.FINDINGS_FULL] for state in states):
            found.append(f"only the first {layout.FINDING_SLOTS} pairs of places are kept")
        return tuple(found)

    def fault(self, error: BaseException) -> Finding:
        """The finding for an error that ended the kernel, with what is known of its thread."""
        finding = self._placed(fault_finding(error))
        if self._begun is None or self._memory is None or finding.thread is None:
            return finding
        launch, epoch = self.scene.launch, None
        x, y, _ = launch.block
        tx, ty, tz = finding.thread
        warp, lane = divmod(tx + x * (ty + y * tz), 32)
        for state in self._memory.states:
            place = int(state[layout.BLOCK])
            if place >= 0 and unflatten(self._begun.block_at(place), launch.grid) == finding.block:
                epoch = self._probe.epoch(int(state[layout.TIMES + warp]), state)
        return replace(finding, warp=warp, lane=lane, epoch=epoch)

    @property
    def shadow_bytes(self) -> int:
        """Bytes of shadow memory that the launch used."""
        return 0 if self._memory is None else self._memory.shadow_bytes

    def findings(self, *, complete: bool) -> tuple[Finding, ...]:
        """What was found, by severity and source line; `complete` says that the kernel came to its end."""
        if self._begun is None or self._memory is None:
            return ()
        if complete:
            call = ctypes.CFUNCTYPE(None, ctypes.c_int64)(native.addresses()["report_absent"])
            for state in self._memory.states:
                call(state.ctypes.data)
        found = explain(self._begun, self._memory, self._probe, self._races_decide)
        if complete:
            # Threads that are missing neither read nor write: what they should have written says it all.
            found += unwritten_outputs(self._begun, self._memory, self._purposes) or unread_inputs(
                self._begun, self._memory, self._purposes
            )
        return tuple(map(self._placed, found))

    def _placed(self, finding: Finding) -> Finding:
        """What only the kernel as a whole is to blame for is at its first line."""
        if finding.source is not None or self._begun is None:
            return finding
        return replace(finding, source=kernel_place(self._probe))


def _line_of(step: Step) -> tuple[object, str]:
    """What steps that share a place have in common."""
    return step.instruction.source or step.instruction.line, step.instruction.opcode


def granules(begun: Begun) -> dict[str, int]:
    """The bytes (log2) that all accesses to a state space are multiples of, up to 8."""
    least = {"shared": 3, "global": 3}
    for site in begun.scene.executable.code.sites:
        for space in (site.space,) if site.space in least else tuple(least):
            if site.space in (*least, "generic"):
                least[space] = min(least[space], max(0, site.size.bit_length() - 1))
    return least
