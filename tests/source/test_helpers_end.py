"""Helper processes end with the process that started them, and within their own budget of processor time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from warpglass.source import apart_child
from warpglass.source.apart import FOLDER

PROC = Path("/proc")
pytestmark = pytest.mark.skipif(not (PROC / "self/environ").exists(), reason="looks for processes in /proc")

# What keeps a helper busy for longer than any test lasts, on a thread other than the main one.
BUSY = {
    # LLVM, as kernels are optimised in the background.
    "llvm": """
from warpglass.codegen import compile_apart
from warpglass.engine.cpu.tiers import in_background
pairs = (f"%v{i} = load volatile i64, ptr %p\\nstore volatile i64 %v{i}, ptr %p\\n" for i in range(200_000))
ir = f"define i64 @run(ptr %p) #0 {{\\n{''.join(pairs)}ret i64 0\\n}}\\n"
in_background(lambda: compile_apart("k", ir, quick=False))
""",
    # NVRTC, in templates that double at each of 28 levels.
    "nvrtc": """
import threading
from warpglass.source import compile_text
text = '''
template <int a, int b> struct B { static constexpr int v = B<a-1, b*2>::v + B<a-1, b*2+1>::v; };
template <int b> struct B<0, b> { static constexpr int v = b; };
extern "C" __global__ void k(int* x) { x[0] = B<28, 1>::v; }
'''
threading.Thread(target=compile_text, args=(text, "k"), daemon=True).start()
""",
}
WAIT = "import sys\nsys.stdin.readline()\n"
# A fork that lives on must not keep the helper of the process that it was forked from.
FORK = WAIT + "import os, time\nif not os.fork():\n    time.sleep(60)\nsys.stdin.readline()\n"


@dataclass(frozen=True)
class Parent:
    """A process that has one helper at work."""

    process: subprocess.Popen[str]
    mark: str

    def helpers(self) -> list[Path]:
        """The folders in /proc of its helper processes that are alive, whoever is their parent now."""
        return [folder for folder in PROC.glob("[0-9]*") if self._started(folder)]

    def _started(self, folder: Path) -> bool:
        try:
            command = (folder / "cmdline").read_bytes()
            return b"apart_child.py" in command and self.mark.encode() in (folder / "environ").read_bytes()
        except OSError:  # it has ended meanwhile, or is another user's
            return False

    def say(self) -> None:
        """Let it go on."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def until(done: Callable[[], object], seconds: float) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def processor_seconds(folder: Path) -> float:
    """What a process has used."""
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Parent]]:
    """Start a process of a program; return when its helper is in the midst of its work."""
    started: list[Parent] = []

    def begin(program: str) -> Parent:
        mark = f"TEST_MARK={uuid.uuid4()}"
        name, value = mark.split("=")
        environment = os.environ | {name: value, "WARPGLASS_CACHE": str(tmp_path)}
        command = [sys.executable, "-c", program]
        parent = Parent(subprocess.Popen(command, stdin=subprocess.PIPE, text=True, env=environment), mark)
        started.append(parent)
        assert until(lambda: any(processor_seconds(helper) > 1.5 for helper in parent.helpers()), 60)
        return parent

    yield begin
    for parent in started:
        parent.process.kill()
        parent.process.communicate()
        for helper in parent.helpers():
            os.kill(int(helper.name), signal.SIGKILL)


@pytest.mark.parametrize("work", BUSY)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_helpers_end_with_a_process_that_is_killed(
    start: Callable[[str], Parent], work: str, number: signal.Signals
) -> None:
    parent = start(BUSY[work] + WAIT)
    parent.process.send_signal(number)
    assert parent.process.wait(2) == -number
    assert until(lambda: not parent.helpers(), 2)


@pytest.mark.parametrize("work", BUSY)
def test_a_process_ends_at_once_and_its_helpers_with_it(start: Callable[[str], Parent], work: str) -> None:
    parent = start(BUSY[work] + WAIT)
    parent.say()
    assert parent.process.wait(2) == 0
    assert until(lambda: not parent.helpers(), 2)


@pytest.mark.least("ci")
def test_a_fork_does_not_keep_helpers(start: Callable[[str], Parent]) -> None:
    parent = start(BUSY["llvm"] + FORK)
    parent.say()

    def forks() -> set[str]:
        tasks = (PROC / str(parent.process.pid)).glob("task/*/children")
        return set(" ".join(task.read_text() for task in tasks).split()) - {
            helper.name for helper in parent.helpers()
        }

    assert until(forks, 5)
    (fork,) = forks()
    try:
        parent.process.kill()
        assert until(lambda: not parent.helpers(), 2)
        assert (PROC / fork).exists()
    finally:
        os.kill(int(fork), signal.SIGKILL)


@pytest.mark.least("ci")
def test_each_call_has_a_budget_of_processor_time(tmp_path: Path) -> None:
    tool = tmp_path / "tool.py"
    tool.write_text(
        "import time\n"
        "def work(seconds):\n"
        "    end = time.process_time() + float(seconds)\n"
        "    while time.process_time() < end: pass\n"
        "    return [b'done']\n"
    )
    command = [sys.executable, str(FOLDER / "apart_child.py"), str(tool), "work", str(1 << 30), "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as helper:
        assert helper.stdin is not None
        assert helper.stdout is not None
        for seconds in (b"0.9", b"0.9", b"0.9"):
            apart_child.send(helper.stdin, [seconds])
            status, _, answer = apart_child.receive(helper.stdout) or (b"", b"", b"")
            assert (status, answer) == (apart_child.DONE, b"done")
        apart_child.send(helper.stdin, [b"60"])
        assert helper.wait(30) == -signal.SIGXCPU
