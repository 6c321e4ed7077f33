"""Quick and optimised code: the same results, one taking over from the other, both known from the disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from tests.generators.kernels import random_kernel
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.codegen import MachineCode
from warpglass.engine.cpu import generated, prepared, tiers
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.cpu.prepared import Executable, Prepared, prepare
from warpglass.engine.launch.backend import Launch
from warpglass.errors import ArgumentError, CompileError, KernelFault
from warpglass.host.budget import Limits
from warpglass.host.locks import slot
from warpglass.program import Program
from warpglass.source.apart import OverBudget
from warpglass.source.compiled import Compiled

# Once a flag is up, each thread writes its number.
FLAGGED = kernel(
    """
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [flag];
again:
    ld.volatile.global.u32 %r1, [%rd2];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra again;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r2, 64, %r3;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r4;
    ret;
""",
    "u64 out, u64 flag",
)
BLOCKS = 100
NUMBERS = np.arange(BLOCKS * 64)


class Fixture:
    """One fresh kernel on a back end of its own."""

    def __init__(self, text: str = FLAGGED):
        prepare.cache_clear()
        self.compiled = Compiled(text, "k", "k", "ptx")
        self.backend = CpuBackend()

    def run(self, while_it_runs: Callable[[], object] | None = None) -> np.ndarray:
        """Launch the kernel; what is to be done while it runs ends before the flag goes up."""
        out, flag = np.zeros(BLOCKS * 64, np.uint32), np.array([while_it_runs is None], np.uint32)
        launch = Launch(self.compiled, (BLOCKS, 1, 1), (64, 1, 1), (out, flag), 0, 60.0)
        if while_it_runs is None:
            self.backend.run(launch)
            return out
        thread = threading.Thread(target=self.backend.run, args=(launch,))
        thread.start()
        while_it_runs()
        flag[0] = 1
        thread.join()
        return out

    @property
    def prepared(self) -> Prepared:
        return prepare(self.compiled)

    @property
    def executable(self) -> Executable:
        """The only one."""
        (found,) = self.prepared._executables.values()
        return found


class Nothing:
    """An instrument that watches nothing."""

    def probes(self, program: Program) -> tuple[()]:
        return ()


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("seed", range(500, 502))
def test_tiers_agree_bit_for_bit(seed: int, engine: str, monkeypatch: pytest.MonkeyPatch):
    made = random_kernel(seed, size=16, features=seed % 2 == 0)
    compiled = Compiled(made.text, "k", "k", "ptx")
    found: list[list[bytes]] = []
    for tier in (tiers.QUICK, tiers.OPTIMISED):
        monkeypatch.setenv(tiers.VARIABLE, tier)
        args = made.arguments()
        with engine_mode(engine):
            CpuBackend().run(Launch(compiled, made.grid, made.block, tuple(args), 0, 60.0))
        found.append([arg.tobytes() for arg in args if isinstance(arg, np.ndarray)])
    assert found[0] == found[1]


def test_a_hot_kernel_is_optimised_while_launches_go_on(own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, "")
    fixture = Fixture()
    assert (fixture.run() == NUMBERS).all()
    assert fixture.executable.tiers.tier == tiers.QUICK
    fixture.executable.tiers.notice()
    deadline = time.monotonic() + 60
    while fixture.executable.tiers.tier == tiers.QUICK and time.monotonic() < deadline:
        assert (fixture.run() == NUMBERS).all()
    assert fixture.executable.tiers.tier == tiers.OPTIMISED
    assert (fixture.run() == NUMBERS).all()


def test_optimised_code_takes_over_in_the_midst_of_a_launch(own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    fixture = Fixture()
    fixture.run()
    code = fixture.executable.tiers
    ran: list[str] = []
    running = threading.Event()
    newest = code.newest

    def note() -> MachineCode:
        machine = newest()
        ran.append(code.tier)
        running.set()
        return machine

    def optimise() -> None:
        running.wait()
        code._optimise()

    monkeypatch.setattr(code, "newest", note)
    assert (fixture.run(optimise) == NUMBERS).all()
    assert ran[0] == tiers.QUICK
    assert ran[-1] == tiers.OPTIMISED


def test_what_cannot_be_optimised_stays_quick(own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    fixture = Fixture()
    fixture.run()

    def refuse(what: str, *_: object, **__: object) -> bytes:
        raise CompileError(f"{what}: compiling did not end")

    monkeypatch.setattr(tiers, "compile_apart", refuse)
    fixture.executable.tiers._optimise()
    assert (fixture.run() == NUMBERS).all()
    assert fixture.executable.tiers.tier == tiers.QUICK


@pytest.fixture
def optimised(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Limits]]:
    """Optimise a kernel as in the background; returns with which limits the compiler was called."""
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    fixture = Fixture()
    fixture.run()

    def optimise() -> list[Limits]:
        calls: list[Limits] = []

        def compile_apart(what: str, ir: str, *, quick: bool, limits: Limits) -> bytes:
            calls.append(limits)
            raise OverBudget(f"{what}: compiling did not end")

        monkeypatch.setattr(tiers, "compile_apart", compile_apart)
        fixture.executable.tiers._optimise()
        return calls

    return optimise


def test_what_came_to_a_limit_is_tried_again_with_a_greater_one(
    optimised: Callable[[], list[Limits]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("WARPGLASS_OPTIMISE_MEMORY", "2G")
    assert optimised() == [Limits(60.0, 2 << 30, 240.0)]
    with caplog.at_level("INFO", "warpglass"):
        assert optimised() == []
    assert caplog.messages == ["k is not optimised: 60 s and 2 GiB of memory were not enough before"]
    monkeypatch.setenv("WARPGLASS_OPTIMISE_TIMEOUT", "61")
    assert len(optimised()) == 1
    monkeypatch.setenv("WARPGLASS_OPTIMISE_MEMORY", "3G")
    assert len(optimised()) == 1
    assert optimised() == []


def test_processes_take_turns_to_optimise(
    optimised: Callable[[], list[Limits]], own_cache: Path, monkeypatch: pytest.MonkeyPatch
):
    later: list[Callable[[], None]] = []
    monkeypatch.setattr(tiers, "in_background", lambda job, pause: later.append(job))
    monkeypatch.setattr(tiers, "background_share", lambda: 2)
    with slot(own_cache, "optimiser", 2) as first, slot(own_cache, "optimiser", 2) as second:
        assert (first, second) == (True, True)
        assert optimised() == []
    end = time.monotonic() + 10
    while not later and time.monotonic() < end:
        time.sleep(0.01)
    assert len(later) == 1
    assert len(optimised()) == 1


@pytest.mark.parametrize("variable", ["WARPGLASS_OPTIMISE_TIMEOUT", "WARPGLASS_OPTIMISE_MEMORY"])
def test_limits_of_the_background_that_are_none_are_refused(variable: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(variable, "much")
    with pytest.raises(ArgumentError, match=f"{variable} is 'much'; it must be a number of"):
        Fixture().run()


def test_a_launch_that_takes_long_has_its_kernel_optimised(own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, "")
    fixture = Fixture()
    asked = threading.Event()
    monkeypatch.setattr(tiers, "in_background", lambda job, pause=0.0: asked.set())
    assert (fixture.run(lambda: asked.wait(60)) == NUMBERS).all()
    assert asked.is_set()


def test_a_second_process_parses_generates_and_compiles_nothing(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    Fixture().run()

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("known from the disk")

    for place, name in (
        (ptx, "parse"),
        (prepared, "build_program"),
        (generated, "generate"),
        (tiers, "compile_ir"),
    ):
        monkeypatch.setattr(place, name, fail)
    assert (Fixture().run() == NUMBERS).all()


def test_errors_are_the_same_for_a_kernel_from_the_disk(own_cache: Path):
    fixture = Fixture(
        kernel("ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nst.global.u32 [%rd1+64], %r1;\nret;", "u64 x")
    )
    launch = Launch(fixture.compiled, (1, 1, 1), (32, 1, 1), (np.zeros(16, np.uint32),), 0, 60.0)
    said: list[str] = []
    for _ in range(2):
        prepare.cache_clear()
        ptx.parse.cache_clear()
        with pytest.raises(KernelFault, match=r"x\[16\]") as error:
            CpuBackend().run(launch)
        said.append(str(error.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_observers_see_a_kernel_from_the_disk(engine: str, own_cache: Path):
    fixture = Fixture()
    fixture.run()
    again = Fixture()
    out, flag = np.zeros(BLOCKS * 64, np.uint32), np.ones(1, np.uint32)
    launch = Launch(again.compiled, (BLOCKS, 1, 1), (64, 1, 1), (out, flag), 0, 60.0)
    with engine_mode(engine):
        seen = again.backend.observe(launch, Nothing())[1]
    assert (out == NUMBERS).all()
    assert [step.number for block in seen.program.blocks for step in block.steps]


def test_facts_are_those_of_an_entry_and_of_no_broken_text(own_cache: Path):
    one = kernel("st.shared.u32 [s], 1;\nret;", name="k", shared=".align 4 .b8 s[64]")
    other = kernel("st.shared.u32 [s], 1;\nret;", name="l", shared=".align 4 .b8 s[128]")
    both = one + other.partition(".address_size 64\n")[2]
    for _ in range(2):
        found = [CpuBackend().static_shared(Compiled(both, name, name, "ptx")) for name in ("k", "l")]
        assert found == [64, 128]
        for text, entry in ((both.replace("ret;", "ret"), "k"), (both, "m")):
            with pytest.raises(CompileError):
                prepare(Compiled(text, entry, entry, "ptx"))
        prepare.cache_clear()
    assert len(list((own_cache / "facts").glob("*/*"))) == 2


@pytest.mark.parametrize("kind", ["code", "facts", "object"])
def test_damaged_entries_are_made_again(kind: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    Fixture().run()
    (entry,) = (own_cache / kind).glob("*/*")
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-9] + bytes(9))
    assert (Fixture().run() == NUMBERS).all()
    assert entry.read_bytes() == whole


def test_what_is_generated_depends_on_shape_and_text(own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    fixture = Fixture()
    out, flag = np.zeros(256, np.uint32), np.ones(1, np.uint32)
    for block in (64, 128):
        fixture.backend.run(Launch(fixture.compiled, (2, 1, 1), (block, 1, 1), (out, flag), 0, 60.0))
    assert (Fixture(FLAGGED.replace("%r2, 64", "%r2, 32")).run()[-64:] == 0).all()
    assert len(list((own_cache / "code").glob("*/*"))) == 3


def test_a_tier_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, "fast")
    with pytest.raises(
        ArgumentError, match="WARPGLASS_TIER is 'fast'; it may be 'small', 'quick' or 'optimised'"
    ):
        Fixture().run()


def test_a_bench_uses_one_tier_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(tiers.VARIABLE)
    assert tiers.chosen_tier() is None
    with tiers.only(tiers.OPTIMISED):
        assert tiers.chosen_tier() == tiers.OPTIMISED
        monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
        assert tiers.chosen_tier() == tiers.QUICK
    assert tiers.chosen_tier() == tiers.QUICK


def test_a_bench_goes_on_with_quick_code_if_optimising_takes_too_much(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    calls: list[Limits] = []

    def compile_apart(what: str, ir: str, *, quick: bool, limits: Limits) -> bytes:
        assert not quick
        calls.append(limits)
        raise OverBudget(f"{what}: compiling did not end")

    monkeypatch.delenv(tiers.VARIABLE)
    monkeypatch.setenv("WARPGLASS_OPTIMISE_MEMORY", "2G")
    monkeypatch.setitem(tiers._LONG_IR, tiers.OPTIMISED, 0)
    monkeypatch.setattr(tiers, "compile_apart", compile_apart)
    path = tmp_path / "mine.cu"
    path.write_text(
        "__global__ void mine(const float* x, const float* y, float* z, int n)\n"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) z[i] = y[i] + x[i]; }\n"
    )
    bench = wg.bench("vector", device="cpu", rungs=("on_host",), added=((path, "mine"),), small=True)
    (row,) = [row for row in bench.rows if row.kernel == "mine"]
    assert row.verified
    assert row.unoptimised
    assert calls == [Limits(60.0, 2 << 30, 60.0)]
    assert "mine ran in quick code" in bench.table()
