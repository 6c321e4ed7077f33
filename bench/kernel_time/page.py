"""Write the tables of docs/kernel-time.md from what was measured and what the model says now.

    python bench/kernel_time/page.py

Belongs here: which file each table is made of. A table stands between `<!-- name -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.kernel_time import blind, figures
from warpglass import devices
from warpglass.models.kernel_time import Atomics, Load, predict
from warpglass.records.course_notes import course_notes

_HERE, _ROOT = Path(__file__).parent, Path(__file__).parents[2]
PAGE = _ROOT / "docs" / "kernel-time.md"


def load_of(data: Mapping[str, Any]) -> Load:
    """A load as validate.py keeps it."""
    atomics = tuple(Atomics(**one) for one in data.get("atomics", ()))
    return Load(**{**data, "atomics": atomics})


def validation(gpu: str) -> Iterator[str]:
    """The errors of the model as it is, by ladder."""
    return figures.table(_modelled(gpu))


def _modelled(gpu: str) -> Mapping[str, figures.Pair]:
    """What a GPU measured and what is modelled; an H100's loads are an H200's, whose caches it has."""
    loads = json.loads((_ROOT / "tests" / "models" / "kernel_times_h200.json").read_text("utf-8"))
    times = {name: one["seconds"] for name, one in loads.items()} if gpu == "h200" else _times(gpu)
    device = devices.get(gpu)
    return {
        name: (times[name], predict(load_of(one["load"]), device).seconds)
        for name, one in loads.items()
        if times.get(name, 0.0) >= figures.NOISE
    }


def _times(gpu: str) -> Mapping[str, float]:
    found = json.loads((_HERE / f"times_{gpu}.json").read_text("utf-8"))["times"]
    return {name: one["seconds"] for name, one in found.items() if "seconds" in one}


def unseen(gpu: str) -> Iterator[str]:
    """The errors of predictions for a GPU that nobody had measured, by ladder; how many intervals hold."""
    times = _times(gpu)
    made = json.loads((_HERE / f"predicted_{gpu}.json").read_text("utf-8"))["predictions"]
    told = {name: one for name, one in made.items() if one["seconds"] is not None}
    long = [name for name in told if times.get(name, 0.0) >= figures.NOISE]
    yield from figures.table({name: (times[name], told[name]["seconds"]) for name in long})
    inside = sum(told[name]["low"] <= times[name] <= told[name]["high"] for name in long)
    yield ""
    yield f"Of these {len(long)} launches, {inside} lie within the interval that was predicted."


def now(gpu: str) -> Iterator[str]:
    """The errors of the model as it is, in a sentence."""
    found = _modelled(gpu)
    yield figures.sentence("Now", list(found.values()))
    right = [good for _, _, good in figures.steps(found)]
    yield f"Of {len(right)} steps, {sum(right)} go the right way."


def notes() -> Iterator[str]:
    """The course notes' run on a P100, rung by rung."""
    loads = json.loads((_ROOT / "tests" / "models" / "kernel_loads_p100.json").read_text("utf-8"))
    table = next(one for one in course_notes()["000"].table if one.gpu == "p100")
    yield "| rung | notes | modelled | step, notes | step, modelled |"
    yield "|---|---|---|---|---|"
    before: tuple[float, float] | None = None
    for row in table.rows:
        if row.rung not in loads:
            continue
        right = row.seconds
        here = predict(load_of(loads[row.rung]), devices.get("p100")).seconds
        steps = f"{before[0] / right:.2f} | {before[1] / here:.2f}" if before else "|"
        yield f"| {row.rung} | {1e3 * right:.3f} ms | {1e3 * here:.2f} ms | {steps} |"
        before = right, here


def programs(gpu: str) -> Iterator[str]:
    """Every prediction of a program's kernel beside what was measured."""
    yield "| kernel | predicted | measured | ratio | within the interval |"
    yield "|---|---|---|---|---|"
    yield from blind.judged(_HERE / f"blind_{gpu}.json")


SECTIONS: Mapping[str, Callable[[], Iterator[str]]] = {
    "validation on an H200": lambda: validation("h200"),
    "programs on an H200": lambda: programs("h200"),
    "a P100": notes,
    "an H100 that nobody had measured": lambda: unseen("h100"),
    "an H100 as it is modelled now": lambda: now("h100"),
}


def written(text: str) -> str:
    """A page with its tables as they should be."""
    for name, lines in SECTIONS.items():
        shown = "\n".join((f"<!-- {name} -->", *lines(), "<!-- end -->"))
        place = re.compile(rf"<!-- {name} -->.*?<!-- end -->", re.DOTALL)
        text, count = place.subn(lambda _, new=shown: new, text)
        assert count == 1, f"the page has no place for {name}"
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), encoding="utf-8")
