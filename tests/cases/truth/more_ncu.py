"""Which counters are measured, and how ncu measures them: one of its processes for a group of launches."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from more_launch import Case

GROUP = 40  # cases of one ncu process
ADDRESS_SET = "more_rules"  # its cases are measured by what their addresses cost, and nothing else

# Counters, by patterns that a name must match as a whole; those that the chip lacks match nothing.
_ADDRESSES = r"""
l1tex__t_(requests|sectors|set_accesses)_pipe_lsu_mem_global_op_(ld|st|atom|red)
l1tex__t_(requests|sectors)_pipe_lsu_mem_local_op_(ld|st)
l1tex__t_(requests|sectors)_pipe_lsu_mem_global_op_ldgsts(_cache_(access|bypass))?
l1tex__t_output_wavefronts(_pipe_lsu_mem_global_op_(ld|st|atom|red))?
l1tex__data_pipe_lsu_wavefronts(_mem_(lg|shared))?
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_(ld|st|atom)
l1tex__data_bank_conflicts_pipe_lsu_mem_shared(_op_(ld|st|atom))?
lts__t_sectors_op_(read|write|atom|red)
smsp__sass_data_bytes_mem_(global|local|shared)(_op_(ld|st))?
smsp__inst_executed
""".split()
_INSTRUCTIONS = """
dram__sectors_(read|write)
gpu__time_duration
smsp__inst_executed_op_(global|local|shared|generic)_(ld|st|atom|red)
smsp__thread_inst_executed
smsp__thread_inst_executed_pred_on
smsp__sass_branch_targets(_threads_(uniform|divergent))?
smsp__sass_inst_executed_op_branch
smsp__sass_thread_inst_executed_op_(fadd|fmul|ffma|dadd|dmul|dfma|hadd|hmul|hfma)_pred_on
smsp__sass_thread_inst_executed_op_(integer|control|conversion|memory|misc|fp16|fp32|fp64|bit)_pred_on
smsp__sass_thread_inst_executed_op_(inter_thread_communication|uniform)_pred_on
""".split()
_FURTHER = r"""
lts__t_(sectors|requests)_srcunit_tex(_op_(read|write|atom|red))?
l1tex__data_pipe_lsu_wavefronts_mem_(lg|shared)_cmd_(read|write)
l1tex__data_bank_conflicts_pipe_lsu
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit
smsp__inst_executed_op_\w*(shared_atom|global_atom|global_red|generic|ldgsts|ldsm)\w*
smsp__sass_inst_executed_op_(global|local|shared|memory|ldgsts|ldsm|generic)\w*
smsp__sass_l1tex_\w*(wavefronts|conflicts|sectors|requests|tags)\w*
sm__cycles_elapsed
""".split()
_RATIOS = """
l1tex__t_sector_hit_rate
smsp__sass_average_data_bytes_per_sector_mem_(global|local)_op_(ld|st)
smsp__sass_average_data_bytes_per_wavefront_mem_shared(_op_(ld|st))?
smsp__sass_average_branch_targets_threads_uniform
smsp__thread_inst_executed(_pred_on)?_per_inst_executed
sm__maximum_warps_avg_per_active_cycle
""".split()
# Known by ncu though its list of the chip's metrics need not show them: launches, counts of instructions.
_UNLISTED = """
launch__registers_per_thread launch__shared_mem_per_block_static launch__shared_mem_per_block_dynamic
launch__occupancy_limit_blocks launch__occupancy_limit_registers launch__occupancy_limit_shared_mem
launch__occupancy_limit_warps launch__occupancy_limit_barriers launch__waves_per_multiprocessor
sm__maximum_warps_per_active_cycle_pct sm__warps_active.avg.pct_of_peak_sustained_active
""".split()
_OF_INSTRUCTIONS = """
inst_executed thread_inst_executed thread_inst_executed_true
memory_l1_wavefronts_shared memory_l1_wavefronts_shared_ideal
memory_l1_tag_requests_global
memory_l2_theoretical_sectors_global memory_l2_theoretical_sectors_global_ideal
memory_l2_theoretical_sectors_local
memory_type memory_access_type memory_access_size_type
""".split()


@dataclass(slots=True)
class Work:
    """A case, the file that describes it, the machine code that it runs, and what is known of it so far."""

    set: str
    case: Case
    cases: Path
    image: Path
    entry: str
    found: dict[str, Any] = field(default_factory=dict[str, Any])


def say(text: str) -> None:
    """Print at once, so that a run that is cut short has told what it did."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def call(name: str, *options: str) -> str:
    """Run a program of the toolkit; returns what it printed. Raises CalledProcessError."""
    return subprocess.run([program(name), *options], check=True, capture_output=True, text=True).stdout


