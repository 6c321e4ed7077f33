"""Runs one rung of any ladder and returns the verdict; the languages and places that tests go through."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from warpglass import lab
from warpglass.engine.launch.backend import Backend
from warpglass.ladders.ladder import PackagedLadder
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language, Options, Verdict

from .watching import TOOLCHAIN, Counting

LANGUAGES: tuple[Language, ...] = ("cuda", "python")
# Each place where kernels run, for a fixture `backend`.
PLACES = ("cpu", pytest.param("gpu", marks=pytest.mark.gpu))


def open_place(name: str) -> Backend:
    """The back end of that name."""
    return lab.backend(name)


def kernels(ladder: PackagedLadder) -> tuple[Rung, ...]:
    """The rungs that launch kernels anywhere and have no defect."""
    return tuple(rung for rung in ladder.rungs(Options()) if rung.host is None and rung.only_on is None)


def judge(
    ladder: PackagedLadder,
    rung: str,
    backend: Backend,
    language: Language = "cuda",
    size: int | None = None,
    dtype: str | None = None,
    block: int | None = None,
    data: str | None = None,
) -> Verdict:
    """Run a rung once; None means the table's own choice."""
    options = Options(
        size=size,
        dtype=dtype,
        block=block,
        data=data,
        rungs=(rung,),
        languages=(language,),
        seed=size or 0,
        peers=False,
    )
    (trial,) = ladder.trials(options, backend, TOOLCHAIN)
    trial.restore()
    trial.run()
    return trial.judge()


def count(ladder: PackagedLadder, rung: str, size: int, language: Language = "cuda") -> Mapping[str, float]:
    """Counters and metrics of a rung's first launch on the engine."""
    engine = Counting()
    options = Options(size=size, rungs=(rung,), languages=(language,), peers=False)
    (trial,) = ladder.trials(options, engine, TOOLCHAIN)
    trial.restore()
    trial.run()
    assert engine.profile is not None
    return {**engine.profile.counters, **engine.profile.metrics}
