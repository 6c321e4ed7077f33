"""Lessons: each has a launch that fires it and one that does not; the cause is told, not its symptoms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.report.profiles import make
from warpglass.lab.profile import count
from warpglass.lab.rungs import launches_of, parse_rung
from warpglass.models.kernel_time import saved
from warpglass.records.kernel_time import ModelledTime
from warpglass.records.profile import LineProfile, Numbers, Profile
from warpglass.report.console import text_console, text_of
from warpglass.report.explain.advice import advice_record, advise
from warpglass.report.explain.rules import LESSONS
from warpglass.report.explain.view import print_advice

SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
BYTES = "smsp__sass_data_bytes_mem_global_op_{}.sum"
NAMES = {
    "instructions": "smsp__inst_executed.sum",
    "threads": "smsp__thread_inst_executed.sum",
    "passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "collisions": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    "branches": "smsp__sass_branch_targets.sum",
    "parted": "smsp__sass_branch_targets_threads_divergent.sum",
    "local": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "dram": "dram__bytes_read.sum",
    **{f"{kind}_sectors": SECTORS.format(kind) for kind in ("ld", "st")},
    **{f"{kind}_requests": REQUESTS.format(kind) for kind in ("ld", "st")},
    **{f"{kind}_bytes": BYTES.format(kind) for kind in ("ld", "st")},
}
GOOD = {
    "instructions": 1000.0, "threads": 32000.0, "branches": 100.0, "dram": 12800.0,
    "ld_sectors": 400.0, "ld_requests": 100.0, "ld_bytes": 12800.0,
    "st_sectors": 400.0, "st_requests": 100.0, "st_bytes": 12800.0,
}  # fmt: skip
DEMAND = {"threads": 256, "registers": 32, "static_shared": 0, "dynamic_shared": 0}
FIT: dict[str, Any] = {"share": 1.0, "warps": 64, "blocks": 8, "limiting": ["warps"], "demand": DEMAND}


def launch(
    counts: dict[str, float] | None = None,
    block: int = 256,
    grid: int = 132 * 8 * 10,
    fit: dict[str, Any] | None = None,
    lines: tuple[dict[str, float], ...] | None = None,
) -> Profile:
    """A launch that is well made but for what is said; line 5 does all, or its lines do what `lines` say."""
    own = {NAMES[name]: value for name, value in {**GOOD, **(counts or {})}.items()}
    split = [{NAMES[name]: value for name, value in one.items()} for one in lines or ()] or [own]
    return replace(
        make(),
        grid=(grid, 1, 1),
        block=(block, 1, 1),
        counters=Numbers(own),
        lines=tuple(LineProfile("k.cu", 5 + number, one) for number, one in enumerate(split)),
        occupancy={**FIT, **(fit or {})},
    )


def fit_of(share: float, limiting: str) -> dict[str, Any]:
    return {"share": share, "warps": int(64 * share), "blocks": 2, "limiting": [limiting]}


FIRES = {
    "a block is less than a warp": launch({"threads": 1000.0}, block=1),
    "a warp is not filled": launch({"threads": 25000.0}, block=50),
    "one thread works, the others wait": launch(
        {"threads": 7200.0},
        lines=(
            {"instructions": 200.0, "threads": 6400.0},
            {"instructions": 800.0, "threads": 800.0},
        ),
    ),
    "most of the GPU has no block": launch(grid=10),
    "the last wave is not full": launch(grid=132 * 8 + 1),
    "accesses are not coalesced": launch({"ld_sectors": 3200.0, "dram": 102400.0}),
    "accesses are not aligned": launch({"ld_sectors": 600.0, "st_sectors": 500.0, "dram": 19200.0}),
    "atomics wait for each other": replace(
        launch(),
        modelled=ModelledTime(
            device="h100",
            name="H100",
            seconds=9e-6,
            limiter="atomics that meet",
            limits={"atomics": 7e-6, "dram": 2e-6},
        ),
    ),
    "banks conflict": launch({"passes": 900.0, "conflicts": 800.0}),
    "atomics meet in shared memory": launch({"passes": 900.0, "conflicts": 800.0, "collisions": 800.0}),
    "branches part warps": launch({"parted": 90.0, "threads": 16000.0}),
    "lanes wait": launch({"threads": 16000.0}),
    "shared memory leaves room for few blocks": launch(fit=fit_of(0.25, "shared memory")),
    "registers leave room for few blocks": launch(fit=fit_of(0.25, "registers")),
    "few blocks fit": launch(block=32, fit=fit_of(0.5, "blocks")),
    "registers do not suffice": launch({"local": 900.0}),
    "the same data is loaded again": launch(
        {"ld_sectors": 40000.0, "ld_requests": 10000.0, "ld_bytes": 1280000.0}
    ),
}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_each_lesson_fires_where_it_should_and_not_elsewhere(lesson: Any):
    assert advise(FIRES[lesson.name])[0].name == lesson.name
    assert not advise(launch())
    others = {name for name in FIRES if lesson.name in [one.name for one in advise(FIRES[name])]}
    assert others == {lesson.name}


def test_the_worst_line_is_named():
    told = advise(FIRES["one thread works, the others wait"])
    assert [(one.file, one.line) for one in told] == [("k.cu", 6)]


def test_one_word_for_all_lanes_is_no_waste():
    broadcast = {"ld_sectors": 100.0, "ld_requests": 100.0, "ld_bytes": 400.0, "dram": 3200.0}
    assert not advise(launch(broadcast))


def test_a_size_that_nobody_chose_teaches_nothing_about_grids():
    assert not advise(FIRES["most of the GPU has no block"], small=True)


def test_the_least_record_has_an_answer():
    bare = replace(make(), model="a GPU of tomorrow", counters=Numbers(), lines=(), occupancy={})
    assert not advise(bare)


@pytest.mark.parametrize(
    ("rung", "lesson"),
    [
        ("dot:one_thread_sums", "one thread works, the others wait"),
        ("vector:one_thread_a_block:python", "a block is less than a warp"),
        ("matmul:naive", "the same data is loaded again"),
        ("reduction:shared_interleaved_strided", "banks conflict"),
        ("transpose:naive", "accesses are not coalesced"),
    ],
)
def test_rungs_teach_what_they_are_there_for(rung: str, lesson: str):
    first = launches_of(parse_rung(rung), "h100")[0]
    profile = count(first, "h100")
    told = advise(profile, small=True)
    assert told[0].name == lesson
    console = text_console(80)
    print_advice(profile, told, console)
    shown = text_of(console)
    assert f"1. {lesson[0].upper()}{lesson[1:]}" in shown
    assert told[0].remedy.split()[0] in shown
    if told[0].line:
        assert f"{Path(told[0].file).name}:{told[0].line}: " in shown


def test_what_is_saved_is_what_the_limiters_no_longer_take():
    limits = {"l2": 4e-6, "latency": 1e-6}
    assert saved(7e-6, limits, {"l2": 1.0}) == pytest.approx((64 + 1) ** (1 / 3) * 1e-6 - 1e-6)
    assert saved(7e-6, limits, {"dram": 0.5}) == 0
    assert saved(7e-6, {}, {"l2": 0.5}) == 0


def test_what_costs_next_to_nothing_comes_last():
    several = launch({"ld_sectors": 3200.0, "dram": 102400.0, "passes": 500.0, "conflicts": 450.0})
    first, second = advise(several)
    assert (first.name, second.name) == ("accesses are not coalesced", "banks conflict")
    time = ModelledTime(
        device="h100", name="H100", seconds=9e-6, limiter="shared memory", limits={"shared": 7e-6, "l2": 1e-7}
    )
    assert [one.name for one in advise(replace(several, modelled=time))] == [second.name, first.name]
    assert advise(replace(several, modelled=time), most=1)[0].name == second.name


def test_a_kernel_that_wastes_nothing_is_told_what_is_left():
    time = ModelledTime(
        device="h100", name="H100", seconds=9e-6, limiter="DRAM bandwidth", limits={"dram": 7e-6}
    )
    console = text_console(200)
    print_advice(replace(launch(), modelled=time), (), console)
    print_advice(launch(), (), console)
    shown = text_of(console)
    assert "Try, against DRAM bandwidth: move fewer bytes" in shown
    assert "`warpglass roofline` says what binds the kernel." in shown


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"l2": 8e-6, "latency": 1e-6}, "In modelled time it costs up to 6.745 us of 11.00 us."),
        ({"dram": 8e-6}, "In modelled time it costs next to nothing of 11.00 us, limited by memory."),
    ],
)
def test_costs_stand_in_modelled_time_too(limits: dict[str, float], said: str):
    time = ModelledTime(
        device="h100", name="H100", seconds=11e-6, low=9e-6, high=13e-6, limiter="memory", limits=limits
    )
    strided = launch({"ld_sectors": 3200.0, "st_sectors": 3200.0})
    profile = replace(strided, modelled=time)
    console = text_console(200)
    print_advice(profile, advise(profile), console)
    shown = " ".join(text_of(console).split())
    assert said in shown
    assert "modelled time 11.00 us (9.000 to 13.00 us), limited by memory." in shown
    (known, *_), (unknown, *_) = (advice_record(one, advise(one))["advice"] for one in (profile, strided))
    assert known["seconds"] is not None
    assert unknown["seconds"] is None
