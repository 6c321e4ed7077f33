"""docs/notes.md: the course notes' figures beside modelled ones, from launches that were counted once.

`python -m tests.notes_page` writes the page. What was counted of each launch is in models/notes_*.json and
models/kernel_loads_p100.json: the model says the times anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warpglass import devices
from warpglass.models.kernel_time import Atomics, Load, predict
from warpglass.records.course_notes import NotedTable, course_notes
from warpglass.report.notes import Ours, notes_table
from warpglass.report.tables import markdown_text

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "notes.md"
_HEAD = """# The course notes' figures beside ours

warpglass was made from five sets of course notes. This page, which `python -m tests.notes_page` writes, has
every figure that they publish, beside the time that the [model of kernel times](kernel-time.md) gives for
their GPU and size without having that GPU, and what is wrong in them. `warpglass bench reduction --notes`
prints the same below a bench.

The P100's run was in view when the P100's rates were chosen; no rate was chosen by the other times. GPUs
older than compute capability 7.5 are judged with machine code for that one, and with rates of datasheets.
"""
_EFFICIENCIES = """The notes do not say whose Tables 3-5 and 3-6 are; lines of 128 bytes for loads make it a
Fermi GPU, for which a Tesla M2070 stands. `warpglass bench reduction --size 2^24 --dtype int32 --model m2070
--notes` counts the efficiencies. The store column equals the notes' in every digit.
"""
_SORT = """A sort of G blocks makes G cycles of two launches, of G blocks and of G - 1; ours is 2 G times
a modelled launch. The host's time is the notes' own.
"""


def loads() -> dict[str, Load]:
    """The launches by GPU, rung and size: "m2070/unroll8/16777216"."""
    found: dict[str, Any] = json.loads((HERE / "models" / "notes_loads.json").read_text("utf-8"))
    p100: dict[str, Any] = json.loads((HERE / "models" / "kernel_loads_p100.json").read_text("utf-8"))
    found |= {f"p100/{rung}/{2**24}": one for rung, one in p100.items()}
    return {
        name: Load(**{**one, "atomics": tuple(Atomics(**part) for part in one.get("atomics", ()))})
        for name, one in found.items()
    }


def efficiencies() -> dict[str, tuple[float, float]]:
    """What was counted of the reductions on an M2070: load and store efficiency in percent, by rung."""
    found: dict[str, Any] = json.loads((HERE / "models" / "notes_efficiencies.json").read_text("utf-8"))
    return {rung: (loads, stores) for rung, (loads, stores) in found.items()}


def modelled(table: NotedTable) -> dict[str, Ours]:
    """Ours of a table, by rung and size."""
    known, device = loads(), devices.get(table.gpu)
    counted = efficiencies() if table.rows[0].gld_efficiency else {}
    found: dict[str, Ours] = {}
    for row in table.rows:
        load = known.get(f"{table.gpu}/{row.rung}/{table.size_of(row)}")
        if load is None:
            continue
        launches = 2 * load.blocks if row.rung == "multi_block" else 1
        seconds = launches * predict(load, device).seconds
        found[f"{row.rung}/{row.size}"] = Ours(seconds, *counted.get(row.rung, (None, None)))
    return found


def text() -> str:
    """The page."""
    return "\n".join(_parts())


def _parts() -> Iterator[str]:
    yield _HEAD
    for key, notes in course_notes().items():
        yield f"## {key}: {notes.about}\n"
        for table in notes.table:
            yield markdown_text([notes_table(table, modelled(table))])
        if key == "000":
            yield _EFFICIENCIES
        if key == "001":
            yield _SORT
        for heading, found in (
            ("Figures", notes.figure),
            ("Errata", notes.erratum),
            ("Misconceptions", notes.misconception),
        ):
            if found:
                yield f"{heading}:\n"
                yield "| of | the notes say | right |\n|---|---|---|"
                yield "".join(f"| {one.of} | {one.says} | {one.right} |\n" for one in found)


if __name__ == "__main__":
    PAGE.write_text(text(), "utf-8")
