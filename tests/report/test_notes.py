"""The course notes beside ours: the files, the pairs, the page, and how near modelled times come."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.notes_page import PAGE, modelled, text
from tests.report.test_bench_report import ROW, SHARED
from warpglass import devices
from warpglass.ladders import find_ladder
from warpglass.ladders.trial import Options
from warpglass.records.bench import Record
from warpglass.records.course_notes import course_notes, noted_gpus
from warpglass.records.kernel_time import ModelledTime
from warpglass.report.console import text_console, text_of
from warpglass.report.notes import ours_of, print_notes

NOTES = course_notes()


def test_every_set_of_notes_names_gpus_and_rungs_that_there_are():
    assert list(NOTES) == ["000", "001", "002", "003", "004"]
    for notes in NOTES.values():
        rungs = {rung.name for rung in find_ladder(notes.ladder).rungs(Options())}
        for table in notes.table:
            assert devices.get(table.gpu).key == table.gpu
            assert {row.rung for row in table.rows} <= rungs | {"cpu_recursive"}
    assert noted_gpus("reduction") == ("p100", "m2070", "rtx3050-laptop")


def test_figures_that_follow_from_others_do():
    run, tables = NOTES["000"].table
    assert run.rows[1].seconds / run.rows[-1].seconds == pytest.approx(6.70, abs=0.005)
    assert tables.rows[0].seconds / tables.rows[-1].seconds == pytest.approx(9.35, abs=0.01)
    (laptop,) = NOTES["004"].table
    for row in laptop.rows:
        assert 8 * 2**22 / row.seconds / 2**30 == pytest.approx(row.gib_per_s, rel=2e-4)
    ratios = [
        row.host_seconds / row.seconds for t in NOTES["001"].table for row in t.rows if row.host_seconds
    ]
    assert ratios == pytest.approx([17.25, 17.23, 28.79, 30.42, 27.05, 31.12], abs=0.01)


def record(*rows: object) -> Record:
    return Record(
        ladder="reduction",
        device="an engine",
        backend="cpu",
        version="0",
        rows=rows,  # pyright: ignore[reportArgumentType]
        counted_for="Tesla P100-PCIE-16GB",
    )


def test_times_of_another_size_are_not_set_beside_the_notes():
    p100 = ModelledTime(device="p100", name="Tesla P100-PCIE-16GB", seconds=3e-4)
    table = NOTES["000"].table[0]
    row = replace(ROW, modelled=(p100,), metrics={"gld_efficiency": 98.0})
    assert ours_of(record(row), table)[ROW.rung].seconds == 3e-4
    assert ours_of(record(replace(row, size=2**20)), table)[ROW.rung].seconds is None
    assert ours_of(record(replace(row, dtype="float32")), table) == {}


def test_the_notes_are_printed_below_a_bench():
    laptop = ModelledTime(device="rtx3050-laptop", name="a laptop's", seconds=5e-4)
    console = text_console(160)
    print_notes(record(replace(SHARED, modelled=(laptop,))), console)
    shown = text_of(console)
    for part in (
        "Course notes 000",
        "Course notes 004",
        "grid 512, block 32768; right is grid 32768, block 512",
        "Ours: warpglass bench reduction --size 16777216 --dtype int32 --model m2070 --notes",
        "lanes of one warp that want different words of one bank",
    ):
        assert part in shown
    line = next(line for line in shown.splitlines() if line.startswith("shared_interleaved_strided"))
    assert line.split()[1:7] == ["493.8", "us", "500.0", "us", "63.29", "62.50"]


def test_the_page_is_what_the_model_says():
    assert PAGE.read_text("utf-8") == text(), "python -m tests.notes_page"


@pytest.mark.parametrize("number", range(3))
def test_the_sorts_of_001_are_within_35_percent(number: int):
    table = NOTES["001"].table[number]
    ours = modelled(table)
    for row in table.rows:
        assert ours[f"{row.rung}/{row.size}"].seconds == pytest.approx(row.seconds, rel=0.35)


def test_the_order_of_the_tables_of_000_and_004():
    for table in (NOTES["000"].table[1], NOTES["004"].table[0]):
        ours = modelled(table)
        times = [ours[f"{row.rung}/{row.size}"].seconds for row in table.rows]
        for before, after in pairwise(times):
            assert before is not None
            assert after is not None
            assert after <= 1.005 * before
