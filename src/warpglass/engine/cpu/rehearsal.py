"""A launch that is watched on several threads at first, and again on one where that does not say it all.

Some observers want all blocks in order on one thread, since what they report depends on who came first. Most
launches show them nothing to report, and that blocks on several threads show as well: such a launch is
**rehearsed**, and if there is nothing, that was it. Else all that it may have read and changed is put back,
and it runs again, as the observer wants it. What it only stores to stays: the second run stores it, too.

Belongs here: which launches may be rehearsed, and the rehearsal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...errors import ArgumentError, LaunchError, raised_by_kernel
from ..launch.backend import Launch
from . import execution
from .execution import Begun
from .heap import Heap
from .launch_plan import LaunchPlan
from .prepared import Executable, Prepared
from .reached import changed_in_place
from .snapshot import Snapshot
from .worker import Worker


class Rehearsed(Protocol):
    """An observer that asks for one thread, but not for every launch."""

    def divides(self, executable: Executable) -> bool:
        """Whether blocks on several threads show whether there is anything to report."""
        ...

    def settled(self) -> bool:
        """Whether a rehearsal, which has come to its end, has shown nothing."""
        ...


def may_rehearse(watcher: Rehearsed, executable: Executable, prepared: Prepared) -> bool:
    """Whether a launch may be rehearsed, and that is likely to be of use."""
    facts = prepared.facts
    waits = prepared.cooperative or facts.clustered or facts.waits_for_blocks
    tells = prepared.allocates or facts.services  # what cannot be put back
    return executable.experience.divides and not (waits or tells) and watcher.divides(executable)


def rehearse(
    plan: LaunchPlan,
    launch: Launch,
    heap: Heap,
    begin: Callable[[Begun], None],
    end: Callable[[], None],
    watcher: Rehearsed,
) -> tuple[float, list[Worker]] | None:
    """Run a plan of several threads as `execution.run` does; None if that is to be done again on one.

    `end` is called behind the run and raises what the kernel has raised.
    """
    before: list[Snapshot] = []

    def begin_again(begun: Begun) -> None:
        before.append(Snapshot(begun.scene, changed_in_place(begun.scene), plan.count))
        begin(begun)

    experience = plan.executable.experience
    try:
        seconds, workers = execution.run(plan, launch, heap, begin_again)
        end()
        if watcher.settled():
            experience.note_rehearsal(plan.count * seconds)
            return seconds, workers
    except ArgumentError:
        if before:
            raise
        # A copy would take too much memory.
    except Exception as error:
        if not (isinstance(error, LaunchError) or raised_by_kernel(error)):
            raise
    experience.note_rehearsal(None)
    for snapshot in before:
        snapshot.restore()
    return None
