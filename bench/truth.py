"""How the counters of profiled kernels compare with what Nsight Compute measured of the same kernels.

    python bench/truth.py [--write] [CASE ...]

Prints, for every metric, on how many of the kernels where it is not zero it is equal, and the worst relative
error of the others; then every difference that nothing in tests/observe/differences.json explains. `--write`
also writes docs/reference/counters.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.observe import truth  # noqa: E402
from tests.observe.truth import Number  # noqa: E402
from warpglass.observe.counters import COUNTERS  # noqa: E402
from warpglass.observe.metrics import METRICS  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "counters.md"
_INTRODUCTION = """# Counters and their agreement with hardware

This page is written by `python bench/truth.py --write`.

{kernels} kernels were measured with Nsight Compute 2025.3 on an H100 and an H200 and profiled here. A
metric's row has the kernels on which it is equal (as far as it was measured: ratios are to two places), of
those on which it is not zero, and the largest relative error of the others. Labels are those that profiles
give the number: *exact* ones follow from the addresses and predicates alone, *ptx-level* ones are exact for
the PTX, *modelled* ones were derived from the machine code. `warpglass metrics NAME` shows a definition.
"""


def main() -> None:
    """Compare and print."""
    wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    numbers = list(_numbers(wanted))
    rows = _rows(numbers)
    for name, (equal, total, worst, _) in rows.items():
        print(f"{equal:4}/{total:<4} {'' if equal == total else f'{worst:.2g}':8} {name}")
    differing = [number for number in numbers if not number.equal]
    open_ = [number for number in differing if truth.allowance(number) is None]
    print(f"{len(differing)} of {len(numbers)} numbers differ, {len(open_)} without an explanation")
    for number in open_:
        print(
            f"  {number.case}: {number.metric} {number.measured:g}, here {number.profiled:g} ({number.label})"
        )
    if "--write" in sys.argv:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text("\n".join(_page(rows, differing)) + "\n", encoding="utf-8")


def _numbers(wanted: Sequence[str]) -> Iterator[Number]:
    for name in truth.SETS:
        for case in truth.cases(name).values():
            if not wanted or case.id in wanted:
                yield from truth.compare(name, case)


def _rows(numbers: Sequence[Number]) -> dict[str, tuple[int, int, float, Counter[str]]]:
    """By metric: equal ones, those that are not zero, the worst error, labels."""
    rows: dict[str, tuple[int, int, float, Counter[str]]] = {}
    for number in numbers:
        if number.measured or number.profiled:
            equal, total, worst, labels = rows.get(number.metric, (0, 0, 0.0, Counter()))
            labels[number.label] += 1
            error = 0.0 if number.equal else number.error
            rows[number.metric] = (equal + number.equal, total + 1, max(worst, error), labels)
    return dict(sorted(rows.items()))


def _page(
    rows: dict[str, tuple[int, int, float, Counter[str]]], differing: Sequence[Number]
) -> Iterator[str]:
    yield _INTRODUCTION.format(kernels=sum(len(truth.cases(name)) for name in truth.SETS))
    yield "| metric | equal | worst error | labels | what it is |\n|---|---|---|---|---|"
    for name, (equal, total, worst, labels) in rows.items():
        error = "" if equal == total else f"{worst:.2g}"
        words = ", ".join(labels)
        yield f"| `{name}` | {equal}/{total} | {error} | {words} | {COUNTERS[name].text} |"
    yield "\n## What differs, and why\n"
    for one in truth.differences()[1]:
        found = [number for number in differing if truth.allowance(number) is one]
        if found:
            cases = ", ".join(dict.fromkeys(number.case for number in found))
            metrics = ", ".join(f"`{name}`" for name in sorted({number.metric for number in found}))
            worst = max(number.error for number in found)
            yield f"* {one.reason} ({cases}; error at most {worst:.2g})  \n  {metrics}"
    yield "\nNot compared:\n"
    for pattern, reason in truth.differences()[0].items():
        yield f"* `{pattern}`: {reason}"
    yield "\n## Metrics of nvprof\n\n| metric | definition | what it is |\n|---|---|---|"
    for name, metric in METRICS.items():
        yield f"| `{name}` | `{metric.formula}` | {metric.text} |"


if __name__ == "__main__":
    main()
