"""A ladder's rung in place of a kernel's file: LADDER:RUNG, or LADDER:RUNG:python.

Belongs here: finding the rung, and running its host program at the ladder's small size so that whoever
watches launches (lab.watching) sees them.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import lab, source
from ..engine.cpu.backend import CpuBackend
from ..engine.launch.backend import Launch, Outcome
from ..errors import ArgumentError
from ..ladders import find_ladder, ladder_names
from ..ladders.trial import Language, Options, Toolchain
from ..records.spelling import did_you_mean

_LANGUAGES: tuple[Language, ...] = ("cuda", "python")


@dataclass(frozen=True, slots=True)
class RungTarget:
    """One rung in one language."""

    ladder: str
    rung: str
    language: Language

    def __str__(self) -> str:
        return f"{self.ladder}:{self.rung} ({'C++' if self.language == 'cuda' else 'Python'})"


def is_rung(text: str) -> bool:
    """Whether a target names a ladder in front of its first colon."""
    ladder, colon, _ = text.partition(":")
    return bool(colon) and ladder in ladder_names()


def parse_rung(text: str) -> RungTarget:
    """The rung of LADDER:RUNG, in C++ where it has that; raises ArgumentError for what there is not."""
    ladder, _, rest = text.partition(":")
    name, _, language = rest.partition(":")
    rungs = {one.name: one for one in find_ladder(ladder).rungs(Options(as_written=True))}
    if name not in rungs:
        known = ", ".join(rungs)
        raise ArgumentError(f"{ladder} has no rung {name!r}{did_you_mean(name, rungs)}; there is: {known}")
    rung = rungs[name]
    if rung.host is not None:
        raise ArgumentError(f"{ladder}:{name} is computed by the host: it has no kernel")
    if not language:
        return RungTarget(ladder, name, rung.languages[0])
    if language not in rung.languages:
        raise ArgumentError(f"{text}: {name} is written in {' and '.join(rung.languages)}")
    return RungTarget(ladder, name, _LANGUAGES[_LANGUAGES.index(language)])


class _Watched(CpuBackend):
    """The engine, whose launches go where all launches go: to whoever watches."""

    def run(self, launch: Launch) -> Outcome:
        """Make a launch, or let the watcher make it."""
        if not lab.watched():
            return super().run(launch)
        return lab.carry_out(self, launch)


def run_rung(target: RungTarget, model: str, size: int | None = None, block: int | None = None) -> bool:
    """Run a rung's host program once, at its ladder's small size if none is given.

    Returns whether the result is right; raises ArgumentError for a size or block that it does not take.
    """
    options = Options(
        size=size,
        block=block,
        small=True,
        languages=(target.language,),
        rungs=(target.rung,),
        as_written=True,
        peers=False,
    )
    toolchain = Toolchain(open_cuda=source.load, open_python=source.from_numba)
    trials = find_ladder(target.ladder).trials(options, _Watched(model), toolchain)
    (trial,) = (one for one in trials if one.card.rung == target.rung)
    trial.restore()
    trial.run()
    return trial.judge().verified


def launches_of(target: RungTarget, model: str) -> tuple[Launch, ...]:
    """The launches that a rung makes, in order; they are made."""
    found: list[Launch] = []
    engine = CpuBackend(model)

    def watch(_: object, launch: Launch) -> Outcome:
        found.append(launch)
        return engine.run(launch)

    with lab.watching(watch):
        run_rung(target, model)
    return tuple(found)
