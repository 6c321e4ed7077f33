"""Results in notebooks: lines of text, pages in frames, and the magics of `%load_ext warpglass`."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.report.test_html import Tags

SCALE = """extern "C" __global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}
"""
SPIN = """extern "C" __global__ void spin(volatile float *y) { while (y[0] >= 0) ; }
"""
SETUP = """import numpy as np
x, y, n = np.ones(64, np.float32), np.zeros(64, np.float32), np.int32(64)
"""


def arguments() -> tuple[Any, ...]:
    return np.ones(64, np.float32), np.zeros(64, np.float32), np.int32(64)


def framed(shown: Any) -> str:
    """The page that a result shows in a notebook."""
    frames = [attributes for tag, attributes in Tags(shown._repr_html_()).found if tag == "iframe"]
    assert len(frames) == 1
    return unescape(frames[0]["srcdoc"] or "")


def test_results_are_lines_at_a_prompt_and_pages_in_a_notebook():
    kernel = wg.compile(SCALE, "scale")
    profile = wg.profile(kernel, 2, 32, arguments(), caches=False)
    assert repr(profile).startswith("<Profile of scale<<<2, 32>>> for h100: ")
    assert len(repr(profile)) < 200
    assert "gld_transactions" in framed(profile)
    check = wg.check(kernel, 3, 32, arguments())
    assert repr(check) == "<Check of scale: 2 out-of-bounds>"
    assert "out-of-bounds" in framed(check)
    wg.reset("cpu")
    run = wg.run(kernel, 2, 32, arguments(), device="cpu")
    assert f"<td>{run.seconds}</td><td>engine</td>" in str(run._repr_html_())


def test_a_bench_shows_its_ladder():
    bench = wg.bench("vector", small=True, language="cuda", rungs=("grid_stride",), repeat=1, device="cpu")
    assert repr(bench).startswith("<Bench of vector: 1 of 1 rows right, on ")
    assert "grid_stride" in framed(bench)


def test_occupancy_and_roofline_are_results_as_well():
    kernel = wg.compile(SCALE, "scale")
    fit = wg.occupancy(kernel, (16, 16), grid=1024)
    assert repr(fit).startswith(
        "<Occupancy of scale on NVIDIA H100 80GB HBM3 (compute capability 9.0): 100 %"
    )
    assert fit.fit.demand.registers > 0
    assert "occupancy 100 %, limited by warps." in framed(fit)
    assert wg.occupancy(None, 256, registers=40, model="cc 5.2").fit.share == 0.75
    profile = wg.profile(kernel, 2, 32, arguments())
    roof = wg.roofline(profile)
    assert repr(roof) == "<Roofline of NVIDIA H100 80GB HBM3: scale memory-bound, L2>"
    assert roof.verdicts["scale"] in framed(roof)
    assert wg.roofline(profile, model="gtx980").remarks


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: wg.occupancy("k", 32), "'k' is no kernel"),  # type: ignore[arg-type]
        (lambda: wg.occupancy(None, 2.5), "the block is 2.5; it is made of whole numbers"),  # type: ignore[arg-type]
        (lambda: wg.occupancy(None, (1, 2, 3, 4)), "it has one to three extents"),
        (lambda: wg.occupancy(None, (-8, -8)), "none below 0"),
        (lambda: wg.occupancy(None, 32, model="h1000"), r"no GPU is called 'h1000' \(did you mean h100"),
        (lambda: wg.roofline(3), "3 is no profile, bench, file of them or work"),  # type: ignore[arg-type]
    ],
)
def test_wrong_questions_to_the_models_are_named(wrong: Callable[[], object], message: str):
    with pytest.raises(wg.ArgumentError, match=message):
        wrong()


@pytest.fixture(scope="module")
def shell() -> Iterator[Any]:
    testing = pytest.importorskip(
        "IPython.testing.globalipapp", reason="no IPython: pip install '.[notebook]'"
    )
    made = testing.start_ipython()
    made.run_line_magic("load_ext", "warpglass")
    made.run_cell(SETUP)
    yield made
    made.run_cell("import warpglass; warpglass.reset('cpu')")


def test_a_cell_of_cuda_defines_its_kernels(shell: Any):
    shell.run_cell_magic("cuda", "", SCALE)
    shell.run_cell("scale[2, 32](x, y, n)")
    assert shell.user_ns["y"].sum() == 128


def test_a_cell_of_cuda_is_run_checked_and_profiled(shell: Any):
    launch = "scale --grid 2 --block 32 --args x y n"
    assert shell.run_cell_magic("cuda", launch, SCALE).label in ("engine", "gpu")
    profile = shell.run_cell_magic("cuda", f"{launch} --profile --save p", SCALE)
    assert shell.user_ns["p"] is profile
    assert {line.line for line in profile.lines} >= {4, 5}
    assert any("y[i] = 2" in text for one in profile.listing.sources for text in one.lines)
    found = shell.run_cell_magic("cuda", "--grid 3 --block 32 --args x y n --check", SCALE).findings
    assert [(one.kind, one.source.line) for one in found] == [("out-of-bounds", 5)] * 2  # %%cuda is line 1


def test_a_cell_of_python_is_checked_and_profiled(shell: Any, capsys: pytest.CaptureFixture[str]):
    shell.run_cell_magic("cuda", "", SCALE)
    shell.run_cell_magic("check", "found", "scale[2, 32](x, y, n)")
    assert [one.findings for one in shell.user_ns["found"]] == [()]
    shell.run_cell_magic("profile", "counted", "scale[2, 32](x, y, n)\nscale[1, 32](x, y, n)")
    assert [one.grid for one in shell.user_ns["counted"]] == [(2, 1, 1), (1, 1, 1)]
    assert "Check of scale" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "changed", "said"),
    [
        ("", ("2 * x[i];", "2 * x[i]"), 'expected a ";"'),
        ("nosuch --grid 2 --block 32 --args x y n", (), "no kernel named nosuch; kernels in the file: scale"),
        ("--grid 2", (), "--grid needs --block"),
        ("--grid 2 --block 32 --args x y nothing", (), "--args nothing: NameError: name 'nothing' is not"),
        ("--grid 2 --block 32 --args x y.astype('f8') n", (), "argument 2 of 3 (y) got an array of float64"),
        ("--grid 2 --block 32 --args x y", (), "scale takes 3 arguments"),
        ("--grid 4 --block 32 --args x y[: 64] np.int32(4 + 3) --options='-DN=4 -DM=5'", (), ".cu:5: scale:"),
    ],
)
def test_mistakes_of_a_cell_are_told_in_a_few_lines(
    shell: Any, capsys: pytest.CaptureFixture[str], line: str, changed: tuple[()] | tuple[str, str], said: str
):
    cell = SCALE.replace(*changed) if changed else SCALE
    done = shell.run_cell(f"%%cuda {line}\n{cell}")
    shell.run_cell("import warpglass; warpglass.reset('cpu')")
    shown = "".join(capsys.readouterr())
    assert done.error_in_exec is not None
    assert said in shown
    assert len(shown.splitlines()) < 6, shown


def test_errors_of_a_cell_have_no_frames_of_ours(shell: Any, capsys: pytest.CaptureFixture[str]):
    shell.run_cell_magic("cuda", "", SCALE)
    shell.run_cell("def ask():\n    scale[2, 32](x, y)\nask()")
    said = "".join(capsys.readouterr())
    assert "ArgumentError" in said
    assert "in ask" in said
    assert "lab/__init__.py" not in said


def test_an_interrupted_cell_says_where(shell: Any, capsys: pytest.CaptureFixture[str]):
    shell.run_cell_magic("cuda", "", SPIN)
    timer = threading.Timer(1, _thread.interrupt_main)
    timer.start()
    shell.run_cell("spin[1, 32](y)")
    said = "".join(capsys.readouterr())
    assert said.splitlines()[-1] == "KeyboardInterrupt"
    assert "spin[1, 32](y)" in said
    assert "lab/__init__.py" not in said
