"""uninitialised-read: shared or local memory or an array marked as output, read before it is written."""

from __future__ import annotations

from . import layout
from .detector import Detector, Recorded, Words


def _explain(found: Recorded) -> Words:
    uses = f"uses {found.element} {found.one.where}"
    if found.other is not None:
        uses = f"uses {found.other.where} what it has loaded from {found.element} {found.one.where}"
    return Words(
        f"{found.one} {uses}, which nobody has written before",
        f"write {found.array or 'it'} first: GPU memory does not start as zeros",
    )


UNINITIALISED_READ = Detector("uninitialised-read", lambda found: found.code == layout.UNDEFINED, _explain)
