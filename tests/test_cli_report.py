"""Pages, tables in other forms and pictures from the command line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.report.test_html import record, row
from tests.report.test_reading import check, profile_with_listing
from warpglass.cli import main
from warpglass.ladders import measure

Call = Callable[..., tuple[int, str, str]]
LAUNCH = "--grid 2 --block 32 --arg f4[64]:rand --arg f4[64] --arg i4=64".split()


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command in this process; returns its exit status and what it wrote."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["warpglass", *words])
        with pytest.raises(SystemExit) as left:
            main()
        code = left.value.code
        shown, said = capsys.readouterr()
        return code if isinstance(code, int) else 0, shown, said

    return run


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("kernel") / "k.cu"
    file.write_text(
        'extern "C" __global__ void scale(const float *x, float *y, int n)\n{\n'
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];\n}\n"
    )
    return f"{file}:scale"


def test_saved_records_become_one_page(call: Call, tmp_path: Path):
    names: list[str] = []
    for name, one in {"bench": record(), "profile": profile_with_listing(), "check": check()}.items():
        path = tmp_path / f"{name}.json"
        path.write_text(one.to_json())
        names.append(str(path))
    page = tmp_path / "out" / "page.html"
    assert call("report", *names, "-o", str(page))[1].endswith("page.html: 3 records\n")
    text = page.read_text()
    assert text.index("Ladder: mine") < text.index("Kernel: k") < text.index("Check: k")


def test_what_is_no_record_is_named(call: Call, tmp_path: Path):
    path = tmp_path / "cut.json"
    path.write_text(record().to_json()[:300])
    status, _, said = call("report", str(path), "-o", str(tmp_path / "a.html"))
    assert status == 2
    assert "cut.json is no JSON" in said
    assert not (tmp_path / "a.html").exists()
    assert "a.txt: pages are written as .html" in call("report", str(path), "-o", "a.txt")[2]


def test_a_record_of_another_kind_is_named(call: Call, tmp_path: Path):
    bench, profile = tmp_path / "b.json", tmp_path / "p.json"
    bench.write_text(record().to_json())
    profile.write_text(profile_with_listing().to_json())
    assert "b.json holds a bench, no profile" in call("explain", str(bench))[2]
    said = call("compare", str(bench), str(profile))[2]
    assert "not a bench with a profile" in " ".join(said.split())


def test_profile_and_check_write_pages_and_tables(call: Call, kernel: str, tmp_path: Path):
    page = tmp_path / "p.html"
    options = ["--no-caches", "--html", str(page), "--markdown", "--lines"]
    _, shown, _ = call("profile", kernel, *LAUNCH, *options)
    assert "| Global memory | gld\\_transactions | 8 | exact |" in shown
    assert "LDG.32" in page.read_text()
    _, shown, _ = call("check", kernel, *LAUNCH, "--csv", "--html", str(page))
    assert shown == "severity,kind,place,other,thread,other_thread,array,message,hint\n"
    assert "Nothing found." in page.read_text()


def test_a_bench_is_drawn_and_tabled(call: Call, tmp_path: Path):
    picture, page, json_path = tmp_path / "b.svg", tmp_path / "b.html", tmp_path / "b.json"
    options = [
        "--small",
        "--language",
        "cuda",
        "--repeat",
        "1",
        "--rung",
        "grid_stride",
        "--rung",
        "element_per_thread",
    ]
    files = ["--plot", str(picture), "--html", str(page), "--json", str(json_path)]
    status, shown, said = call("bench", "vector", *options, *files, "--csv", "--no-peers")
    assert status == 0, said
    rows = list(csv.DictReader(io.StringIO(shown)))
    saved = json.loads(json_path.read_text())["rows"]
    assert [float(row["time on the engine"]) for row in rows] == [row["seconds"] for row in saved]
    assert picture.read_text().count("<svg") == 1
    assert "What each rung shows" in page.read_text()


def test_ctrl_c_leaves_a_record_of_what_is_done(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    once = measure._measure

    def twice(*args: Any) -> Any:
        if args[0].card.rung == "grid_stride":
            raise KeyboardInterrupt
        return once(*args)

    monkeypatch.setattr(measure, "_measure", twice)
    path = tmp_path / "b.json"
    options = ["--small", "--language", "cuda", "--repeat", "1", "--no-counters", "--no-peers"]
    rungs = ["--rung", "element_per_thread", "--rung", "grid_stride"]
    status, shown, said = call("bench", "vector", *options, *rungs, "--json", str(path))
    assert status == 130
    assert "element_per_thread" in shown
    assert "Interrupted; what was done by then is shown and written." in said
    saved = json.loads(path.read_text())
    assert {row["rung"] for row in saved["rows"]} == {"element_per_thread"}
    assert call("report", str(path), "-o", str(tmp_path / "b.html"))[0] == 0


def test_two_forms_at_once_are_refused(call: Call):
    assert "--csv and --latex: give one of them" in call("bench", "vector", "--csv", "--latex")[2]


def test_two_benches_are_compared_rung_by_rung(call: Call, tmp_path: Path):
    first = record(device="one")
    rows = (first.rows[0], row("tiled", 4e-3, metrics={"gld_transactions": 256.0}), row("new", 1e-3))
    for name, one in {"a": first, "b": record(device="two", rows=rows)}.items():
        (tmp_path / f"{name}.json").write_text(one.to_json())
    names = (str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    status, shown, _ = call("compare", *names, "--threshold", "5%")
    assert status == 1
    assert "First: mine on one (warpglass 1)" in shown
    assert "Note: new (C++) is only in the second." in shown
    assert "The threshold of 5 % is exceeded." in shown
    page, picture = tmp_path / "c.html", tmp_path / "c.png"
    status, shown, _ = call("compare", *names, "--csv", "--html", str(page), "--plot", str(picture))
    assert status == 0
    assert list(csv.reader(io.StringIO(shown)))[2] == [
        *("A table", "tiled", "C++", "0.001", "0.004", "0.25", "gld_transactions +100.0 %", "both")
    ]  # fmt: skip
    assert "gld_transactions +100.0 %" in page.read_text()
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = json.loads(call("compare", *names, "--json")[1])
    assert [one["times_as_fast"] for one in found["rows"]] == [1.0, 0.25]


def test_other_pairs_of_records_are_refused(call: Call, tmp_path: Path):
    for name, one in {"a": record(), "b": profile_with_listing(), "c": record(ladder="other")}.items():
        (tmp_path / f"{name}.json").write_text(one.to_json())
    a, b, c = (str(tmp_path / f"{name}.json") for name in "abc")
    assert "compare takes two profiles or two benches" in call("compare", a, b)[2]
    assert "the benches are of different ladders, mine and other" in call("compare", a, c)[2]


RACE = """extern "C" __global__ void k(int *x)
{
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def test_findings_are_lines_for_editors_and_annotations_for_github(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("k,1.cu").write_text(RACE)
    launch = ("check", "k,1.cu:k", "--grid", "1", "--block", "64", "--arg", "i4[64]")
    status, shown, _ = call(*launch, "--gcc")
    assert status == 1
    assert re.search(r"^k,1\.cu:4: error: shared-race: block \(0, 0, 0\) thread .*\n", shown, re.MULTILINE)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    status, shown, _ = call(*launch, "--github")
    assert status == 1
    assert re.search(
        r"^::error file=k%2C1\.cu,line=4,title=shared-race in k::block .*%0A", shown, re.MULTILINE
    )
    assert "| error | shared-race | k,1.cu:4 |" in (tmp_path / "summary.md").read_text()


def test_rungs_stand_where_kernels_do(call: Call, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "120")  # wide enough for machine code beside PTX
    _, shown, _ = call("check", "vector:grid_stride:python")
    assert "vector:grid_stride (Python): 1 launch checked." in shown
    assert "Launched at" not in shown
    _, shown, _ = call("profile", "vector:grid_stride", "--metrics", "gld_efficiency", "--no-caches")
    assert "gld_efficiency" in shown
    assert "Verified: 1 of 1" in call("run", "vector:grid_stride")[1]
    _, shown, _ = call("show", "vector:grid_stride")
    assert re.search(r"ld\.global\.f32 .* LDG\.32", shown)
    found = json.loads(call("explain", "vector:one_thread_a_block", "--json")[1])
    assert found["launches"][0]["advice"][0]["name"] == "a block is less than a warp"


def test_a_file_alone_is_shown_as_its_kernels(call: Call):
    status, shown, _ = call("show", "examples/matmul.cu")
    assert status == 0
    assert "naive(const float *a, const float *b, float *c, int n)  line 7" in shown


def test_rungs_that_there_are_not_are_named(call: Call):
    assert (
        "vector has no rung 'grid_strid' (did you mean grid_stride?)" in call("show", "vector:grid_strid")[2]
    )
    assert "vector:on_host is computed by the host" in call("check", "vector:on_host")[2]
    assert "grid_stride is written in cuda and python" in call("show", "vector:grid_stride:c")[2]


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("100 --block 32", {"grid": [4], "idle_threads": 28, "threads": 128, "warps": 4}),
        ("76x62 --block 16x16", {"grid": [5, 4], "idle_threads": 5120 - 76 * 62}),
        ("100 --block 50", {"grid": [2], "idle_threads": 0, "warps": 4, "empty_lanes": 28}),
        ("1000 --block 64 --each 4", {"grid": [4], "idle_threads": 6}),
        ("1e6 --block 256", {"grid": [3907], "waves": 3907 / (132 * 8)}),
    ],
)
def test_arithmetic_of_launches(call: Call, words: str, numbers: dict[str, object]):
    found = json.loads(call("launch", *words.split(), "--json")[1])
    assert {name: found[name] for name in numbers} == numbers


def test_extents_that_do_not_fit_are_refused(call: Call):
    assert "2 dimensions of elements, 1 of the block" in call("launch", "7x6", "--block", "32")[2]
