"""A ladder made of a problem and a package of rungs, as the bench and the command line see it.

Belongs here: which rungs an option selects, on which arrays they run, and in which order their rows stand: by
table, then the variants as written, then by language, each in the order of the ladder; host rungs come first.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from ..engine.launch.backend import Backend
from ..errors import ArgumentError
from ..records.spelling import did_you_mean
from .device_arrays import DeviceArrays
from .passes import Pass
from .peer import PeerTrial, peers_that_run
from .problem import Array, Case, Problem
from .run import HostTrial, KernelTrial, Setting
from .rung import AS_WRITTEN, Language, Rung, RungKernel, find_rungs
from .trial import Options, Toolchain, Trial
from .tuned import tuned

Tracer = Callable[[Array | None, int | None, Language, Backend, Toolchain], Sequence[Pass]]


class PackagedLadder:
    """The rungs of a package and of its sub-package `as_written`, over one problem."""

    def __init__(self, package: str, problem: Problem):
        self._package = package
        self.problem = problem
        self.name = problem.name
        self.title = problem.title

    @property
    def trace(self) -> Tracer | None:
        """Sorts numbers in blocks of so many threads (None: its own choice) and returns the passes.

        It is `trace_passes` of the package's trace.py; None where there is no such file.
        """
        name = f"{self._package}.trace"
        return importlib.import_module(name).trace_passes if importlib.util.find_spec(name) else None

    @cached_property
    def _default(self) -> tuple[Rung, ...]:
        return find_rungs(importlib.import_module(self._package), self.problem)

    @cached_property
    def _as_written(self) -> tuple[Rung, ...]:
        name = f"{self._package}.{AS_WRITTEN}"
        if importlib.util.find_spec(name) is None:
            return ()
        return find_rungs(importlib.import_module(name), self.problem)

    def rungs(self, options: Options) -> Sequence[Rung]:
        """The rungs that the options select; naming an as-written one selects it too."""
        known = {rung.name: rung for rung in (*self._default, *self._as_written)}
        unknown = [name for name in options.rungs if name not in known]
        if unknown:
            said = ", ".join(name + did_you_mean(name, known) for name in unknown)
            raise ArgumentError(f"no rung {said}; there is: {', '.join(known)}")
        if options.rungs:
            return tuple(rung for rung in known.values() if rung.name in options.rungs)
        return (*self._default, *self._as_written) if options.as_written else self._default

    def rung(self, name: str) -> Rung:
        """The rung of that name, as written or not."""
        (found,) = self.rungs(Options(rungs=(name,)))
        return found

    def trials(self, options: Options, backend: Backend, toolchain: Toolchain) -> Sequence[Trial]:
        """One trial per selected rung and language; an array is made when its table has rungs."""
        # Only a GPU has a capability; parameters are tuned for it, and some rungs are for one only.
        capability = getattr(backend, "capability", None)
        rungs = [
            rung
            for rung in self.rungs(options)
            if rung.only_on in (None, capability) or rung.name in options.rungs
        ]
        return tuple(
            trial
            for name in self._tables(rungs, options)
            for trial in self._table_trials(name, rungs, options, backend, toolchain)
        )

    def _tables(self, rungs: Sequence[Rung], options: Options) -> Sequence[str]:
        """The tables that have rungs; where none is named, those that take the element type, if any does."""
        found = [name for name in self.problem.tables if any(rung.table == name for rung in rungs)]
        if options.dtype is None or options.rungs:
            return found
        return [name for name in found if options.dtype in self.problem.dtypes_of(name)] or found

    def _table_trials(
        self, name: str, rungs: Sequence[Rung], options: Options, backend: Backend, toolchain: Toolchain
    ) -> Iterator[Trial]:
        table = self.problem.tables[name]
        size, on_gpu = options.size, backend.name == "gpu" or options.gpu_sizes
        if size is None:
            size = table.small if options.small else table.on_gpu if on_gpu else None
        block = self.problem.check_block(table.block if options.block is None else options.block)
        capability = getattr(backend, "capability", None)
        fitting = table.fitting(size, block)
        case = self.problem.case(name, fitting, options.dtype, options.data, options.seed, capability)
        arrays = DeviceArrays(case, backend, toolchain)
        setting = Setting(
            table=name,
            title=table.title,
            block=block,
            final=options.final,
            timeout=options.timeout,
            reduces=self.problem.reduces,
            size_text=self.problem.describe(case) if self.problem.describe else "",
        )
        for defective in (False, True):
            chosen = [rung for rung in rungs if rung.table == name and bool(rung.defect) is defective]
            for rung in chosen:
                if rung.host is not None:
                    yield HostTrial(rung, arrays, setting)
            for language in options.languages:
                for rung in chosen:
                    if rung.host is None and language in rung.languages:
                        yield KernelTrial(
                            rung, language, arrays, self._setting_of(rung, setting, case, options), toolchain
                        )
            if not defective:
                yield from self._guests(name, rungs, options, arrays, setting, toolchain)

    def _setting_of(self, rung: Rung, setting: Setting, case: Case, options: Options) -> Setting:
        """The table's setting; its block size is the one tuned for the rung, if none is asked for."""
        if options.block is not None:
            return setting
        found = tuned(self.name, rung.name, case.dtype, case.capability)
        return replace(setting, block=found.get("block", setting.block))

    def _guests(
        self,
        name: str,
        rungs: Sequence[Rung],
        options: Options,
        arrays: DeviceArrays,
        setting: Setting,
        toolchain: Toolchain,
    ) -> Iterator[Trial]:
        """The user's kernels, in the first table that runs, and the libraries' functions."""
        first = next(table for table in self.problem.tables if any(rung.table == table for rung in rungs))
        for path, kernel in options.added if name == first else ():
            rung = self._added_rung(name, path, kernel)
            yield KernelTrial(rung, rung.languages[0], arrays, setting, toolchain)
        on_gpu = arrays.backend.name == "gpu"
        peers = self.problem.peers if options.peers else ()
        for peer in peers_that_run(peers, name, on_gpu):
            if arrays.case.dtype.kind in peer.kinds:
                yield PeerTrial(peer, arrays, setting)

    def _added_rung(self, table: str, path: Path, kernel: str) -> Rung:
        return Rung(
            name=kernel,
            explanation=f"A kernel of {path}.",
            table=table,
            kernels=(RungKernel(name=kernel, file=path, cuda=kernel),),
            program=self.problem.program,
            shape=self.problem.shape,
            arguments=self.problem.signature,
            depth=lambda case, block: case.size,
        )
