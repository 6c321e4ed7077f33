"""Pages, tables in other forms and pictures from the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.report.test_html import record
from tests.report.test_reading import check, profile_with_listing
from warpglass.cli import main

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
        return (code if isinstance(code, int) else 0, *capsys.readouterr())

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


def test_two_forms_at_once_are_refused(call: Call):
    assert "--csv and --latex: give one of them" in call("bench", "vector", "--csv", "--latex")[2]
