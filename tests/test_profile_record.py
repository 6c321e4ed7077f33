"""Saved profiles come back as they were; files that are none are refused with the reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.profiles import make
from warpglass.errors import WarpglassError
from warpglass.records.profile import Numbers, from_json, load, load_all, nearest, several_json


def test_one_profile_comes_back(tmp_path: Path):
    profile = make(counted={"gld_transactions": 3.0}, site="a.py:3", notes=("sampled",))
    profile.save(tmp_path / "new" / "a.json")
    assert load(tmp_path / "new" / "a.json") == profile
    assert load_all(tmp_path / "new" / "a.json") == (profile,)


def test_several_profiles_come_back(tmp_path: Path):
    path = tmp_path / "all.json"
    profiles = (make(), make(kernel="j"))
    path.write_text(several_json(profiles))
    assert load_all(path) == profiles
    with pytest.raises(WarpglassError, match=r"all.json has 2 profiles"):
        load(path)


def test_fields_of_later_versions_are_ignored_and_of_earlier_ones_missing():
    data = json.loads(make().to_json())
    for name in ("counted", "site", "assembler"):
        del data[name]
    assert from_json(json.dumps({**data, "new": 1})) == make()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"a\.json is no JSON: .* at line 1, column 2; the file seems to have been cut off"),
        ("[1]", r"a\.json is no record: it is a list, not an object"),
        ("{}", r"a\.json: schema is missing"),
        ('{"profiles": 3}', r"a\.json: profiles must be a list"),
        ('{"profiles": [4]}', r"a\.json: profiles\[0\]: it is 4; it must be an object"),
        ('{"schema": 2}', "schema 2; this version reads schema 1"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(WarpglassError, match=message):
        load_all(path)


def test_unknown_names_get_the_nearest():
    with pytest.raises(KeyError, match="did you mean 'gld_efficiency'"):
        make().metrics["gld_eficiency"]
    with pytest.raises(KeyError, match="did you mean 'gld_transactions'"):
        make().label("gld_transaction")
    assert nearest("xyz", Numbers(gld_efficiency=1.0)) is None


def test_numbers_stay_numbers():
    profile = from_json(replace(make(), seconds=0.25).to_json())
    assert isinstance(profile.counters, Numbers)
    assert (profile.grid, profile.seconds) == ((2, 1, 1), 0.25)
