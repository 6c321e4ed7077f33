"""What a process starts ends with it, whatever ends it, and helpers within their own processor time."""

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
pytestmark = [
    pytest.mark.turns(2),
    pytest.mark.skipif(not (PROC / "self/environ").exists(), reason="looks for processes in /proc"),
]

# What keeps a helper busy for longer than any test lasts, on a thread other than the main one.
BUSY = {
    # LLVM, as kernels are optimised in the background.
    "llvm": """
from warpglass.codegen import compile_apart
from warpglass.host.background import in_background
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
# Another program, as ptxas, ncu and nvcc are run, which starts others.
TIED = """
import threading
from pathlib import Path
from warpglass.host.tied import run_tied
scratch = Path("scratch")
scratch.mkdir()
(scratch / "file").write_text("")
busy = "i=0; while :; do i=$((i+1)); done"
command = ["sh", "-c", f"({busy}) & {busy}"]
options = dict(scratch=scratch.resolve())
threading.Thread(target=run_tied, args=(command,), kwargs=options, daemon=True).start()
"""
WAIT = "import sys\nword = sys.stdin.readline()\n"
# Ways in which a process ends by itself once it is told to, and its status then.
ENDS = {
    "return": ("", 0),
    "exit": ("sys.exit(3)", 3),
    "_exit": ("import os; os._exit(4)", 4),
    "exception": ("raise SystemError('of a test')", 1),
    "crash": ("import ctypes; ctypes.string_at(8)", -signal.SIGSEGV),
    "abort": ("import os; os.abort()", -signal.SIGABRT),
}
# A fork that lives on must not keep the helper of the process that it was forked from.
FORK = WAIT + "import os, time\nif not os.fork():\n    time.sleep(60)\nsys.stdin.readline()\n"


@dataclass(frozen=True)
class Parent:
    """A process that has one helper at work."""

    process: subprocess.Popen[str]
    program: str
    mark: str

    def helpers(self) -> list[Path]:
        """The folders in /proc of its helper processes that are alive, whoever is their parent now."""
        return [folder for folder in PROC.glob("[0-9]*") if self._started(folder)]

    def _started(self, folder: Path) -> bool:
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
            own = self.program.encode() in command  # or a fork
            return not own and self.mark.encode() in (folder / "environ").read_bytes()
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
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True, env=environment, cwd=tmp_path)
        parent = Parent(process, program, mark)
        started.append(parent)
        assert until(lambda: any(processor_seconds(helper) > 1.5 for helper in parent.helpers()), 60)
        return parent

    yield begin
    for parent in started:
        parent.process.kill()
        parent.process.communicate()
        for helper in parent.helpers():
            os.kill(int(helper.name), signal.SIGKILL)


def nothing_left(parent: Parent, folder: Path) -> bool:
    """Whether all of a process's helpers end soon, with their temporary files."""
    assert parent.process.stderr is not None
    return until(lambda: not parent.helpers() and not (folder / "scratch").exists(), 2)


WORKS = {**BUSY, "tied": TIED}


@pytest.mark.sampled(quick=6, ci=5)
@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_helpers_end_with_a_process_that_is_killed(
    start: Callable[[str], Parent], work: str, number: signal.Signals, tmp_path: Path
) -> None:
    usual = (
        "" if number == signal.SIGKILL else f"import signal\nsignal.signal({int(number)}, signal.SIG_DFL)\n"
    )
    parent = start(usual + WORKS[work] + WAIT)  # under nohup SIGHUP is ignored
    parent.process.send_signal(number)
    assert parent.process.wait(2) == -number
    assert nothing_left(parent, tmp_path)


@pytest.mark.sampled(quick=6, ci=5)
@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("end", ENDS)
def test_a_process_ends_at_once_and_its_helpers_with_it(
    start: Callable[[str], Parent], work: str, end: str, tmp_path: Path
) -> None:
    how, status = ENDS[end]
    parent = start(WORKS[work] + WAIT + how)
    parent.say()
    assert parent.process.wait(2) == status
    assert nothing_left(parent, tmp_path)


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