def program(name: str) -> str:
    """Where a program of the toolkit is: on the path, or where NVIDIA's installers put it."""
    usual = (
        *Path("/usr/local").glob(f"cuda*/bin/{name}"),
        *Path("/opt/nvidia").glob(f"nsight-compute/*/{name}"),
    )
    return shutil.which(name) or next((str(place) for place in usual), name)


def runner(items: list[Work], folder: Path, check: bool) -> tuple[list[str], Path]:
    """The command that launches these cases, and the file that will hold a line for each."""
    plan, lines = folder / "plan.json", folder / "plan.lines"
    rows = [
        {
            "id": item.case.id,
            "cases": str(item.cases),
            "image": str(item.image),
            "entry": item.entry,
            "check": check,
        }
        for item in items
    ]
    plan.write_text(json.dumps(rows))
    lines.write_text("")
    return [sys.executable, str(Path(__file__).parent / "more_run.py"), str(plan), str(lines)], lines


# ---------------------------------------------------------------------------------------- names of metrics
def _listed() -> list[str]:
    """The metrics that ncu lists for this chip, with their suffixes; at least those of the open set."""
    name = re.compile(r"^\s*([a-z]\w+__[\w.]+)", re.MULTILINE)
    known = Path(__file__).with_name("open_h100.json")
    found = list[str]()
    if known.exists():
        found += [key for case in json.loads(known.read_text()).values() for key in case["metrics"]]
    try:
        listed = name.findall(call("ncu", "--query-metrics-mode", "all", "--query-metrics"))
        if not any(word.endswith(".sum") for word in listed):
            bases = name.findall(call("ncu", "--query-metrics"))
            listed = [base + suffix for base in bases for suffix in (".sum", ".ratio", ".pct")]
    except subprocess.CalledProcessError as error:
        say(f"ncu lists no metrics: {error.stdout[-500:]} {error.stderr[-500:]}")
        listed = list[str]()
    say(f"ncu lists {len(listed)} metrics")
    return list(dict.fromkeys([*listed, *found]))


def _choose(listed: list[str], counters: Sequence[str], ratios: Sequence[str]) -> list[str]:
    pattern = re.compile(rf"({'|'.join(counters)})\.sum|({'|'.join(ratios) or '-'})\.(ratio|pct)")
    return [name for name in listed if pattern.fullmatch(name)]


