"""Native functions are compiled once for all processes, whatever happens to those that compile them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.turns(3)

# Asks for a native function, whose compiling takes a while and leaves a line; prints what it computes.
PROGRAM = """
import ctypes, sys, time
from pathlib import Path
from warpglass.observe.natives import library

log, seconds = Path(sys.argv[1]), float(sys.argv[2])
compile_ir = library.compile_ir

def slowly(ir, **options):
    with log.open("a") as file:
        file.write("compiled\\n")
    time.sleep(seconds)
    return compile_ir(ir, **options)

def double(a):
    return 2 * a

library.compile_ir = slowly
found = ctypes.c_int64()
doubles = library.Library("something", [double], {"double": double})
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
kind(doubles.address("double"))(ctypes.addressof(found), 21)
print(found.value)
"""


class Machine:
    """Where processes run it."""

    def __init__(self, folder: Path):
        self.cache: Path | None = folder / "cache"
        self._log, self._program = folder / "log", folder / "program.py"
        self._program.write_text(PROGRAM)

    def start(self, seconds: float = 0.0) -> subprocess.Popen[str]:
        """A process that takes at least so many seconds to compile."""
        return subprocess.Popen(
            [sys.executable, str(self._program), str(self._log), str(seconds)],
            env=os.environ | {"WARPGLASS_CACHE": str(self.cache or "")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def compiled(self) -> int:
        """How often it was compiled."""
        return self._log.read_text().count("compiled") if self._log.exists() else 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_processes_at_once_compile_once_and_say_so(machine: Machine) -> None:
    outputs = [one.communicate(timeout=60) for one in [machine.start(1.5) for _ in range(3)]]
    assert [text for text, _ in outputs] == ["42\n"] * 3
    said = "warpglass: compiling something, once for this machine ...\n"
    assert {text for _, text in outputs} <= {"", said}
    assert any(text == said for _, text in outputs)
    assert machine.compiled == 1
    assert machine.start(60).communicate(timeout=30) == ("42\n", "")


def test_one_that_is_killed_holds_up_nobody(machine: Machine) -> None:
    first = machine.start(60)
    while machine.compiled == 0:
        assert first.poll() is None
    second = machine.start()
    first.kill()
    first.communicate()
    assert second.communicate(timeout=30) == ("42\n", "")
    assert machine.compiled == 2
    assert machine.cache is not None
    left = {path.relative_to(machine.cache).parts[0] for path in machine.cache.rglob("*") if path.is_file()}
    assert left == {"natives", "natives.lock"}, "the lock's file stays, and belongs to nobody"
    assert len([path for path in (machine.cache / "natives").rglob("*") if path.is_file()]) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX's permissions")
def test_a_cache_that_cannot_be_written_is_done_without(machine: Machine) -> None:
    assert machine.cache is not None
    machine.cache.mkdir(mode=0o500)
    (machine.cache / "natives").write_text("")  # root may write anywhere, but not into a file as a folder
    (machine.cache / "natives.lock").mkdir()
    assert [machine.start().communicate(timeout=30) for _ in range(2)] == [("42\n", "")] * 2
    assert machine.compiled == 2


def test_no_cache_at_all(machine: Machine) -> None:
    machine.cache = None
    assert machine.start().communicate(timeout=30) == ("42\n", "")
