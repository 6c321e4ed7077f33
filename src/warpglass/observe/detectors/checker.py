"""The instrument that checks a launch, and what it has found afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...codegen import Probe
from ...engine.cpu.backend import Begun
from ...engine.cpu.faults import Scene
from ...engine.cpu.prepared import Executable
from ...engine.launch.backend import unflatten
from ...errors import KernelFault
from ...isa.ordering import Ordering
from ...program import Program, Step
from ...records.check import Finding
from ...records.marks import OUTPUT
from ...records.schedules import ALL_SCHEDULES, REMEMBERED, SAME_ORDER
from . import layout, native
from .detector import Watched
from .diagnostics.causes import RACES
from .diagnostics.compiler_defects import compiler_defect
from .diagnostics.explain import explain, kernel_place
from .diagnostics.faults import fault_finding
from .diagnostics.line_facts import LineFacts
from .diagnostics.vocabulary import in_words_of
from .instrumentation import Instrumentation
from .races.copies import AsynchronousCopies
from .races.meetings import have_met
from .races.order_dependence import depends_on_order
from .races.races import Races
from .races.release_acquire import ReleaseAcquire
from .recorder import VARIANT_BITS, code_of
from .refused import RefusedAccesses, refused_accesses, refused_calls
from .shadow_memory import ShadowMemory
from .sync.barriers import BarrierDivergence
from .sync.cluster_absence import ClusterAbsence
from .sync.clusters import Clusters
from .sync.stuck_lanes import blame_mask
from .sync.synchronisation import Synchronisation
from .undefined.undefined import UndefinedValues
from .undefined.untouched import UntouchedElements

# In the order of their events, and of what they find.
FAMILIES = (
    AsynchronousCopies,  # what is waited for is there for the accesses that follow
    Races,
    BarrierDivergence,
    Synchronisation,
    Clusters,
    ClusterAbsence,
    UndefinedValues,  # of what Races has noted of loads
    ReleaseAcquire,  # what Synchronisation knows is passed on
    UntouchedElements,
    RefusedAccesses,
)

_Refusal = tuple[KernelFault, Finding]  # what a launch went on without


class Checker:
    """Watches one launch: pass it to the engine's `observe`, with its `begin`, then ask for its findings.

    `purposes` says of argument positions what the arrays are for (marks.py). All checkers are equal as
    instruments: they share compiled code.
    """

    def __init__(self, purposes: Mapping[int, str] | None = None):
        self._purposes = dict(purposes or {})
        self._watched: Watched | None = None
        self._finished = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checker)

    def __hash__(self) -> int:
        return hash(Checker)

    def probes(self, program: Program) -> Sequence[Probe]:
        """The detectors' probes, behind what they share."""
        code = Instrumentation(FAMILIES)
        return code, *code.detectors

    @property
    def _launch(self) -> Watched:
        assert self._watched is not None, "the launch has begun"
        return self._watched

    @property
    def _code(self) -> Instrumentation:
        code, *_ = self.scene.executable.probes
        assert isinstance(code, Instrumentation)
        return code

    def begin(self, begun: Begun) -> None:
        """Make memory for a launch and tell its workers where it is."""
        arrays, resident = begun.scene.bound.arrays, begun.scene.launch.resident
        outputs = (one.allocation for one in arrays if self._purposes.get(one.position) == OUTPUT)
        self._fresh = dict.fromkeys(outputs) if resident is None else dict(resident.written())
        self._watched = Watched(begun, ShadowMemory(begun, self._fresh), self._purposes)
        self._finished = False
        code, addresses = self._code, native.addresses()
        words = [code.functions[name] for name in addresses]
        for worker, state in zip(begun.workers, self._watched.memory.states, strict=True):
            worker.words[code.state] = state.ctypes.data
            worker.words[words] = list(addresses.values())
        for detector in code.detectors:
            detector.begin(self._watched)

    def divides(self, executable: Executable) -> bool:
        """Whether blocks on several threads show whether there is anything to report."""
        code, *_ = executable.probes
        assert isinstance(code, Instrumentation)
        return code.divides(executable.code.sites)

    def settled(self) -> bool:
        """Whether a rehearsal has shown nothing: then one thread would show nothing else.

        What all blocks together have left untouched (undefined/untouched.py) shows either way.
        """
        self._finish()
        return not (self.notes or self._launch.memory.findings[:, layout.KEY].any() or have_met(self._launch))

    def _finish(self) -> None:
        """Record what shows only at the end."""
        if not self._finished:
            self._finished = True
            for detector in self._code.detectors:
                detector.finish(self._launch)

    def tell_written(self) -> None:
        """Tell where the launch's memory is what of it was written for the first time."""
        if self._watched is None or self.scene.launch.resident is None:
            return
        memory = self._watched.memory
        written = {number: memory.touched_bytes(number, layout.WRITES) for number in self._fresh}
        self.scene.launch.resident.add_written(written)

    @property
    def scene(self) -> Scene:
        """The launch that was watched."""
        return self._launch.begun.scene

    @property
    def file(self) -> str:
        """The file of the kernel, "" where nothing says it."""
        place = None if self._watched is None else kernel_place(self._code.program)
        return "" if place is None else place.file

    @property
    def holds_for(self) -> str:
        """What the verdict holds for: ALL_SCHEDULES, SAME_ORDER or REMEMBERED."""
        if self._watched is None:
            return ALL_SCHEDULES
        if any(detector.notes(self._watched) for detector in self._code.detectors):
            return REMEMBERED
        depends = self._depends_on_order(self._code.orderings, communicates=self._code.communicates)
        return SAME_ORDER if depends else ALL_SCHEDULES

    def _races_decide(self) -> bool:
        """Whether what racing accesses read may decide where a thread goes."""
        return self._depends_on_order(dict.fromkeys(self._code.orderings, Ordering()), communicates=False)

    def _depends_on_order(self, orderings: Mapping[int, Ordering], *, communicates: bool) -> bool:
        sites = self.scene.executable.code.sites
        return depends_on_order(
            self._code.program, sites, orderings, self._racing(), communicates=communicates
        )

    def _racing(self) -> set[int]:
        """The steps of accesses that race, those of equal values aside."""
        table, code = self._launch.memory.findings, self._code
        races = np.isin(
            table[:, layout.CODE] >> VARIANT_BITS, [code_of(kind) >> VARIANT_BITS for kind in RACES]
        )
        rows = table[races & (table[:, layout.SAME_VALUE] == 0)]
        numbers = rows[:, [layout.STAMP, layout.OTHER]] >> layout.PLACE_SHIFT & layout.PLACES - 1
        found = [code.places[number] for number in np.unique(numbers)]
        lines = {_line_of(step) for step in found if step is not None}
        return {number for number, step in code.steps.items() if _line_of(step) in lines}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not looked at."""
        if self._watched is None:
            return ()
        found = [note for detector in self._code.detectors for note in detector.notes(self._watched)]
        if any(state[layout.FINDINGS_FULL] for state in self._watched.memory.states):
            found.append(f"only the first {layout.FINDING_SLOTS} pairs of places are kept")
        return tuple(found)

    def refused(self) -> list[_Refusal]:
        """What the launch went on without, with its errors: one for each line and array."""
        found: dict[tuple[object, ...], _Refusal] = {}
        if self._watched is None:
            return []
        accesses: list[_Refusal] = []
        for error, count, time in refused_accesses(self._watched):
            epoch = self._code.epoch(time, self._launch.memory.states[0])
            accesses.append((error, replace(self.fault(error), count=count, epoch=epoch)))
        for error, finding in (*accesses, *self._refused_calls(accesses)):
            key = finding.kind, finding.source, finding.array
            if key in found:
                error, before = found[key]
                finding = replace(before, count=before.count + finding.count)
            found[key] = error, finding
        return list(found.values())

    def _refused_calls(self, accesses: Sequence[_Refusal]) -> list[_Refusal]:
        """The calls of free that the launch went on without.

        Memory that is freed too early, and used, is freed again where it should be: one defect.
        """
        early = any(finding.kind == "use-after-free" for _, finding in accesses)
        found: list[_Refusal] = []
        for error in refused_calls(self._launch):
            finding = replace(self.fault(error), epoch=None)
            if finding.kind == "out-of-bounds":
                finding = replace(finding, hint="give free() the pointer that malloc() returned, unchanged")
            elif early:
                continue
            found.append((error, finding))
        return found

    def fault(self, error: BaseException) -> Finding:
        """The finding for an error that ended the kernel, with what is known of its thread."""
        finding = fault_finding(error)
        if self._watched is not None and finding.kind == "deadlock":
            return self._placed(blame_mask(finding, self._watched))
        finding = self._placed(finding)
        if self._watched is None or finding.thread is None:
            return finding
        launch, epoch = self.scene.launch, None
        x, y, _ = launch.block
        tx, ty, tz = finding.thread
        warp, lane = divmod(tx + x * (ty + y * tz), 32)
        for state in self._watched.memory.states:
            place = int(state[layout.BLOCK])
            if place >= 0 and unflatten(self._watched.begun.block_at(place), launch.grid) == finding.block:
                epoch = self._code.epoch(int(state[layout.TIMES + warp]), state)
        hint = compiler_defect(finding, self.scene, LineFacts(self._code.program, ())) or finding.hint
        return replace(finding, warp=warp, lane=lane, epoch=epoch, hint=hint)

    @property
    def shadow_bytes(self) -> int:
        """Bytes of shadow memory that the launch used."""
        return 0 if self._watched is None else self._watched.memory.shadow_bytes

    def findings(self, *, complete: bool) -> tuple[Finding, ...]:
        """What was found, by severity and source line; `complete` says that the kernel came to its end."""
        if self._watched is None:
            return ()
        detectors = self._code.detectors if complete else ()
        if complete:
            self._finish()
        found = explain(self._watched, self._code, self._races_decide)
        for detector in detectors:
            found += detector.findings(self._watched)
        return tuple(map(self._placed, found))

    def _placed(self, finding: Finding) -> Finding:
        """A finding in the kernel's language; what the whole kernel is to blame for is at its first line."""
        if self._watched is None:
            return finding
        hint = in_words_of(self.scene.launch.compiled.language, finding.hint)
        return replace(finding, source=finding.source or kernel_place(self._code.program), hint=hint)


def _line_of(step: Step) -> tuple[object, str]:
    """What steps that share a place have in common."""
    return step.instruction.source or step.instruction.line, step.instruction.opcode
