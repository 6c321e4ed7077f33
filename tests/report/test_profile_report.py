"""Views of profiles: numbers, labels, remarks, lines, and the tables of nvprof and ncu."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.report.profiles import DEFINITIONS, GLD, make
from warpglass.errors import ArgumentError
from warpglass.observe.counters import COUNTERS
from warpglass.records.profile import LineProfile, Profile, Subject
from warpglass.report.console import text_console, text_of
from warpglass.report.metrics import Definition, find, print_definition
from warpglass.report.profile import format_number, launch_text, print_profile, print_sites, print_summary
from warpglass.report.profile_csv import profile_csv, summary_csv
from warpglass.report.profile_lines import print_lines, short
from warpglass.report.profile_remarks import remarks

KNOWN = {one.name: one for one in DEFINITIONS}


def view(profile: Profile, width: int, **options: bool) -> str:
    console = text_console(width)
    print_profile(profile, DEFINITIONS[:-1], console, **options)
    return text_of(console)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("width", [72, 80, 140])
def test_numbers_stand_under_their_subject(width: int):
    lines = view(make(), width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0] == "k<<<2, 128>>>"
    start = lines.index(next(line for line in lines if line.startswith("Global memory")))
    assert lines[start + 1].split()[:3] == ["gld_transactions", "64", "exact"]
    assert lines[start + 2].split()[:4] == ["gld_efficiency", "25.00", "%", "exact"]
    silent = next(line for line in lines if line.startswith("Nothing counted:"))
    assert "floating-point operations" in silent
    assert "shared memory" in silent


def test_chosen_numbers_are_shown_even_if_zero():
    text = view(make(), 80, all_zeros=True)
    assert ["flop_count_sp", "0", "modelled"] in [line.split() for line in text.splitlines()]
    assert "stands out" not in text


def test_texts_need_room():
    assert "sectors of global loads" not in view(make(), 80)
    assert "sectors of global loads" in view(make(), 140)


def test_measured_and_counted_side_by_side():
    labels = {**make().labels, "gld_transactions": "measured"}
    text = view(make(labels=labels, counted={"gld_transactions": 63.0}, time_label="gpu"), 80)
    assert "GPU time: 500.0 ms\n" in text
    assert ["gld_efficiency", "-", "25.00", "%", "exact"] in [line.split() for line in text.splitlines()]
    assert "measured" in text
    assert "engine" in text
    assert ["gld_transactions", "64", "63", "measured"] in [line.split() for line in text.splitlines()]


# ---------------------------------------------------------------------------------------- remarks
def test_uncoalesced_loads_name_the_worst_line():
    (found,) = remarks(make(used=8))
    assert found.heading == "Uncoalesced loads"
    assert "8 bytes" in found.text
    assert "8 sectors" in found.text
    assert found.worst == "k.cu:3"


def test_good_kernels_get_no_remark():
    assert not list(remarks(make(used=32)))


@pytest.mark.parametrize(
    ("heading", "counters"),
    [
        (
            "Bank conflicts",
            {
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": 31.0,
                "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": 32.0,
            },
        ),
        (
            "Divergence",
            {
                "smsp__sass_branch_targets_threads_divergent.sum": 4.0,
                "smsp__sass_branch_targets.sum": 10.0,
            },
        ),
        ("Idle lanes", {"smsp__inst_executed.sum": 10.0, "smsp__thread_inst_executed.sum": 100.0}),
        ("Local memory", {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum": 128.0}),
    ],
)
def test_each_remark(heading: str, counters: dict[str, float]):
    profile = make(used=32, lines=(LineProfile("a.cu", 1, {}), LineProfile("a.cu", 7, counters)))
    profile.counters.update(counters)
    (found,) = remarks(profile)
    assert (found.heading, found.worst) == (heading, "a.cu:7")


def test_low_occupancy_names_the_limit():
    fit = {"share": 0.25, "limiting": ["registers", "shared memory"]}
    (found,) = remarks(make(used=32, occupancy=fit))
    assert found.heading == "Low occupancy"
    assert "25 %" in found.text
    assert "registers and shared memory" in found.text


# ---------------------------------------------------------------------------------------- lines
def test_listing_marks_the_worst_line(tmp_path: Path):
    file = tmp_path / "k.cu"
    file.write_text("\n".join(f"line{k};" for k in range(1, 41)))
    bad, good = make(used=4).lines[0].counters, make(sectors=8, used=32).lines[0].counters
    lines = [
        LineProfile(str(file), 5, bad),
        LineProfile(str(file), 6, good),
        LineProfile(str(file), 30, good),
    ]
    console = text_console(80)
    print_lines(make(lines=tuple(lines)), console)
    shown = text_of(console).splitlines()
    assert max(map(len, shown)) <= 80
    (worst,) = [line for line in shown if "!! 87.5" in line]
    assert worst.split()[0] == "5"
    assert worst.endswith("line5;")
    text = "\n".join(shown)
    assert "line4;" in text
    assert "line32;" in text
    assert "line15;" not in text
    assert "..." in text
    assert "flicts" not in text  # no column of zeros


def test_listing_without_the_file_still_has_the_numbers():
    console = text_console(80)
    print_lines(make(), console)
    assert any(line.split()[:1] == ["3"] for line in text_of(console).splitlines())


def test_listing_without_line_information_says_so():
    console = text_console(80)
    print_lines(make(lines=()), console)
    assert "-lineinfo" in text_of(console)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (9999, "9999"),
        (12345, "12.3k"),
        (123456, "123k"),
        (4.5e6, "4.5M"),
        (2e9, "2.0G"),
        (4.06, "4.06"),
    ],
)
def test_short_counts(value: float, text: str):
    assert short(value) == text


# ---------------------------------------------------------------------------------------- CSV
def test_nvprof_names_get_nvprof_columns():
    launches = [make(sectors=64), make(sectors=32)]
    found = rows(profile_csv(launches, find(["gld_transactions", "gld_efficiency"], KNOWN)))
    assert list(found[0]) == [
        *("Device", "Kernel", "Invocations", "Metric Name", "Metric Description", "Min", "Max", "Avg")
    ]
    assert found[0]["Device"] == "NVIDIA H100 80GB HBM3 (engine)"
    assert [found[0][key] for key in ("Invocations", "Min", "Max", "Avg")] == ["2", "32", "64", "48"]
    assert found[1]["Avg"] == "25.000000%"


def test_nsight_names_get_ncu_columns():
    found = rows(profile_csv([make(), make()], find([GLD, "gld_transactions"], KNOWN)))
    assert [row["ID"] for row in found] == ["0", "0", "1", "1"]
    first = found[0]
    assert (first["Kernel Name"], first["Block Size"], first["Grid Size"]) == (
        "k",
        "(128, 1, 1)",
        "(2, 1, 1)",
    )
    assert (first["Metric Name"], first["Metric Unit"], first["Metric Value"]) == (GLD, "sector", "64")


def test_what_was_not_counted_is_no_number():
    absent = Definition("l2_read_transactions", "sectors", Subject.CACHES, "", "x", ("x",))
    assert rows(profile_csv([make()], [absent]))[0]["Avg"] == "n/a"


def test_summary_says_whose_times():
    found = rows(summary_csv([make(seconds=0.25), make(seconds=0.5), make(kernel="other", seconds=0.25)]))
    assert found[0]["Time(%)"] == "%"
    assert [found[1][key] for key in ("Name", "Calls", "Time", "Time(%)")] == [
        "k",
        "2",
        "750.000000",
        "75.00",
    ]
    assert "not a GPU's" in found[1]["Type"]
    console = text_console(80)
    print_summary([make()], console)
    assert "a GPU's" in text_of(console)


def test_sites_add_up_launches():
    console = text_console(100)
    print_sites(
        [make(site="/x/s.py:4"), make(site="/x/s.py:4", sectors=192, used=32), make(site="/x/s.py:9")],
        console,
    )
    first, second = text_of(console).splitlines()[1:]
    assert first.split()[:5] == ["s.py:4", "k<<<2,", "128>>>", "2", "200"]
    assert f"{100 * (64 * 8 + 192 * 32) / (32 * 256):.1f}" in first
    assert second.split()[0] == "s.py:9"


# ---------------------------------------------------------------------------------------- definitions
def test_unknown_names_get_the_nearest():
    with pytest.raises(ArgumentError, match="'gld_transaction' .did you mean gld_transactions"):
        find(["gld_transaction"], KNOWN)


@pytest.mark.parametrize("name", ["ipc", "achieved_occupancy", "gld_throughput", "stall_sync"])
def test_what_needs_a_clock_is_said(name: str):
    with pytest.raises(ArgumentError, match=f"'{name}' .it needs the clock of a GPU"):
        find([name], KNOWN)


def test_definition_shows_formula_and_both_directions():
    console = text_console(80)
    print_definition(
        KNOWN["gld_efficiency"],
        KNOWN | dict.fromkeys(KNOWN["gld_efficiency"].counters, KNOWN[GLD]),
        console,
    )
    assert "100 * a / b" in text_of(console)
    console = text_console(80)
    print_definition(KNOWN[GLD], KNOWN, console)
    assert "gld_transactions, gld_efficiency" in " ".join(text_of(console).split())


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request"),
        ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector/request"),
        ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%"),
        ("smsp__inst_executed.sum", "inst"),
        ("launch__registers_per_thread", "register/thread"),
    ],
)
def test_units_of_counters(name: str, unit: str):
    assert COUNTERS[name].unit == unit


def test_numbers_and_launches_as_text():
    assert [format_number(*one) for one in ((1234567.0, ""), (0.5, ""), (12.345, "%"))] == [
        *("1,234,567", "0.50", "12.35 %")
    ]
    assert launch_text(make(grid=(4, 1, 2), block=(8, 8, 1), shared=64)) == "k<<<4x1x2, 8x8, 64>>>"
