"""From recorded findings to the author's terms: lines, threads, arrays, and words; one finding a cause."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...engine.cpu.address_space import explain_address
from ...engine.cpu.backend import Begun
from ...engine.cpu.faults import plain_name
from ...engine.launch.backend import Dim3, unflatten
from ...program import Step
from ...records.check import Finding, Place
from . import layout
from .barrier_divergence import BARRIER_DIVERGENCE
from .detector import ERROR, Detector, Party, Recorded
from .events import DetectorProbe
from .memory import Memory
from .races import GLOBAL_RACE, SHARED_RACE, WARP_RACE
from .sync_mask import ABSENT, INACTIVE, OUTSIDER
from .uninitialised_read import UNINITIALISED_READ

DETECTORS: tuple[Detector, ...] = (
    SHARED_RACE,
    GLOBAL_RACE,
    WARP_RACE,
    BARRIER_DIVERGENCE,
    ABSENT,
    OUTSIDER,
    INACTIVE,
    UNINITIALISED_READ,
)
_RACES = ("shared-race", "global-race", "warp-race")
_WIDTH = {"warp-race": 0, "global-race": 1, "shared-race": 2}  # what serves the wider one serves the others


def explain(begun: Begun, memory: Memory, probe: DetectorProbe, decided: Callable[[], bool]) -> list[Finding]:
    """The findings of a launch, in the order of their detectors and lines.

    `decided` tells whether what racing accesses read decides where threads go: to which barrier, say.
    """
    reader = _Reader(begun, memory, probe)
    found: dict[tuple[object, ...], Finding] = {}
    for row in memory.findings[memory.findings[:, layout.KEY] != 0]:
        recorded = reader.read(row)
        for detector in DETECTORS:
            if detector.takes(recorded):
                finding = _finding(detector, recorded)
                lines = frozenset((str(finding.source), str(finding.other_source)))
                if recorded.code == layout.UNDEFINED:  # one load, wherever it is used
                    lines = frozenset((str(finding.source),))
                key = (finding.kind, finding.severity, lines, finding.array)
                before = found.get(key)
                found[key] = finding if before is None else _joined(before, finding)
    listed = sorted(found.values(), key=_rank)
    errors = {finding.kind for finding in listed if finding.severity == ERROR}
    if not errors.isdisjoint(_RACES) and any(map(_of_warps, listed)) and decided():
        first = min(map(_latest, filter(_races, listed)))
        listed = [finding for finding in listed if not _of_warps(finding)]
        listed = [finding for finding in listed if not _races(finding) or _latest(finding) == first]
    return one_per_cause(listed)


def _races(finding: Finding) -> bool:
    return finding.kind in _RACES


def _latest(finding: Finding) -> int:
    """The epoch in which a race has shown."""
    return max(finding.epoch or 0, finding.other_epoch or 0)


def _of_warps(finding: Finding) -> bool:
    """Whether warps have come to different barriers."""
    return finding.kind == "barrier-divergence" and finding.warp != finding.other_warp


def _finding(detector: Detector, recorded: Recorded) -> Finding:
    words = detector.explain(recorded)
    other = recorded.other
    return Finding(
        kind=detector.kind,
        severity=words.severity,
        message=words.message,
        source=recorded.one.source,
        other_source=other.source if other is not None else None,
        block=recorded.one.block,
        thread=recorded.one.thread,
        other_block=other.block if other is not None else None,
        other_thread=other.thread if other is not None else None,
        warp=recorded.one.warp,
        lane=recorded.one.lane,
        epoch=recorded.one.epoch,
        other_warp=other.warp if other is not None else None,
        other_lane=other.lane if other is not None else None,
        other_epoch=other.epoch if other is not None else None,
        array=recorded.array,
        index=recorded.index,
        count=recorded.count,
        hint=words.hint,
    )


def _joined(one: Finding, more: Finding) -> Finding:
    """Two records of one cause: the first in the order of blocks and threads, counted together."""
    first = min(one, more, key=lambda f: (f.block or (0, 0, 0))[::-1] + (f.thread or (0, 0, 0))[::-1])
    values = {name: getattr(first, name) for name in first.__dataclass_fields__}
    return Finding(**{**values, "count": one.count + more.count})


def _rank(finding: Finding) -> tuple[object, ...]:
    kinds = [detector.kind for detector in DETECTORS]
    place = finding.source or Place("", 0)
    return (finding.severity, kinds.index(finding.kind), place.file, place.line, str(finding.other_source))


def one_per_cause(findings: list[Finding]) -> list[Finding]:
    """Drop what follows from another finding.

    An undefined value is read because of a race if its line or array races; the same value is written by two
    at a line where different ones race, too; one order is missing between lanes of a warp and between warps.
    Where a barrier is not met by all, what it should have ordered races. An index that leaves its array may
    also be another thread's.
    """
    astray = {(finding.array, finding.source) for finding in findings if finding.kind == "out-of-bounds"}
    findings = [finding for finding in findings if not _goes_astray(finding, astray)]
    apart = [finding for finding in findings if finding.kind == "barrier-divergence"]
    if apart:
        epochs = [finding.epoch for finding in apart if finding.epoch is not None]
        first = min(epochs, default=None)
        parted = {finding.source for finding in apart if finding.warp == finding.other_warp}
        findings = [finding for finding in findings if not _follows_divergence(finding, first, parted)]
    races = [finding for finding in findings if finding.kind in _RACES]
    masks = [finding for finding in findings if finding.kind == "sync-mask"]
    hurt = {(finding.array, place) for finding in races for place in (finding.source, finding.other_source)}
    kept: list[Finding] = []
    for finding in findings:
        if finding.kind == "uninitialised-read" and (finding.array, finding.source) in hurt:
            continue
        if finding.kind in _RACES and any(_covers(other, finding) for other in races):
            continue
        if finding.kind == "warp-race" and any(_meet(finding, mask) for mask in masks):
            continue
        kept.append(finding)
    return kept


def _goes_astray(finding: Finding, astray: set[tuple[str | None, Place | None]]) -> bool:
    """Whether an access that leaves an array elsewhere is one of those of a race, or finds nothing set."""
    if finding.kind not in (*_RACES, "uninitialised-read"):
        return False
    return any((finding.array, place) in astray for place in (finding.source, finding.other_source) if place)


def _follows_divergence(finding: Finding, first: int | None, parted: set[Place | None]) -> bool:
    """Whether barriers that threads come to separately may be why: they order nothing then.

    Behind the `first` of them, threads that have missed it are out of step at all further ones; where a
    warp's lanes have `parted`, those that go on come to another barrier than the other warps.
    """
    if finding.kind == "barrier-divergence":
        places = finding.source, finding.other_source
        if finding.warp != finding.other_warp and not parted.isdisjoint(places):
            return True
        return first is not None and finding.epoch is not None and finding.epoch > first
    within = finding.kind in _RACES and finding.block == finding.other_block
    return within or finding.kind == "uninitialised-read"


def _covers(one: Finding, other: Finding) -> bool:
    """Whether what removes one race removes the other: the barrier for threads further apart serves both.

    Two races of the same lines and array are told once, as different values rather than as the same.
    """
    if one is other:
        return False
    same = {one.source, one.other_source} == {other.source, other.other_source} and one.array == other.array
    if same and one.severity != other.severity:
        return one.severity == "error"
    wider = _WIDTH[one.kind] > _WIDTH[other.kind] and other.block == other.other_block
    return wider and (same or (one.severity == "error" and _meet(one, other)))


def _meet(one: Finding, other: Finding) -> bool:
    """Whether one barrier can stand between the lines of both findings."""
    spans: list[tuple[int, int]] = []
    files: set[str] = set()
    for finding in (one, other):
        places = [place for place in (finding.source, finding.other_source) if place is not None]
        if not places:
            return False
        files.update(place.file for place in places)
        spans.append((min(place.line for place in places), max(place.line for place in places)))
    (first, last), (start, end) = spans
    return len(files) == 1 and max(first, start) <= min(last, end)


class _Reader:
    """Puts rows of the table of findings into the author's terms."""

    def __init__(self, begun: Begun, memory: Memory, probe: DetectorProbe):
        self._begun = begun
        self._memory = memory
        self._probe = probe
        self._file = _main_file(probe)

    def read(self, row: np.ndarray) -> Recorded:
        """A recorded finding."""
        code, other = int(row[layout.KIND]), int(row[layout.OTHER])
        region, offset, extra = (int(row[k]) for k in (layout.REGION, layout.OFFSET, layout.EXTRA))
        one, party = self._party(int(row[layout.STAMP])), self._party(other) if other else None
        if code == layout.UNDEFINED and party is not None and party.source == one.source:
            party = None
        in_memory = code in (layout.WARP_RACE, layout.BLOCK_RACE, layout.GRID_RACE, layout.UNDEFINED)
        array, index, element = (
            self._element(region, offset, max(1, extra)) if in_memory else (None, None, "")
        )
        return Recorded(
            code=code,
            shared=region == layout.SHARED_REGION,
            one=one,
            other=party,
            array=array,
            index=index,
            element=element,
            access=int(row[layout.ACCESS]),
            same_value=bool(row[layout.SAME_VALUE]),
            copied=(other >> layout.PLACE_SHIFT) & (layout.PLACES - 1) in self._probe.copies,
            lanes=_lane_list(extra),
            mask=extra,
            count=int(row[layout.COUNT]),
        )

    def _party(self, stamp: int) -> Party:
        launch = self._begun.scene.launch
        block = self._begun.block_at((stamp >> self._memory.block_shift) - 1)
        warp, lane = (stamp >> layout.WARP_SHIFT) & 31, (stamp >> layout.LANE_SHIFT) & 31
        step = self._probe.places[(stamp >> layout.PLACE_SHIFT) & (layout.PLACES - 1)]
        thread: Dim3 = unflatten(32 * warp + lane, launch.block)
        within = stamp & (1 << self._memory.block_shift) - 1
        epoch = self._probe.epoch(within >> layout.TIME_SHIFT, self._memory.states[0])
        return Party(self._place(step), unflatten(block, launch.grid), thread, warp, lane, epoch)

    def _place(self, step: Step | None) -> Place | None:
        """The line of the author's file that a step comes from, wherever it was inlined from."""
        if step is None:
            return None
        source = step.instruction.source
        if source is None:
            return Place("PTX", step.instruction.line)
        inner = source
        while source is not None and source.file != self._file:
            source = source.inlined_at
        source = source or inner
        return Place(source.file, source.line)

    def _element(self, region: int, offset: int, size: int) -> tuple[str | None, int | None, str]:
        scene = self._begun.scene
        if region == layout.SHARED_REGION:
            name, start = "shared memory", 0
            offsets = scene.prepared.program.shared.offsets
            below = [(at, symbol) for symbol, at in offsets.items() if at <= offset]
            if below and scene.launch.compiled.language != "python":  # numba does not keep the names
                start, symbol = max(below)
                name = plain_name(symbol)
            index = (offset - start) // size
            return name, index, f"{name}[{index}]"
        if region == layout.LOCAL_REGION:
            return "local memory", offset // size, f"byte {offset} of its local memory"
        if region == layout.HEAP_REGION:
            address = int(self._memory.tables[0][layout.HEAP_REGION][layout.BASE]) + offset
            chunk = scene.heap.find(address)
            distance = offset if chunk is None else address - chunk.base
            return "malloc", distance // size, f"byte {distance} of memory from malloc"
        if region == layout.MODULE_REGION:
            address = int(self._memory.tables[0][layout.MODULE_REGION][layout.BASE]) + offset
            variable = scene.prepared.module.find(address)
            if variable is None:
                return None, None, f"address {address:#x}"
            name, index = plain_name(variable[0].name), variable[1] // size
            return name, index, f"{name}[{index}]"
        meaning = explain_address(
            scene.placed[region - layout.FIRST_ARRAY].base + offset, scene.bound, scene.placed
        )
        if meaning is None:
            return None, None, "memory"
        flat = scene.launch.compiled.language != "python"
        return meaning.name, meaning.index, meaning.element(min(size, meaning.array.view.itemsize), flat)


def kernel_place(probe: DetectorProbe) -> Place | None:
    """The kernel's first line, None for PTX without line numbers."""
    file = _main_file(probe)
    if file is None:
        return None
    lines: list[int] = []
    for block in probe.program.blocks:
        for step in block.all_steps:
            source = step.instruction.source
            while source is not None and source.inlined_at is not None:
                source = source.inlined_at
            lines += [source.line] if source is not None and source.file == file and source.line else []
    return Place(file, min(lines))


def _main_file(probe: DetectorProbe) -> str | None:
    """The file that the kernel itself is in."""
    for block in probe.program.blocks:
        for step in block.all_steps:
            source = step.instruction.source
            if source is not None:
                while source.inlined_at is not None:
                    source = source.inlined_at
                return source.file
    return None


def _lane_list(mask: int) -> str:
    """`lanes 0-3, 7` for a mask."""
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    starts = [lane for lane in lanes if lane - 1 not in lanes]
    ends = [lane for lane in lanes if lane + 1 not in lanes]
    runs = [f"{a}-{b}" if b > a else str(a) for a, b in zip(starts, ends, strict=True)]
    return f"lane{'s' if len(lanes) > 1 else ''} {', '.join(runs)}"
