"""What of a command line is for the compiler, what for the program, and which files are programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpglass.errors import ArgumentError
from warpglass.programs import command_line, targets


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources with and without a main function."""
    monkeypatch.chdir(tmp_path)
    Path("prog.cu").write_text("__global__ void k() {}\nint\nmain(int argc, char **argv) {}\n")
    Path("more.cu").write_text('// int main()\nconst char *s = "int main()"; /* int main() */\n')
    Path("host.cpp").write_text("int f() { return 1; }\n")


def test_sources_flags_and_arguments() -> None:
    words = "prog.cu -O3 -I include more.cu -lm -Xcompiler -fopenmp -std=c++17 -- -O2 x.cu -- y".split()
    found, arguments = command_line.read(words, (9, 0))
    assert found.sources == (Path("prog.cu"), Path("more.cu"))
    assert found.flags == ("-O3", "-I", "include", "-Xcompiler", "-fopenmp", "-std=c++17")
    assert found.link == ("-lm",)
    assert arguments == ("-O2", "x.cu", "--", "y")


@pytest.mark.parametrize(
    ("flags", "architecture"),
    [
        ("", 90),
        ("-arch=sm_80", 80),
        ("-arch sm_75", 75),
        ("-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_86,code=compute_86", 86),
        ("-gencode arch=compute_80,code=sm_80 -gencode arch=compute_100,code=sm_100", 80),
        ("-arch=sm_100", 90),
        ("-arch=sm_35", 75),
        ("-arch=native", 90),
        ("-arch=sm_90a", 90),
    ],
)
def test_ptx_is_for_the_newest_architecture_that_the_gpu_takes(flags: str, architecture: int) -> None:
    found, _ = command_line.read(["prog.cu", *flags.split()], (9, 0))
    assert (found.architecture, found.flags) == (architecture, ())


def test_the_runtime_is_ours() -> None:
    found, _ = command_line.read(
        "prog.cu -cudart static -lcudart -lcudadevrt -l cudart -lcublas".split(), (9, 0)
    )
    assert (found.flags, found.link) == ((), ("-lcublas",))


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ArgumentError, match="follows --: warpglass run prog.cu -- 100"):
        command_line.read(["prog.cu", "100"], (9, 0))
    with pytest.raises(ArgumentError, match=r"no file gone\.cu"):
        command_line.read(["prog.cu", "gone.cu"], (9, 0))


def test_which_files_are_programs() -> None:
    Path("tool").write_text("#!/bin/sh\n")
    assert targets.is_source("prog.cu")
    assert not targets.is_source("more.cu")
    assert not targets.is_executable("tool")
    Path("tool").chmod(0o755)
    assert targets.is_executable("./tool")
    assert targets.is_executable("sh")
    assert not targets.is_executable("prog.cu:k")


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        ("int main() {}", True),
        ("int32_t main(int32_t argc, char* argv[])\n{\n}", True),
        ("main(void) { return 0; }", True),
        ("auto main(int, char **) -> int { }", True),
        ("int\nmain(int argc, char *argv[]) try { } catch (...) { }", True),
        ("int main(int argc, void (*signal)(int)) { }", True),
        ("int main(int argc, char **argv);", False),
        ("// int main() {}\n__global__ void k() {}", False),
        ("void run() { other::main(1); }", False),
        ("__global__ void domain(int n) {}", False),
    ],
)
def test_what_a_main_function_is(tmp_path: Path, text: str, whether: bool) -> None:
    file = tmp_path / "program.cu"
    file.write_text(text, "utf-8")
    assert targets.is_source(str(file)) is whether
