"""SARIF of checks: the standard's form, rules, places, fingerprints, suppressions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from warpglass.records.check import KINDS, Check, Finding, Insertion, Place, Suppressed
from warpglass.records.sarif import sarif

SCHEMA = json.loads((Path(__file__).parent / "sarif_subset.json").read_text("utf-8"))
SOURCE = "__global__ void k() {\n  s[t] = 1;\n  x[t] = s[t ^ 32];\n}\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a kernel in src/my kernel.cu, from whose root the check runs."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "my kernel.cu").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(root)
    return root


def race(root: Path, first: int = 3, second: int = 2, array: str = "s") -> Finding:
    file = str(root / "src" / "my kernel.cu")
    return Finding(
        "shared-race",
        "error",
        f"block (0, 0, 0) reads {array}[1] at {file}:{first}",
        source=Place(file, first),
        other_source=Place(file, second),
        block=(0, 0, 0),
        thread=(1, 0, 0),
        other_block=(0, 0, 0),
        other_thread=(33, 0, 0),
        warp=0,
        lane=1,
        array=array,
        index=1,
        count=7,
        hint="add a barrier",
    )


def check(*findings: Finding, **fields: Any) -> Check:
    return Check("k<int>", "cuda", "engine", (1, 1, 1), (64, 1, 1), 0, findings, "by number", **fields)


def written(*checks: Check) -> dict[str, Any]:
    log = json.loads(sarif(checks))
    jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(log)
    return log["runs"][0]


def test_every_kind_is_a_rule_with_help() -> None:
    rules = written()["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(KINDS)
    assert all(rule["help"]["text"] and rule["help"]["markdown"] for rule in rules)


def test_what_a_hint_adds_is_a_fix(project: Path) -> None:
    """Applying the replacements from the last one on gives the mended text."""
    file = project / "src" / "my kernel.cu"
    added = (
        Insertion("__syncthreads()", Place(str(file), 3)),
        Insertion("__syncthreads()", Place(str(file), 3), behind=True),
    )
    (result,) = written(check(replace(race(project), fix=added)))["results"]
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert fix["description"] == {"text": "add a barrier"}
    assert change["artifactLocation"]["uri"] == "src/my%20kernel.cu"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    for one in reversed(change["replacements"]):
        region = one["deletedRegion"]
        assert (region["startLine"], region["startColumn"]) == (region["endLine"], region["endColumn"])
        lines.insert(region["startLine"] - 1, one["insertedContent"]["text"])
    assert lines[2:5] == ["  __syncthreads();\n", "  x[t] = s[t ^ 32];\n", "  __syncthreads();\n"]
    assert "fixes" not in written(check(race(project)))["results"][0]


def test_a_race_has_both_lines_relative_to_the_working_directory(project: Path) -> None:
    (result,) = written(check(race(project)))["results"]
    (place,), (other,) = result["locations"], result["relatedLocations"]
    for location, line, text in ((place, 3, "x[t] = s[t ^ 32];"), (other, 2, "s[t] = 1;")):
        assert location["physicalLocation"] == {
            "artifactLocation": {"uri": "src/my%20kernel.cu", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": line, "snippet": {"text": text}},
        }
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "k<int>"
    assert "block (0, 0, 0) thread (33, 0, 0)" in other["message"]["text"]
    assert (result["ruleId"], result["level"], result["occurrenceCount"]) == ("shared-race", "error", 7)
    assert "reads s[1] at src/my kernel.cu:3" in result["message"]["text"]
    assert str(project) not in json.dumps(result)
    assert result["properties"]["thread"] == [1, 0, 0]


@pytest.mark.parametrize("file", ["/elsewhere/k.cu", "<cuda>", "PTX"])
def test_other_places_have_an_address_too(file: str) -> None:
    finding = Finding("trap", "warning", "words", Place(file, 0))
    (result,) = written(check(finding))["results"]
    assert result["level"] == "warning"
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == {"/elsewhere/k.cu": "file:///elsewhere/k.cu", "<cuda>": "%3Ccuda%3E", "PTX": "PTX"}[file]


def test_what_has_no_place_names_its_kernel() -> None:
    (result,) = written(check(Finding("timeout", "error", "words")))["results"]
    assert "physicalLocation" not in result["locations"][0]
    assert result["locations"][0]["logicalLocations"][0]["name"] == "k<int>"


def test_fingerprints_stay_when_lines_move(project: Path) -> None:
    def prints(*findings: Finding) -> list[str]:
        results = written(check(*findings))["results"]
        return [result["partialFingerprints"]["warpglass/v1"] for result in results]

    before = prints(race(project))
    (project / "src" / "my kernel.cu").write_text("// new\n\n" + SOURCE, encoding="utf-8")
    assert prints(race(project, 5, 4)) == before
    assert prints(race(project, 4, 5)) == before  # the order of the two does not matter
    assert prints(race(project, 5, 4, "u")) != before
    lines = SOURCE.count("\n")  # the same text at two places is two causes
    (project / "src" / "my kernel.cu").write_text("// new\n\n" + SOURCE + SOURCE, encoding="utf-8")
    same = prints(race(project, 5, 4), race(project, 5 + lines, 4 + lines))
    assert len(set(same)) == 2
    assert same[0] == before[0]


def test_suppressed_findings_are_there_with_their_reason(project: Path) -> None:
    hidden = Suppressed(race(project), str(project / "warpglass.toml"), 3, "known")
    plain = replace(hidden, finding=race(project, 1), reason="")
    results = written(check(race(project), suppressed=(hidden, plain)))["results"]
    reasons = [[one["justification"] for one in result["suppressions"]] for result in results]
    assert reasons == [[], ["known (warpglass.toml, entry 3)"], ["warpglass.toml, entry 3"]]


def test_one_cause_is_one_result_with_all_its_launches(project: Path) -> None:
    (project / "run.py").write_text("a()\nb()\n", encoding="utf-8")
    first = check(race(project), race(project, array="t"), site=f"{project}/run.py:1")
    second = check(race(project, 2, 3), race(project, 1), site=f"{project}/run.py:2")
    one, other = written(first, second)["results"]
    places = [found["physicalLocation"]["region"]["startLine"] for found in one["relatedLocations"][1:]]
    assert (one["occurrenceCount"], places) == (21, [1, 2])
    assert other["occurrenceCount"] == 7


def test_a_programs_launch_is_a_related_place(project: Path) -> None:
    (project / "run.py").write_text("k[1, 64]()\n", encoding="utf-8")
    (result,) = written(check(race(project), site=f"{project}/run.py:1", launches=2))["results"]
    launch = result["relatedLocations"][1]
    assert launch["physicalLocation"]["artifactLocation"]["uri"] == "run.py"
    assert launch["message"]["text"] == "the launch"
