"""Small code: the same results and faults as other code, which takes over from it while a launch runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.engine.test_tiers import BLOCKS, FLAGGED, NUMBERS, Fixture
from tests.engines import engine_mode
from tests.generators.kernels import random_kernel
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, KernelCode, generate
from warpglass.engine.cpu import execution, prepared, tiers
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.cpu.launch_plan import LaunchPlan
from warpglass.engine.cpu.prepared import Prepared
from warpglass.engine.launch.backend import Launch
from warpglass.errors import KernelFault
from warpglass.source.compiled import Compiled

TWICE = """
    mul.wide.u32 %rd2, %r1, 8;
    ld.param.u64 %rd1, [out];
    add.u64 %rd1, %rd1, %rd2;
    ld.global.f64 %fd1, [%rd1];
"""
INDEX = """
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r1, %r2, %r3, %r1;
"""


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Callable[[], None]]:
    """Every kernel takes long to compile; what is to be done in the background comes here."""
    found: list[Callable[[], None]] = []
    monkeypatch.setenv(tiers.VARIABLE, "")
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(prepared, "_MOST_LINES", 0)
    monkeypatch.setattr(prepared, "_FEW_STEPS", 0)
    monkeypatch.setattr(prepared, "in_background", lambda job, thread="": found.append(job))
    return found


@pytest.fixture
def stretches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, range]]:
    """The tier and the blocks of every plan that is run."""
    found: list[tuple[str, range]] = []

    def noted(plan: LaunchPlan, *args: object, **named: object) -> object:
        found.append((plan.executable.tiers.tier, plan.blocks))
        return run(plan, *args, **named)  # type: ignore[arg-type]

    run = execution.run
    monkeypatch.setattr(execution, "run", noted)
    return found


@pytest.mark.parametrize("seed", range(700, 703))
def test_it_leaves_the_same_bits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = random_kernel(seed, size=16, features=seed % 2 == 0)
    found: list[list[bytes]] = []
    for tier, engine in ((tiers.SMALL, "kinds"), (tiers.QUICK, "reference")):
        monkeypatch.setenv(tiers.VARIABLE, tier)
        args = made.arguments()
        with engine_mode(engine):
            launch = Launch(Compiled(made.text, "k", "k", "ptx"), made.grid, made.block, tuple(args), 0, 60.0)
            CpuBackend().run(launch)
        found.append([arg.tobytes() for arg in args if isinstance(arg, np.ndarray)])
    assert found[0] == found[1]


def test_a_number_that_is_two_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiers.VARIABLE, tiers.SMALL)
    twice = "fma.rn.f64 %fd1, %fd1, 0d4000000000000000, 0d4000000000000000;\n"
    other = "fma.rn.f64 %fd1, %fd1, 0d4008000000000000, 0d4010000000000000;\n"
    text = kernel(INDEX + TWICE + twice + other + twice + "st.global.f64 [%rd1], %fd1;\nret;", "u64 out")
    out = np.arange(64.0)
    CpuBackend().run(Launch(Compiled(text, "k", "k", "ptx"), (1, 1, 1), (64, 1, 1), (out,), 0, 60.0))
    np.testing.assert_array_equal(out, ((np.arange(64.0) * 2 + 2) * 3 + 4) * 2 + 2)


def test_it_faults_at_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    text = kernel(INDEX + TWICE + "add.f64 %fd1, %fd1, %fd1;\nst.global.f64 [%rd1+8], %fd1;\nret;", "u64 out")
    errors: list[str] = []
    for tier in (tiers.SMALL, tiers.QUICK):
        monkeypatch.setenv(tiers.VARIABLE, tier)
        launch = Launch(Compiled(text, "k", "k", "ptx"), (2, 1, 1), (64, 1, 1), (np.zeros(100),), 0, 60.0)
        with pytest.raises(KernelFault) as caught:
            CpuBackend().run(launch)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_better_code_takes_over_while_a_launch_runs(
    jobs: list[Callable[[], None]], stretches: list[tuple[str, range]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", "1")
    fixture = Fixture(FLAGGED.replace(".volatile", ""))  # blocks that may wait for others are not parted

    def make_better() -> None:
        while not jobs:
            pass
        jobs.pop()()

    np.testing.assert_array_equal(fixture.run(make_better), NUMBERS)
    (first, all_blocks), (second, rest) = stretches
    assert (first, second) == (tiers.SMALL, tiers.QUICK)
    assert all_blocks == range(BLOCKS)
    assert 0 < rest.start < rest.stop == BLOCKS
    np.testing.assert_array_equal(fixture.run(), NUMBERS)
    assert stretches[2:] == [(tiers.QUICK, range(BLOCKS))]


def test_launches_go_on_in_small_code_until_there_is_better(
    jobs: list[Callable[[], None]], stretches: list[tuple[str, range]]
) -> None:
    fixture = Fixture()
    for _ in range(3):
        np.testing.assert_array_equal(fixture.run(), NUMBERS)
    jobs.pop()()
    np.testing.assert_array_equal(fixture.run(), NUMBERS)
    assert [tier for tier, _ in stretches] == [tiers.SMALL] * 3 + [tiers.QUICK]
    prepared.prepare.cache_clear()
    np.testing.assert_array_equal(Fixture().run(), NUMBERS)  # quick code comes from the disk
    assert stretches[-1][0] == tiers.QUICK
    assert not jobs


def test_kernels_of_few_steps_and_a_tier_that_is_wanted_do_without(
    jobs: list[Callable[[], None]], stretches: list[tuple[str, range]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "_FEW_STEPS", 300)
    Fixture().run()
    monkeypatch.setattr(prepared, "_FEW_STEPS", 0)
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    Fixture().run()
    assert [tier for tier, _ in stretches] == [tiers.QUICK] * 2
    assert not jobs


def test_instructions_of_one_form_share_their_code() -> None:
    """Neither offsets, registers nor numbers make a form; guards and operands that are one register do."""
    forms = {
        "add.f64 %fd2, %fd1, %fd3;": 1,
        "add.f64 %fd4, %fd3, %fd1;": 1,
        "add.f64 %fd4, %fd1, %fd1;": 2,
        "@%p1 add.f64 %fd4, %fd3, %fd1;": 3,
        "@!%p1 add.f64 %fd4, %fd3, %fd1;": 4,
        "st.global.f64 [%rd1+8], %fd4;": 5,
        "st.global.f64 [%rd2+16], %fd2;": 5,
        "st.global.f64 [%rd2], %fd2;": 6,
        "mul.f64 %fd2, %fd1, 0d3FF8000000000000;": 7,
        "mul.f64 %fd4, %fd3, 0d4008000000000000;": 7,
        "fma.rn.f64 %fd2, %fd1, 0d3FF8000000000000, 0d4008000000000000;": 8,
        "fma.rn.f64 %fd2, %fd1, 0d4010000000000000, 0d4008000000000000;": 8,
    }
    before = _functions("")
    text = ""
    for instruction, count in forms.items():
        text += instruction + "\n"
        assert _functions(text) - before == count, instruction


def test_basic_blocks_are_rows() -> None:
    """So the function that runs a warp is as long for many blocks as for few; barriers have code."""
    branch = """
    setp.gt.u32 %p1, %r1, {0};
    @%p1 bra other{0};
    add.u32 %r1, %r1, {0};
    bra both{0};
other{0}:
    sub.u32 %r1, %r1, {0};
both{0}:
"""
    few, many = (INDEX + TWICE + "".join(branch.format(k) for k in range(count)) for count in (3, 30))
    assert _warp_lines(few + "ret;") == _warp_lines(many + "ret;")
    assert _warp_lines(few + "bar.sync 0;\nret;") > _warp_lines(few + "ret;")


def _warp_lines(text: str) -> int:
    _, _, warp = _code(text).ir.partition(" @warp(")
    return warp.count("\n")


def _functions(text: str) -> int:
    return _code(INDEX + TWICE + text + "ret;").ir.count("define internal i1 @wg_step_")


def _code(text: str) -> KernelCode:
    made = Prepared(Compiled(kernel(text, "u64 out"), "k", "k", "ptx"))
    return generate(made.program, BlockShape((64, 1, 1)), made.symbols, small=True)
