"""Quick and optimised code: the same results, one taking over from the other, both known from the disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.codegen.random_kernels import random_kernel
from tests.engines import CPU_ENGINES, engine_mode
from tests.ptx_text import kernel
from warpglass.codegen import MachineCode
from warpglass.engine import generated, tiers
from warpglass.engine.backend import Launch
from warpglass.engine.cpu import CpuBackend
from warpglass.engine.prepared import Executable, Prepared, prepare
from warpglass.errors import ArgumentError, CompileError
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


def test_a_launch_that_takes_long_has_its_kernel_optimised(own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, "")
    fixture = Fixture()
    asked = threading.Event()
    monkeypatch.setattr(tiers, "_background", lambda: SimpleNamespace(put=lambda _: asked.set()))
    assert (fixture.run(lambda: asked.wait(60)) == NUMBERS).all()
    assert asked.is_set()


def test_a_second_process_generates_and_compiles_nothing(own_cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
    Fixture().run()

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("known from the disk")

    monkeypatch.setattr(generated, "generate", fail)
    monkeypatch.setattr(tiers, "compile_ir", fail)
    assert (Fixture().run() == NUMBERS).all()


@pytest.mark.parametrize("kind", ["code", "object"])
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
    with pytest.raises(ArgumentError, match="WARPGLASS_TIER is 'fast'; it may be 'quick' or 'optimised'"):
        Fixture().run()


def test_a_bench_uses_one_tier_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(tiers.VARIABLE)
    assert tiers.chosen_tier() is None
    with tiers.only(tiers.OPTIMISED):
        assert tiers.chosen_tier() == tiers.OPTIMISED
        monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)
        assert tiers.chosen_tier() == tiers.QUICK
    assert tiers.chosen_tier() == tiers.QUICK
