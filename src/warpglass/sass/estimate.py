"""Counters of the hardware, from counts by PTX line and what ptxas made of each line.

Belongs here: sums over machine instructions. How often their blocks ran, threads.py and warps.py tell. Names
are Nsight Compute's; definitions are those of NVIDIA's documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .counts import LineCounts
from .decode import Instruction
from .evidence import find_copies
from .operations import FLOPS, KIND
from .threads import ThreadCounts, count_threads
from .translate import Translation
from .warps import count_warps

_FLOP = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_MEMORY = "smsp__inst_executed_op_{}_{}.sum"
_MEMORY_NAMES = {
    (space, access): _MEMORY.format(space, short)
    for space, accesses in {
        "shared": {"load": "ld", "store": "st", "atomic": "atom"},
        "global": {"load": "ld", "store": "st"},
        "local": {"load": "ld", "store": "st"},
    }.items()
    for access, short in accesses.items()
}


@dataclass(frozen=True, slots=True)
class Executed:
    """Executions of one machine instruction: by warps, their active threads, threads whose guard held."""

    instruction: Instruction
    warps: Fraction
    active: Fraction
    threads: Fraction


def execute(translation: Translation, counts: LineCounts) -> tuple[Executed, ...]:
    """Return how often each machine instruction was executed; those only made for linking are left out."""
    copies = tuple(find_copies(translation))
    threads = count_threads(translation, counts, copies)
    warps = count_warps(translation, counts, copies, threads.blocks)
    guards = _Guards(translation, counts, threads, warps)
    return tuple(
        Executed(item, warps[number], threads.blocks[number], guards.threads(item, number))
        for number, block in enumerate(translation.graph.blocks)
        for item in block.instructions
        if (block.function, item.offset) not in translation.linking and not block.rare
    )


def block_runs(translation: Translation, counts: LineCounts) -> tuple[Fraction, ...]:
    """Return how often warps ran each block of `translation.graph`."""
    copies = tuple(find_copies(translation))
    threads = count_threads(translation, counts, copies)
    return count_warps(translation, counts, copies, threads.blocks)


class _Guards:
    """The threads for which guards hold.

    Where all that a line became stands under a guard, a short branch was turned into it, and the guard held
    for the threads that executed the line. A guard on a part of what a line became corrects rare operands.
    That of a branch or an exit holds for those who take it.
    """

    def __init__(
        self,
        translation: Translation,
        counts: LineCounts,
        threads: ThreadCounts,
        warps: Sequence[Fraction],
    ):
        self.counts = counts
        self.choices = translation.choices
        self.blocks = threads.blocks
        self.taken = threads.taken
        self.warps = warps
        self.bare: set[tuple[int, int]] = set()
        self.passing: dict[tuple[int, str], Fraction] = {}  # threads that come to guarded copies of a line
        for number, block in enumerate(translation.graph.blocks):
            for item in block.instructions:
                if item.guard is None:
                    self.bare.add((item.line, number))
                else:
                    key = item.line, item.name
                    self.passing[key] = self.passing.get(key, Fraction(0)) + self.blocks[number]

    def threads(self, item: Instruction, number: int) -> Fraction:
        """Threads that execute an instruction of a block."""
        come = self.blocks[number]
        if item.operation.control in ("branch", "exit") and item.conditional:
            return self.taken.get(number, come)
        if item.guard is None:
            return come
        if (item.line, number) in self.bare and item.access and not item.never:
            return self.warps[number]  # one thread does it for its warp
        if item.never or (item.line, number) in self.bare:
            return Fraction(0)
        passing = self.passing.get((item.line, item.name))
        if not passing:
            return Fraction(0)
        return min(come, Fraction(self._wanted(item.line)) * come / passing)

    def _wanted(self, line: int) -> int:
        """Threads that want what a line computes; where a selection was not counted, none: they are rare."""
        choice = self.choices.get(line)
        if choice is None:
            return self.counts.threads(line)
        chosen = self.counts.chosen.get(choice.line, 0 if choice.wanted else self.counts.threads(choice.line))
        wanted = chosen if choice.wanted else self.counts.threads(choice.line) - chosen
        return min(wanted, self.counts.threads(line))


def counters(translation: Translation, counts: LineCounts) -> Mapping[str, float]:
    """Return the counters that depend on the machine code, under Nsight Compute's names."""
    return counters_of(execute(translation, counts), counts)


def counters_of(executed: Sequence[Executed], counts: LineCounts) -> Mapping[str, float]:
    """The same from how often each machine instruction was executed."""
    warps = sum(item.warps for item in executed)
    active = sum(item.active for item in executed)
    threads = sum(item.threads for item in executed)
    found: dict[str, Fraction] = {
        "smsp__inst_executed.sum": Fraction(warps),
        "smsp__thread_inst_executed.sum": Fraction(active),
        "smsp__thread_inst_executed_per_inst_executed.ratio": _ratio(active, warps),
        "smsp__thread_inst_executed_pred_on.sum": Fraction(threads),
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio": _ratio(threads, warps),
        **{
            _FLOP.format(name): Fraction(0)
            for name in sorted({*KIND.values(), *(n for n, _ in FLOPS.values())})
        },
        **dict.fromkeys(_MEMORY_NAMES.values(), Fraction(0)),
    }
    for item in executed:
        for name, amount in _amounts(item):
            found[name] += amount
    found |= _branches(executed, counts)
    return {name: float(value) for name, value in found.items()}


def _amounts(item: Executed) -> Iterator[tuple[str, Fraction]]:
    operation = item.instruction.operation
    yield _FLOP.format(operation.kind), item.threads
    if operation.name in FLOPS:
        name, each = FLOPS[operation.name]
        yield _FLOP.format(name), item.threads * each
    memory = _MEMORY_NAMES.get((operation.space, operation.access))
    if memory is not None:
        yield memory, item.warps


def _branches(executed: Sequence[Executed], counts: LineCounts) -> Mapping[str, Fraction]:
    """Branches, and those that divide a warp: as often as the PTX branch that they come from did."""
    targets = divided = Fraction(0)
    seen: dict[int, Fraction] = {}
    for item in executed:
        if item.instruction.operation.control in ("branch", "switch", "call", "return"):
            targets += item.warps
            if item.instruction.conditional:
                line = item.instruction.line
                seen[line] = Fraction(counts.partings(line))
    divided = sum(seen.values(), Fraction(0))
    return {
        "smsp__sass_branch_targets.sum": targets,
        "smsp__sass_branch_targets_threads_divergent.sum": divided,
        "smsp__sass_branch_targets_threads_uniform.sum": targets - divided,
        "smsp__sass_average_branch_targets_threads_uniform.pct": 100 * _ratio(targets - divided, targets),
    }


def _ratio(a: Fraction | int, b: Fraction | int) -> Fraction:
    """a over b, 0 where b is 0."""
    return Fraction(a) / b if b else Fraction(0)
