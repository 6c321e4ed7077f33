"""From recorded findings to the author's terms: lines, threads, arrays, and words; one finding a cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ....engine.cpu.address_space import explain_address
from ....engine.cpu.variable_names import SharedVariables, plain_name
from ....engine.launch.backend import Dim3, unflatten
from ....program import Program, Step
from ....records.check import Finding, Place
from ....records.kinds import KINDS
from .. import layout
from ..detector import Watched
from ..instrumentation import Instrumentation, inlining
from ..races.shadow import READ_AFTER_WRITE, WRITE_AFTER_READ
from ..recorder import VARIANT_BITS
from .causes import RACES, one_per_cause
from .grouping import Mended, key_of, one_per_remedy
from .recorded import ERROR, Party, Recorded, Words, finding_of
from .remedies import Remedies, Remedy

_KINDS = list(KINDS)


def explain(watched: Watched, code: Instrumentation, decided: Callable[[], bool]) -> list[Finding]:
    """The findings of a launch, in the order of their detectors and lines.

    `decided` tells whether what racing accesses read decides where threads go: to which barrier, say.
    """
    found, remedies = _collected(watched, code)
    order = [kind for detector in code.detectors for kind in detector.kinds]

    def rank(finding: Finding) -> tuple[object, ...]:
        place = finding.source or Place("", 0)
        return finding.severity, order.index(finding.kind), place.file, place.line, str(finding.other_source)

    listed = sorted(found, key=rank)
    races = [finding for finding in listed if _races(finding) and finding.severity == ERROR]
    if races and any(map(_of_warps, listed)) and decided():
        first = min(map(_latest, races))  # one of equal values leads nobody astray
        listed = [finding for finding in listed if not _of_warps(finding)]
        listed = [finding for finding in listed if not _races(finding) or _latest(finding) <= first]
    return one_per_remedy(one_per_cause(listed), remedies)


def _collected(watched: Watched, code: Instrumentation) -> tuple[list[Finding], Mended]:
    """The findings by lines and arrays, and what mends the races among them."""
    reader = _Reader(watched, code)
    remedies = Remedies(code.program, watched.begun.scene.launch.compiled.language, code.together)
    told = {kind: words for detector in code.detectors for kind, words in detector.kinds.items()}
    found: dict[tuple[object, ...], Finding] = {}
    mended: dict[tuple[object, ...], Remedy] = {}
    for row in watched.memory.findings[watched.memory.findings[:, layout.KEY] != 0]:
        if _KINDS[row[layout.CODE] >> VARIANT_BITS] not in told:
            continue  # refused accesses are explained as faults
        recorded = reader.read(row)
        finding = _finding(recorded, told[recorded.kind](recorded))
        key = key_of(finding)
        before = found.get(key)
        found[key] = finding if before is None else _joined(before, finding)
        if recorded.kind in RACES and found[key].message == finding.message:
            mended[key] = remedies.of(recorded)
    return list(found.values()), Mended(mended, remedies.together)


def _races(finding: Finding) -> bool:
    return finding.kind in RACES


def _latest(finding: Finding) -> int:
    """The epoch in which a race has shown."""
    return max(finding.epoch or 0, finding.other_epoch or 0)


def _of_warps(finding: Finding) -> bool:
    """Whether warps have come to different barriers."""
    return finding.kind == "barrier-divergence" and finding.warp != finding.other_warp


def _finding(recorded: Recorded, words: Words) -> Finding:
    one, other = recorded.one, recorded.other
    return finding_of(
        recorded.kind,
        words,
        **{name: getattr(one, name) for name in one.__dataclass_fields__},
        **(
            {}
            if other is None
            else {f"other_{name}": getattr(other, name) for name in other.__dataclass_fields__}
        ),
        array=recorded.array,
        index=recorded.index,
        count=recorded.count,
    )


def _joined(one: Finding, more: Finding) -> Finding:
    """Two records of one cause: the first in the order of blocks and threads, counted together.

    One between two blocks goes first: what orders these orders threads of one block.
    """

    def rank(finding: Finding) -> tuple[object, ...]:
        within = finding.block == finding.other_block or finding.other_block is None
        return within, (finding.block or (0, 0, 0))[::-1], (finding.thread or (0, 0, 0))[::-1]

    first = min(one, more, key=rank)
    return replace(first, count=one.count + more.count)


class _Reader:
    """Puts rows of the table of findings into the author's terms."""

    def __init__(self, watched: Watched, code: Instrumentation):
        self._begun = watched.begun
        self._memory = watched.memory
        self._code = code
        self._file = _main_file(code.program)
        scene = watched.begun.scene
        self._shared = SharedVariables(scene.prepared.program, scene.launch.compiled.language)

    def read(self, row: np.ndarray) -> Recorded:
        """A recorded finding."""
        kind, other = _KINDS[row[layout.CODE] >> VARIANT_BITS], int(row[layout.OTHER])
        extra, access = int(row[layout.EXTRA]), int(row[layout.ACCESS])
        one, party = self._party(int(row[layout.STAMP])), self._party(other) if other else None
        place: tuple[str | None, int | None, str] = (None, None, "")
        if kind in (*RACES, "uninitialised-read", "cluster-memory"):  # these are in memory
            place = self._element(int(row[layout.REGION]), int(row[layout.OFFSET]), max(1, extra))
            ranks = self._ranks()
            if row[layout.REGION] in ranks:
                rank = ranks.index(int(row[layout.REGION]))
                place = (*place[:2], f"{place[2]} of block {self._member(int(row[layout.STAMP]), rank)}")
        if kind == "uninitialised-read" and party is not None and party.source == one.source:
            party = None
        return Recorded(
            kind,
            one,
            party,
            *place,
            variant=int(row[layout.CODE]) & (1 << VARIANT_BITS) - 1,
            access=access,
            same_value=bool(row[layout.SAME_VALUE]),
            copied=(other >> layout.PLACE_SHIFT) & (layout.PLACES - 1) in self._code.copies,
            mask=extra,
            count=int(row[layout.COUNT]),
            steps=(self._step(int(row[layout.STAMP])), self._step(other) if other else None),
            writers=(access != READ_AFTER_WRITE, access != WRITE_AFTER_READ),
        )

    def _ranks(self) -> range:
        """The regions that are shared memory of the blocks of a cluster, by rank."""
        return range(layout.FIRST_ARRAY + len(self._memory.arrays), len(self._memory.tables[0]))

    def _member(self, stamp: int, rank: int) -> Dim3:
        """The block of a rank in the cluster of a stamp's thread."""
        place, size = (stamp >> self._memory.block_shift) - 1, len(self._memory.states)
        return unflatten(self._begun.block_at(place // size * size + rank), self._begun.scene.launch.grid)

    def _step(self, stamp: int) -> Step | None:
        return self._code.places[(stamp >> layout.PLACE_SHIFT) & (layout.PLACES - 1)]

    def _party(self, stamp: int) -> Party:
        launch = self._begun.scene.launch
        block = self._begun.block_at((stamp >> self._memory.block_shift) - 1)
        warp, lane = (stamp >> layout.WARP_SHIFT) & 31, (stamp >> layout.LANE_SHIFT) & 31
        step = self._step(stamp)
        thread: Dim3 = unflatten(32 * warp + lane, launch.block)
        within = stamp & (1 << self._memory.block_shift) - 1
        epoch = self._code.epoch(within >> layout.TIME_SHIFT, self._memory.states[0])
        return Party(self._place(step), unflatten(block, launch.grid), thread, warp, lane, epoch)

    def _place(self, step: Step | None) -> Place | None:
        """The line of the author's file that a step comes from, wherever it was inlined from."""
        if step is None:
            return None
        chain = inlining(step)
        if not chain:
            return Place("PTX", step.instruction.line)
        source = next((one for one in chain if one.file == self._file), chain[0])
        return Place(source.file, source.line)

    def _element(self, region: int, offset: int, size: int) -> tuple[str | None, int | None, str]:
        """The array, the index in it and what they are called."""
        scene, rows = self._begun.scene, self._memory.tables[0]
        if region in (layout.SHARED_REGION, *self._ranks()):
            name, start = self._shared.at(offset)
            index = (offset - start) // size
            return name, index, f"{name}[{index}]"
        if region == layout.LOCAL_REGION:
            return "local memory", offset // size, f"byte {offset} of its local memory"
        if region == layout.HEAP_REGION:
            address = int(rows[layout.HEAP_REGION][layout.BASE]) + offset
            chunk = scene.heap.find(address)
            distance = offset if chunk is None else address - chunk.base
            return "malloc", distance // size, f"byte {distance} of memory from malloc"
        if region == layout.MODULE_REGION:
            address = int(rows[layout.MODULE_REGION][layout.BASE]) + offset
            variable = scene.prepared.module.find(address)
            if variable is None:
                return None, None, f"address {address:#x}"
            name, index = plain_name(variable[0].name), variable[1] // size
            return name, index, f"{name}[{index}]"
        address = scene.laid.placed[region - layout.FIRST_ARRAY].base + offset
        meaning = explain_address(address, scene.bound, scene.laid.placed)
        if meaning is None:
            return None, None, "memory"
        flat = scene.launch.compiled.language != "python"
        return meaning.name, meaning.index, meaning.element(min(size, meaning.array.view.itemsize), flat)


def kernel_place(program: Program) -> Place | None:
    """The kernel's first line, None for PTX without line numbers."""
    file = _main_file(program)
    if file is None:
        return None
    chains = (inlining(step) for block in program.blocks for step in block.all_steps)
    ends = [chain[-1] for chain in chains if chain]
    return Place(file, min(one.line for one in ends if one.file == file and one.line))


def _main_file(program: Program) -> str | None:
    """The file that the kernel itself is in."""
    chains = (inlining(step) for block in program.blocks for step in block.all_steps)
    return next((chain[-1].file for chain in chains if chain), None)