def _usable(metrics: list[str], items: list[Work], folder: Path) -> list[str]:
    """Leave out the names that ncu refuses when it is asked to measure them; [] if it measures nothing."""
    for _ in range(20):
        report, problem = _measure(metrics, items, folder, 60)
        if report is not None:
            say(f"{len(metrics)} metrics are measured{': ' + problem if problem else ''}")
            return metrics
        refused = {name for name in metrics if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", problem)}
        if not refused:
            say(f"ncu measures none of {len(metrics)} metrics: {problem}")
            return []
        say(f"refused: {', '.join(sorted(refused))}")
        metrics = [name for name in metrics if name not in refused]
    return []


# ---------------------------------------------------------------------------------------- measuring
def profile(ready: list[Work], folder: Path, until: float) -> Iterator[str]:
    """Measure cases group by group; yields ncu's listing of each group's machine instructions.

    If at the pace of a group time would run out, those that follow get the core metrics alone.
    """
    listed = _listed()
    core = [*_choose(listed, [*_ADDRESSES, *_INSTRUCTIONS], _RATIOS), *_UNLISTED]
    core = _usable(core, ready[:1], folder)
    further = [*_choose(listed, _FURTHER, []), *_OF_INSTRUCTIONS]
    full = _usable(list(dict.fromkeys([*core, *further])), ready[:1], folder) or core
    addresses = {*_choose(listed, _ADDRESSES, []), *_OF_INSTRUCTIONS}
    if not full:
        return
    for group, later in _groups(ready):
        metrics = [name for name in full if name in addresses] if group[0].set == ADDRESS_SET else full
        began = time.monotonic()
        yield from _measure_group(metrics, group, folder, until)
        now = time.monotonic()
        pace = (now - began) / len(group)
        say(f"{group[0].set}: {len(group)} cases in {now - began:.0f} s; {later} left, {until - now:.0f} s")
        if pace * later > until - now and core and full is not core:
            say("from here on the core metrics alone")
            full = core


def _groups(ready: list[Work]) -> Iterator[tuple[list[Work], int]]:
    """Groups of cases of one set each, and how many cases come after."""
    done = 0
    for name in dict.fromkeys(item.set for item in ready):
        cases = [item for item in ready if item.set == name]
        for start in range(0, len(cases), GROUP):
            group = cases[start : start + GROUP]
            done += len(group)
            yield group, len(ready) - done


def _measure_group(metrics: list[str], group: list[Work], folder: Path, until: float) -> Iterator[str]:
    """Measure some cases in one process; halve them if it does not measure them all."""
    left = until - time.monotonic()
    if left < 10:
        say(f"no time is left for {len(group)} cases from {group[0].set} {group[0].case.id} on")
        return
    report, problem = _measure(metrics, group, folder, left)
    if report is not None and _read(report, metrics, group):
        try:
            yield call("ncu", "--import", str(report), "--page", "source", "--csv")
        except subprocess.CalledProcessError as error:
            say(f"no listing of the machine code: {error.stdout[-300:]} {error.stderr[-300:]}")
    elif len(group) > 1:
        say(f"{group[0].case.id} and {len(group) - 1} others again: {problem[-500:]}")
        half = len(group) // 2
        yield from _measure_group(metrics, group[:half], folder, until)
        yield from _measure_group(metrics, group[half:], folder, until)
    else:
        group[0].found["failure"] = problem[-500:] or "ncu measured nothing"


def _measure(metrics: list[str], items: list[Work], folder: Path, seconds: float) -> tuple[Path | None, str]:
    """Run these cases under ncu; returns its report, or None, and what it complained of."""
    report = folder / "measured.ncu-rep"
    report.unlink(missing_ok=True)
    command, _ = runner(items, folder, check=False)
    options = ("--target-processes", "all", "--cache-control", "all", "--clock-control", "none")
    output = ("--export", str(report), "--force-overwrite")
    try:
        ended = subprocess.run(
            [program("ncu"), *options, "--metrics", ",".join(metrics), *output, *command],
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return None, "ncu did not end in time"
    said = f"{ended.stdout}\n{ended.stderr}"
    complaints = "\n".join(re.findall(r"^==(?:ERROR|WARNING)==.*", said, re.MULTILINE))
    if report.exists():
        return report, complaints
    return None, complaints or said[-2000:]


def _read(report: Path, metrics: list[str], group: list[Work]) -> bool:
    """Take each launch's metrics from a report; returns whether it holds the group's launches, in order."""
    options = ("--page", "raw", "--csv", "--print-units", "base", "--print-kernel-base", "mangled")
    text = call("ncu", "--import", str(report), *options)
    lines = [line for line in text.splitlines() if line.startswith('"')]
    if len(lines) != len(group) + 2:  # names, units, a row for each
        return False
    names, _, *rows = csv.reader(io.StringIO("\n".join(lines)))
    place = names.index("Kernel Name")
    if any(
        item.case.kernel.partition("<")[0] not in row[place] for item, row in zip(group, rows, strict=True)
    ):
        return False
    for item, row in zip(group, rows, strict=True):
        cells = {name: _number(cell) for name, cell in zip(names, row, strict=True)}
        item.found["metrics"] = {name: cells[name] for name in metrics if cells.get(name) is not None}
    return True


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        return None
