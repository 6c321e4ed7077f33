"""Conservation settles what it leaves no choice about, and nothing else."""

from __future__ import annotations

from fractions import Fraction

from warpglass.sass.conservation import OUTSIDE, Flow


def known(flow: Flow) -> dict[int, int]:
    return {number: int(threads) for number, threads in flow.known.items()}


def test_one_side_of_a_branch_tells_the_other():
    flow = Flow([(1, 2), (3,), (3,), (OUTSIDE,)], [0])
    flow.learn(0, Fraction(100))
    flow.learn(1, Fraction(30))
    flow.propagate()
    assert known(flow) == {0: 100, 1: 30, 2: 70, 3: 100}


def test_a_loop_needs_its_entries_or_its_rounds():
    flow = Flow([(1,), (1, 2), (OUTSIDE,)], [0])
    flow.learn(0, Fraction(10))
    flow.propagate()
    assert known(flow) == {0: 10}
    flow.learn(1, Fraction(80))
    flow.propagate()
    assert flow.edges[1, 1] == 70
    assert known(flow) == {0: 10, 1: 80, 2: 10}


def test_warps_that_part_are_two_behind_the_branch():
    flow = Flow([(1, 2), (2,), (OUTSIDE,)], [0], {0: 4})
    flow.learn(0, Fraction(10))
    flow.learn(1, Fraction(10))
    flow.propagate()
    assert known(flow) == {0: 10, 1: 10, 2: 14}


def test_nothing_more_than_came_in_goes_out():
    flow = Flow([(1, 2), (OUTSIDE,), (OUTSIDE,)], [0])
    flow.learn(0, Fraction(10))
    flow.learn(1, Fraction(12))
    flow.propagate()
    assert known(flow)[2] == 0
