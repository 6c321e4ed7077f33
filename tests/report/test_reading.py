"""Records of unknown origin: what does not fit is refused by a sentence that names file and field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from tests.report.profiles import make
from warpglass.errors import WarpglassError
from warpglass.records.check import Check, Finding, Place, ProgramCheck
from warpglass.records.files import open_records
from warpglass.records.listing import Listing, MachineLine, PtxLine, SourceFile
from warpglass.records.profile import several_json
from warpglass.records.reading import build, parse
from warpglass.records.warp_views import WarpView


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    size: int


@dataclass(frozen=True)
class Outer:
    name: str
    share: float
    count: int | float | None = None
    where: int | tuple[int, ...] | None = None
    pair: tuple[int, int] = (0, 0)
    inner: tuple[Inner, ...] = ()
    table: Mapping[str, float] | None = None
    colour: Colour = Colour.RED
    anything: Any = None
    right: bool = True


GOOD: dict[str, Any] = {"name": "a", "share": 1}


def test_what_fits_is_built():
    more = {
        "count": 3,
        "where": [1, 2],
        "pair": [4, 5],
        "inner": [{"size": 6, "later": 1}],
        "table": {"x": 2},
    }
    found = build(Outer, {**GOOD, **more, "unknown": 1}, "r.json")
    assert found == Outer("a", 1.0, 3, (1, 2), (4, 5), (Inner(6),), {"x": 2.0})
    assert type(found.count) is int
    assert type(found.share) is float


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": 5}, 'r.json: name is 5; it must be text'),
        ({"share": "fast"}, 'r.json: share is "fast"; it must be a number'),
        ({"share": True}, "r.json: share is true; it must be a number"),
        ({"share": 10**400}, "r.json: share is 1000"),
        ({"count": "x" * 99}, "it must be a whole number or a number or null"),
        ({"where": [1, "2"]}, 'r.json: where[1] is "2"; it must be a whole number'),
        ({"pair": [1]}, "r.json: pair has 1 items; it must have 2"),
        ({"pair": 1}, "r.json: pair is 1; it must be a list"),
        ({"inner": [{}]}, "r.json: inner[0].size is missing"),
        ({"inner": [{"size": 1.5}]}, "r.json: inner[0].size is 1.5; it must be a whole number"),
        ({"inner": [[]]}, "r.json: inner[0] is a list; it must be an object"),
        ({"table": {"x": None}}, 'r.json: table["x"] is null; it must be a number'),
        ({"table": []}, 'r.json: table is a list; it must be an object or null'),
        ({"colour": "blue"}, 'r.json: colour is "blue"; it must be one of red'),
        ({"right": 1}, "r.json: right is 1; it must be true or false"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(changed: dict[str, Any], message: str):
    with pytest.raises(WarpglassError) as problem:
        build(Outer, {**GOOD, **changed}, "r.json")
    assert message in str(problem.value)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a": NaN}', '{"a": 1', "", "3", '{"a": -Infinity}'])
def test_what_is_no_json_object_is_named(text: str):
    with pytest.raises(WarpglassError, match=r"^r\.json is no (JSON|record)"):
        parse(text, "r.json")


def check() -> Check:
    place = Place("k.cu", 3)
    finding = Finding("shared-race", "error", "a race", place, place, (0, 0, 0), (1, 0, 0), hint="a barrier")
    return Check(
        "k", "cuda", "engine", (1, 1, 1), (64, 1, 1), 0, (finding,), "in order",
        sources=(SourceFile("k.cu", ("a", "b", "c"), 2),),
    )  # fmt: skip


def profile_with_listing() -> Any:
    listing = Listing(
        "k",
        "sm_90",
        (SourceFile("k.cu", ("// k", "", "x[i] = 1;")),),
        (PtxLine(9, "st.global.f32", "k.cu", 3),),
        (MachineLine(16, "STG.32", 9),),
    )
    view = WarpView(
        "store", "global", "k.cu", 3, 9, "st.global.f32", 4, 0, 0, 0xFFFFFFFF, 0,
        tuple(range(4096, 4096 + 128, 4)),
    )  # fmt: skip
    return make(listing=listing, views=(view,))


def test_files_of_every_kind_come_back(tmp_path: Path):
    profile, found = profile_with_listing(), check()
    program = ProgramCheck("p.py", ("a",), 0, "", (found,))
    texts = [profile.to_json(), several_json([profile, profile]), found.to_json(), program.to_json()]
    read: list[Any] = []
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        read += open_records(path)
    assert read == [profile, profile, profile, found, program]


def test_a_file_of_nothing_known_is_refused(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text('{"schema": 1}')
    with pytest.raises(WarpglassError, match=r"a\.json is no record of a bench, a profile or a check"):
        open_records(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(WarpglassError, match=r"a\.json is no record: it is not text"):
        open_records(path)
    with pytest.raises(WarpglassError, match=r"b\.json cannot be read"):
        open_records(tmp_path / "b.json")


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9, 0.999])
def test_a_truncated_file_says_so(tmp_path: Path, kept: float):
    text = profile_with_listing().to_json()
    path = tmp_path / "a.json"
    path.write_text(text[: int(kept * len(text))])
    with pytest.raises(WarpglassError, match=r"a\.json is no JSON: .* at line \d+, column \d+"):
        open_records(path)


def test_an_occupancy_without_its_parts_is_refused(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text(make(occupancy={"warps": 3}).to_json())
    with pytest.raises(WarpglassError, match=r"a\.json: occupancy: share is missing"):
        open_records(path)


def test_another_version_is_refused(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**json.loads(check().to_json()), "schema": 7}))
    with pytest.raises(WarpglassError, match=r"a\.json: schema 7; this version reads schema 1"):
        open_records(path)
