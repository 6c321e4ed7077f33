"""The launches of a program under a check, a profile or a clock, told to the process that watches.

Belongs here: what is done in the program's process. What becomes of the records is the command's business.
"""

from __future__ import annotations

import atexit
import math
import time
from contextlib import ExitStack
from dataclasses import replace

from ... import lab
from ...engine.launch.backend import Backend, Launch, Outcome
from ...lab import check as lab_check
from ...lab import profile as lab_profile
from ..records import Sender, Wish
from .activities import Activities
from .host_places import launch_place

_until_the_end = ExitStack()


def watch(wish: Wish, model: str) -> None:
    """Watch all launches of this process from now on; must come before functions are handed out."""
    sender = Sender(wish.records)
    makers = {"check": _checked, "profile": _profiled, "summary": _summed_up}
    _until_the_end.enter_context(lab.watching(makers[wish.what](wish, model, sender), _place))


def _place(launch: Launch) -> str:
    return launch_place(launch.compiled.entry)


def _bounded(launch: Launch, wish: Wish) -> Launch:
    return replace(launch, timeout=min(launch.timeout, math.inf if wish.timeout is None else wish.timeout))


def _checked(wish: Wish, model: str, sender: Sender) -> lab.Watcher:
    def make(_: Backend, launch: Launch) -> Outcome:
        started = time.perf_counter()
        site = launch.place or _place(launch)
        examined = lab_check.examine(_bounded(launch, wish), model, wish.seeds, site)
        sender.send(examined.check)
        if examined.error is not None:
            raise examined.error
        return Outcome(time.perf_counter() - started, "engine")

    return make


def _profiled(wish: Wish, model: str, sender: Sender) -> lab.Watcher:
    def make(_: Backend, launch: Launch) -> Outcome:
        site = launch.place or _place(launch)
        found = lab_profile.count(_bounded(launch, wish), model, wish.caches, wish.blocks, wish.listing)
        sender.send(replace(found, site=site))
        return Outcome(found.seconds, found.time_label)

    return make


def _summed_up(_: Wish, __: str, sender: Sender) -> lab.Watcher:
    activities = Activities(sender)
    activities.watch()
    atexit.register(activities.send)
    return activities.make
