"""Profiles as comma-separated values, in the columns of nvprof and of Nsight Compute.

Belongs here: the two tables that scripts written for those tools read, and nvprof's summary of times. Metrics
under nvprof's names get nvprof's columns, one row for all launches of a kernel; as soon as a name of Nsight
Compute is asked for, and if none is, there are ncu's columns, one row for each launch and number. Lines that
those tools print around their tables (`==1234== ...`) are left out: the file is CSV from the first line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isnan, nan

from ..devices import get
from ..records.profile import Profile
from .metrics import Definition

_NCU = (
    *("ID", "Kernel Name", "Block Size", "Grid Size", "CC", "Section Name"),
    *("Metric Name", "Metric Unit", "Metric Value", "Label"),
)
_NVPROF = ("Device", "Kernel", "Invocations", "Metric Name", "Metric Description", "Min", "Max", "Avg")
_SUMMARY = ("Type", "Time(%)", "Time", "Calls", "Avg", "Min", "Max", "Name")


def profile_csv(profiles: Sequence[Profile], chosen: Sequence[Definition]) -> str:
    """Return the chosen numbers of the launches, in nvprof's columns if all are nvprof's."""
    if all(one.nvprof for one in chosen):
        return _write(_NVPROF, _nvprof_rows(profiles, chosen))
    return _write(_NCU, _ncu_rows(profiles, chosen))


def _ncu_rows(profiles: Sequence[Profile], chosen: Sequence[Definition]) -> Iterator[tuple[object, ...]]:
    for number, profile in enumerate(profiles):
        capability = "{}.{}".format(*get(profile.model).capability)
        launch = (number, profile.kernel, profile.block, profile.grid, capability)
        for one in chosen:
            label = profile.labels.get(one.name, "")
            section = "Command line profiler metrics"
            yield (*launch, section, one.name, one.unit, plain(number_of(profile, one)), label)


def _nvprof_rows(profiles: Sequence[Profile], chosen: Sequence[Definition]) -> Iterator[tuple[object, ...]]:
    for (model, kernel), launches in _grouped(profiles, lambda one: (one.model, one.kernel)):
        place = "0" if launches[0].time_label == "gpu" else "engine"
        device = f"{get(model).name} ({place})"
        for one in chosen:
            values = [number_of(profile, one) for profile in launches]
            spread = (min(values), max(values), sum(values) / len(values))
            yield (device, kernel, len(launches), one.name, one.text, *(_nvprof(v, one.unit) for v in spread))


def number_of(profile: Profile, one: Definition) -> float:
    """A number of a profile, whichever tool's name it goes by; NaN if it was not counted."""
    return (profile.metrics if one.nvprof else profile.counters).get(one.name, nan)


def summary_rows(profiles: Sequence[Profile]) -> list[tuple[str, float, float, int, float, float, float]]:
    """Kernel, share of all time, then time, calls, average, least and most, in seconds; longest first."""
    total = sum(one.seconds for one in profiles)
    rows: list[tuple[str, float, float, int, float, float, float]] = []
    for (kernel,), launches in _grouped(profiles, lambda one: (one.kernel,)):
        times = [one.seconds for one in launches]
        own = sum(times)
        share = own / total if total else 0.0
        rows.append((kernel, share, own, len(times), own / len(times), min(times), max(times)))
    return sorted(rows, key=lambda row: -row[2])


def summary_csv(profiles: Sequence[Profile]) -> str:
    """Return nvprof's summary of GPU activities, its row of units included; the type says whose times."""
    labels = {one.time_label for one in profiles}
    kind = "GPU activities" if labels == {"gpu"} else "engine activities (not a GPU's times)"
    rows: list[tuple[object, ...]] = [("", "%", "ms", "", "ms", "ms", "ms", "")]
    for kernel, share, own, calls, mean, least, most in summary_rows(profiles):
        times = [f"{1e3 * seconds:.6f}" for seconds in (own, mean, least, most)]
        rows.append((kind, f"{100 * share:.2f}", times[0], calls, *times[1:], kernel))
    return _write(_SUMMARY, rows)


def plain(value: float) -> str:
    """Whole numbers whole, others with six digits after the point, "n/a" for NaN, as both tools write."""
    if isnan(value):
        return "n/a"
    return str(int(value)) if value == int(value) else f"{value:.6f}"


def _nvprof(value: float, unit: str) -> str:
    return f"{value:.6f}%" if unit == "%" and not isnan(value) else plain(value)


def _grouped(
    profiles: Sequence[Profile], key: Callable[[Profile], tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], list[Profile]]]:
    groups: dict[tuple[str, ...], list[Profile]] = {}
    for profile in profiles:
        groups.setdefault(key(profile), []).append(profile)
    return iter(groups.items())


def _write(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Quote everything, as ncu does; readers of CSV take nvprof's bare numbers no other way."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()
