"""How good modelled times are: errors, ranks and orders of pairs of measured and modelled seconds.

Belongs here: what is said of such pairs, as lines of a page. Names of launches are those of validate.py: they
begin with a ladder, a table, a rung, a language and a size.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

Pair = tuple[float, float]  # measured and modelled seconds
NOISE = 20e-6  # seconds below which a launch is mostly its own overhead
_NEAR = 0.25
_STEP = 1.05  # measured times that differ by less are the same
_FEWEST = 5  # launches that a correlation is said of
_WORDS = {"oddeven_sort": "odd-even sort", "vector": "vector addition", "validation": "validation kernels"}


def error(pairs: Sequence[Pair]) -> float:
    """The mean share by which modelled times miss measured ones."""
    return statistics.fmean(abs(here / right - 1) for right, here in pairs)


def near(pairs: Sequence[Pair]) -> int:
    """How many modelled times lie within a quarter of the measured ones."""
    return sum(abs(here / right - 1) <= _NEAR for right, here in pairs)


def ranks(pairs: Sequence[Pair]) -> float:
    """Spearman's correlation of measured and modelled times."""
    right, here = zip(*pairs, strict=True)
    return statistics.correlation(_ranked(right), _ranked(here))


def _ranked(values: Sequence[float]) -> list[float]:
    """The place of every value in their order; equal ones share the mean of theirs."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]


def steps(found: Mapping[str, Pair]) -> Iterator[tuple[str, str, bool]]:
    """Two rungs of one table, language and size whose measured times differ; whether the model agrees."""
    groups: dict[tuple[str, ...], list[tuple[str, Pair]]] = defaultdict(list)
    for name, pair in found.items():
        words = name.split("/")
        if len(words) >= 5:
            groups[words[0], words[1], words[3], words[4]].append((name, pair))
    for group in groups.values():
        for (one, (right, here)), (other, (right2, here2)) in combinations(group, 2):
            if max(right, right2) > _STEP * min(right, right2):
                yield one, other, (right - right2) * (here - here2) > 0


def table(found: Mapping[str, Pair]) -> Iterator[str]:
    """Rows of a table by ladder, the smallest error first, and all together."""
    groups: dict[str, dict[str, Pair]] = defaultdict(dict)
    for name, pair in found.items():
        groups[name.partition("/")[0]][name] = pair
    yield "| kernels | number | mean error | within 25 % | rank correlation | steps in the right order |"
    yield "|---|---|---|---|---|---|"
    for name, group in sorted(groups.items(), key=lambda item: error(list(item[1].values()))):
        yield _row(_WORDS.get(name, name), group)
    yield _row("all", found)


def _row(name: str, found: Mapping[str, Pair]) -> str:
    pairs = list(found.values())
    rank = f"{ranks(pairs):.2f}" if len(pairs) >= _FEWEST else ""
    right = [good for _, _, good in steps(found)]
    order = f"{sum(right)} of {len(right)}" if right else ""
    share = 100 * near(pairs) / len(pairs)
    return f"| {name} | {len(pairs)} | {100 * error(pairs):.1f} % | {share:.0f} % | {rank} | {order} |"


def sentence(which: str, pairs: Sequence[Pair]) -> str:
    """The mean error in words."""
    return (
        f"{which}: mean error {100 * error(pairs):.1f} % of {len(pairs)} launches, "
        f"{near(pairs)} of them within 25 %."
    )
