"""What a page says of a profile: numbers, memory, occupancy, the code line by line, and the warp views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ... import devices
from ...errors import WarpglassError
from ...models.occupancy import Demand, occupancy
from ...records.listing import Listing
from ...records.profile import LineProfile, Profile
from ...records.reading import build
from ...records.warp_views import LANES, WarpView
from ..bench import TIME_HEADINGS
from ..check_source import short as short_path
from ..explain.advice import Advice, advise, modelled_cost
from ..explain.view import what_is_left
from ..figures import format_bytes, format_seconds
from ..kernel_time import modelled_sentence
from ..occupancy import OccupancyReport
from ..occupancy_chart import curve_figure
from ..pictures import inline_svg
from ..profile_lines import LineColumn, short
from ..record_tables import launch_of, line_columns
from ..tables import Cell, Column, DataTable, number, words
from .warp_picture import badness, picture_of

_MOST_VIEWS = 48
_LARGEST = 64  # bytes that a lane may access
_KINDS = {"load": _LARGEST, "store": _LARGEST, "atomic": _LARGEST, "branch": 0}
_SECTOR = 32


def kernel_part(
    profile: Profile, name: str, marks: Mapping[tuple[str, int], Sequence[str]]
) -> dict[str, Any]:
    """What kernel.html is told of a profile; `marks` are findings by file and line, shown beside the source.

    `name` keeps the identifiers of its pictures apart from others of the page.
    """
    heading = TIME_HEADINGS.get(profile.time_label, "time")
    note = " (counting included; says nothing about a GPU's)" if profile.time_label == "engine" else ""
    return {
        "launch": launch_of(profile),
        "facts": [
            ("Counted for", f"{_gpu_name(profile.model)} ({profile.target} {profile.assembler})"),
            ("Device", profile.device),
            (heading[0].upper() + heading[1:], f"{format_seconds(profile.seconds)}{note}"),
            *([("Model", modelled_sentence(profile.modelled))] if profile.modelled else []),
            *([("Launched at", profile.site)] if profile.site else []),
            *(("Note", text) for text in profile.notes),
        ],
        "left": what_is_left(profile),
        "advice": [(one, _place(one), modelled_cost(one, profile)) for one in advise(profile)],
        "metrics": _metrics(profile),
        "memory": _memory(profile.counters),
        "occupancy": _occupancy(profile, name),
        "code": _code(profile, marks),
        "views": _views(profile.views, name),
    }


def _place(one: Advice) -> str:
    return f"{short_path(one.file)}:{one.line}" if one.line else ""


def _gpu_name(model: str) -> str:
    try:
        return devices.get(model).name
    except devices.UnknownDevice:
        return model


def _metrics(profile: Profile) -> DataTable:
    rows = tuple(
        (
            words(name),
            number(value, f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"),
            words(profile.labels.get(name)),
        )
        for name, value in profile.metrics.items()
        if value
    )
    return DataTable("Metrics", (Column("metric"), Column("value", True), Column("certainty")), rows)


# ---------------------------------------------------------------------------------------- memory
def _memory(counters: Mapping[str, float]) -> list[dict[str, str]]:
    """The levels from the threads to DRAM: what asks, what moves below it, how much is found there."""

    def total(pattern: str, kinds: str) -> float:
        return sum(counters.get(pattern.format(kind), 0.0) for kind in kinds.split())

    requests = total("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", "ld st atom red")
    sectors = total("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", "ld st atom red")
    second = total("lts__t_sectors_op_{}.sum", "read write atom red")
    dram = total("dram__bytes_{}.sum", "read write")
    levels = [
        _level("Threads", f"{requests:,.0f} requests", sectors * _SECTOR, ""),
        _level(
            "L1", _hits(counters, "l1tex__t_sector_hit_rate.pct"), second * _SECTOR, f"{sectors:,.0f} sectors"
        ),
        _level("L2", _hits(counters, "lts__t_sector_hit_rate.pct"), dram, f"{second:,.0f} sectors"),
        _level("DRAM", f"{format_bytes(round(dram))}", None, ""),
    ]
    return levels if sectors else []


def _level(name: str, said: str, below: float | None, also: str) -> dict[str, str]:
    moved = "" if below is None else format_bytes(round(below))
    return {"name": name, "said": said, "also": also, "below": moved}


def _hits(counters: Mapping[str, float], name: str) -> str:
    return f"{counters[name]:.1f} % found" if name in counters else "hit rate not simulated"


# ---------------------------------------------------------------------------------------- occupancy
def _occupancy(profile: Profile, name: str) -> dict[str, str] | None:
    if not profile.occupancy:
        return None
    fit = profile.occupancy
    demand: Demand = build(Demand, fit["demand"], "occupancy: demand")
    text = (
        f"{100 * fit['share']:.4g} % of the warps that a multiprocessor can hold: {fit['blocks']} blocks, "
        f"{fit['warps']} warps, limited by {' and '.join(fit['limiting'])}."
    )
    try:
        model = devices.get(profile.model)
    except devices.UnknownDevice:
        return {"text": text, "picture": ""}
    if not 0 < demand.threads <= model.limits.threads_per_block:
        raise WarpglassError(f"occupancy: demand.threads is {demand.threads}, which no block has")
    report = OccupancyReport(profile.kernel, model.name, profile.block, occupancy(demand, model.limits))
    label = f"Share of warps at every block size; {text}"
    return {"text": text, "picture": inline_svg(curve_figure(report), f"{name}o", label)}


# ---------------------------------------------------------------------------------------- code
def _code(profile: Profile, marks: Mapping[tuple[str, int], Sequence[str]]) -> dict[str, Any]:
    """The three panes; each source line is known by file number and line, f0:12."""
    listing = profile.listing or Listing(profile.kernel, profile.target, (), ())
    files = list(dict.fromkeys([one.file for one in listing.sources] + [one.file for one in profile.lines]))
    keys = {file: f"f{number}" for number, file in enumerate(files)}
    columns = line_columns(profile.lines)
    counted = {(one.file, one.line): one for one in profile.lines}
    worst = {one.name: max(one.weight(line.counters) for line in profile.lines) for one in columns}
    sources: list[dict[str, Any]] = []
    for file in files:
        texts = {
            first + place: text
            for one in listing.sources
            if one.file == file
            for first in [one.first]
            for place, text in enumerate(one.lines)
        }
        numbers = sorted(texts.keys() | {line for at, line in counted if at == file})
        rows = [
            {
                "key": f"{keys[file]}:{line}",
                "line": line,
                "text": texts.get(line, ""),
                "marks": list(marks.get((file, line), ())),
                "cells": _heat(counted.get((file, line)), columns, worst),
            }
            for line in numbers
        ]
        sources.append({"name": short_path(file), "rows": rows})
    origin = {one.number: f"{keys[one.file]}:{one.line}" for one in listing.ptx if one.file in keys}
    return {
        "columns": [one.name for one in columns],
        "sources": sources,
        "ptx": [
            {"number": one.number, "text": one.text, "key": origin.get(one.number, "")} for one in listing.ptx
        ],
        "machine": [
            {"offset": f"{one.offset:04x}", "text": one.text, "ptx": one.ptx, "key": origin.get(one.ptx, "")}
            for one in listing.machine
        ],
        "note": listing.note,
        "listed": profile.listing is not None,
    }


def _heat(
    line: LineProfile | None, columns: Sequence[LineColumn], worst: Mapping[str, float]
) -> list[tuple[Cell, float]]:
    """The cells of a line, each with its share of the column's worst."""
    found: list[tuple[Cell, float]] = []
    for column in columns:
        value = column.value(line.counters) if line is not None else 0.0
        if line is None or not value:
            found.append((Cell(""), 0.0))
            continue
        most = worst[column.name]
        found.append((number(value, short(value)), column.weight(line.counters) / most if most > 0 else 0.0))
    return found


