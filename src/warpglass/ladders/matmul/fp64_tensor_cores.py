"""Tensor cores multiply doubles too: mma.sync of 16 x 4 by 4 x 8, rounded as fused multiply-adds are."""

from warpglass.ladders.matmul.plans import fp64_tensor_product
from warpglass.ladders.plan import Plan
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Rung


def plan(case: Case, block: int) -> Plan:
    """For as many multiprocessors as an H200 has."""
    return fp64_tensor_product(case.size, case.size, case.size, multiprocessors=132)


RUNG = Rung(table="fp64", plan=plan)
