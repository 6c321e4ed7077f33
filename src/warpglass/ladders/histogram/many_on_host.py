"""The baseline for 4096 bins: NumPy's bincount."""

from __future__ import annotations

from warpglass.ladders.histogram.on_host import on_host
from warpglass.ladders.rung import Rung

RUNG = Rung(
    name="many_on_host", table="bins", explanation=__doc__ or "", follows="shared_vectors", host=on_host
)
