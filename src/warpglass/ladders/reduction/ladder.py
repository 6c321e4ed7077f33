"""The reduction ladder as the bench sees it: which rungs, on which arrays, in which order.

Each table of problem.py has its own array. Rows stand by table, then the variants as written, then by
language, in the order of the ladder; the baseline comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from ...engine.backend import Backend
from ...errors import ArgumentError
from .. import reduction
from ..rung import find_rungs
from ..trial import Options, Toolchain, Trial
from . import as_written
from .problem import INPUTS, TABLES, check_dtype, check_size, make_input
from .rung import ReductionRung
from .trial import HostTrial, Input, KernelTrial, Setting


class ReductionLadder:
    """Rungs in global memory (2^24 doubles) and in shared memory (2^22 ints)."""

    name = "reduction"
    title = "Sum of an array, from neighboured pairs to a kernel specialised on its block size"

    def rungs(self, options: Options) -> Sequence[ReductionRung]:
        """The rungs that the options select; naming an as-written one selects it too."""
        default, defective = _all_rungs()
        known = {rung.name: rung for rung in (*default, *defective)}
        unknown = [name for name in options.rungs if name not in known]
        if unknown:
            raise ArgumentError(f"no rung {', '.join(unknown)}; there is: {', '.join(known)}")
        if options.rungs:
            return tuple(rung for rung in known.values() if rung.name in options.rungs)
        return (*default, *defective) if options.as_written else default

    def trials(self, options: Options, backend: Backend, toolchain: Toolchain) -> Sequence[Trial]:
        """One trial per selected rung and language; an array is made when its table has rungs."""
        rungs = self.rungs(options)
        return tuple(
            trial
            for name in TABLES
            if any(rung.table == name for rung in rungs)
            for trial in _table_trials(name, rungs, options, backend, toolchain)
        )


def _table_trials(
    name: str, rungs: Sequence[ReductionRung], options: Options, backend: Backend, toolchain: Toolchain
) -> Iterator[Trial]:
    table = TABLES[name]
    size = check_size(table.size if options.size is None else options.size)
    host = make_input(
        size, check_dtype(options.dtype or table.dtype), options.data or INPUTS[0], options.seed
    )
    data = Input(host, backend)
    block = table.block if options.block is None else options.block
    setting = Setting(name, block, options.final, options.timeout)
    for defective in (False, True):
        chosen = [rung for rung in rungs if rung.table == name and bool(rung.defect) is defective]
        for rung in chosen:
            if rung.host is not None:
                yield HostTrial(rung, data, setting)
        for language in options.languages:
            for rung in chosen:
                if rung.host is None and language in rung.languages:
                    yield KernelTrial(rung, language, data, setting, toolchain)


@cache
def _all_rungs() -> tuple[tuple[ReductionRung, ...], tuple[ReductionRung, ...]]:
    return find_rungs(reduction, ReductionRung), find_rungs(as_written, ReductionRung)


LADDER = ReductionLadder()