# ---------------------------------------------------------------------------------------- warp views
def _views(views: Sequence[WarpView], name: str) -> dict[str, Any]:
    """The pictures of the views, the costliest first."""
    for place, view in enumerate(views):
        _refuse_unsound(view, f"views[{place}]")
    chosen = sorted(views, key=lambda view: (-badness(view), view.kind == "branch"))[:_MOST_VIEWS]
    pictures = [picture_of(view, f"{name}w{place}") for place, view in enumerate(chosen)]
    return {"pictures": pictures, "left_out": len(views) - len(chosen)}


def _refuse_unsound(view: WarpView, where: str) -> None:
    """Raise WarpglassError for a view that no kernel has."""
    if view.kind not in _KINDS:
        raise WarpglassError(f"{where}.kind is {view.kind!r}; it must be one of {', '.join(_KINDS)}")
    if not 0 <= view.size <= _KINDS[view.kind]:
        raise WarpglassError(f"{where}.size is {view.size}; a lane accesses at most {_LARGEST} bytes")
    for field in ("active", "taken"):
        if not 0 <= getattr(view, field) < 1 << LANES:
            raise WarpglassError(f"{where}.{field} is {getattr(view, field)}; it is a mask of {LANES} lanes")
    if len(view.addresses) != (0 if view.kind == "branch" else LANES):
        raise WarpglassError(f"{where}.addresses has {len(view.addresses)} items; an access has {LANES}")
