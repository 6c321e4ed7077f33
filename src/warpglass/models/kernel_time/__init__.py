"""How long a kernel takes on a GPU: what it asks of every part of it, by exact counts, over that part's rate.

`predict(load, device)` gives a Prediction or raises Refused; a Load is made where a launch is counted.
"""

from __future__ import annotations

from .limiters import LAUNCH, WORDS
from .load import Atomics, Load
from .prediction import ON_SM, Prediction, predict, saved
from .rates import Rates, rates_of
from .refusals import Refused

__all__ = [
    "LAUNCH",
    "ON_SM",
    "WORDS",
    "Atomics",
    "Load",
    "Prediction",
    "Rates",
    "Refused",
    "predict",
    "rates_of",
    "saved",
]
