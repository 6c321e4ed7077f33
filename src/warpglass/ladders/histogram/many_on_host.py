"""The baseline for 4096 bins: NumPy's bincount."""

from warpglass.ladders.histogram.on_host import on_host
from warpglass.ladders.rung import Rung

RUNG = Rung(table="bins", follows="shared_vectors", host=on_host)
