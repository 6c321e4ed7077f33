"""Hostile C++ and PTX: no hang, no file that was not offered, no end of this process."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from warpglass.errors import ArgumentError, CompileError, WarpglassError
from warpglass.host.budget import compile_deadline, compile_timeout, memory_limit
from warpglass.lab import compile as compile_kernel
from warpglass.source import compile_text, load
from warpglass.source.apart import Apart, FailedApart
from warpglass.source.includes import refuse_outside

pytestmark = pytest.mark.turns(2)

KERNEL = 'extern "C" __global__ void k(int* x) { x[0] = VALUE; }\n'
BOMBS = {
    "templates": (
        "template <int a, int b> struct B { static constexpr int v = B<a-1, b*2>::v + B<a-1, b*2+1>::v; };\n"
        "template <int b> struct B<0, b> { static constexpr int v = b; };\n#define VALUE B<28, 1>::v\n"
    ),
    "macros": "#define A0 1+1+1+1+1+1+1+1+1+1\n"
    + "".join(f"#define A{i} {'+'.join([f'A{i - 1}'] * 10)}\n" for i in range(1, 10))
    + "#define VALUE A9\n",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_stopped_and_the_next_kernel_compiles(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_MEMORY", "3G")
    monkeypatch.setenv("WARPGLASS_COMPILE_TIMEOUT", "2")
    begun = time.monotonic()
    with pytest.raises(CompileError, match="WARPGLASS_COMPILE_TIMEOUT|WARPGLASS_MEMORY"):
        compile_text(BOMBS[name] + KERNEL, "k")
    assert time.monotonic() - begun < 10
    monkeypatch.setenv("WARPGLASS_COMPILE_TIMEOUT", "60")
    assert compile_text("#define VALUE 7\n" + KERNEL, "k").compile(()).entry == "k"


def test_a_compiler_that_breaks_down_is_an_error(tmp_path: Path) -> None:
    tool = tmp_path / "tool.py"
    tool.write_text(
        "import os\n"
        "def work(text):\n"
        "    if text == b'die': os.abort()\n"
        "    if text == b'fill': x = bytearray(1 << 40)\n"
        "    if text == b'raise': raise ValueError('no')\n"
        "    print('noise')\n"
        "    return [text * 2]\n"
    )
    helper = Apart(tool, "work")
    for text in (b"die", b"fill"):
        with pytest.raises(CompileError, match=r"k\.cu: the compiler broke down .*WARPGLASS_MEMORY"):
            helper.call("k.cu", text)
        assert helper.call("k.cu", b"ab") == [b"abab"]
    with pytest.raises(FailedApart, match="no"):
        helper.call("k.cu", b"raise")


@pytest.mark.parametrize("form", ['"{0}"', "<{0}>"])
@pytest.mark.parametrize(
    "line",
    [
        "#include {0}",
        "#include_next {0}",
        "  # /* a\n b */ include /**/ {0}",
        "%:include {0}",
        "#inc\\\nlude {0}",
        "/* // */ #include {0}",
        "#define H {0}\n#include H",
        "#if __has_include({0})\n#endif",
        'const char* s = R"(/*)";\n#include {0}\n// */',
    ],
)
def test_no_file_is_read_that_was_not_offered(tmp_path: Path, line: str, form: str) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("#define VALUE 7\nsecret words\n")
    folder = tmp_path / "offered"
    folder.mkdir()
    for name in (str(secret), "../secret.h"):
        text = line.format(form.format(name)) + "\n" + KERNEL
        for options in ((), ("-I", str(folder))):
            with pytest.raises(CompileError, match=r"options=\('-I'") as caught:
                compile_text(text, "k", options=options)
            assert "secret words" not in str(caught.value)
            assert caught.value.diagnostics[0].line in range(1, 4)


def test_what_stands_in_an_offered_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "value.h").write_text("#define VALUE 12345\n")
    (tmp_path / "deep" / "own.h").write_text('#include "../value.h"\n// #include "/etc/passwd"\n')
    source = tmp_path / "k.cu"
    for name in ("value.h", "deep/own.h", str(tmp_path / "value.h")):
        source.write_text(f'#include "{name}"\n{KERNEL}')
        assert "12345" in load(source, "k").compile(()).ptx  # its own folder is offered
        assert "12345" in load(source, "k", options=("-I", str(tmp_path))).compile(()).ptx
    (tmp_path / "value.h").write_text("#define VALUE 23456\n")
    assert "23456" in load(source, "k").compile(()).ptx  # the content counts, whatever is cached
    inner = tmp_path / "deep" / "k.cu"
    inner.write_text(f'#include "../value.h"\n{KERNEL}')
    with pytest.raises(CompileError, match=r"k.cu:1: .*no include folder \(-I .* offers its own\)"):
        load(inner, "k")
    assert "23456" in load(inner, "k", options=("-I", str(tmp_path))).compile(()).ptx


def test_a_header_is_checked_like_the_text(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text('\n#include "/etc/passwd"\n#define VALUE 1\n')
    with pytest.raises(CompileError, match=r"h\.h:2: /etc/passwd lies in no include folder"):
        compile_text('#include "h.h"\n' + KERNEL, "k", options=("-I", str(tmp_path)))


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "/proc/self/mem"])
def test_devices_are_not_read(name: str) -> None:
    with pytest.raises(CompileError):
        compile_text(f'#include "{name}"\n' + KERNEL, "k", options=("-I", str(Path(name).parent)))


@pytest.mark.parametrize("part", ["\n#/*", "# ", "/*", "#include", "\\\n", '#define X "'])
def test_the_check_itself_takes_linear_time(part: str) -> None:
    begun = time.monotonic()
    with contextlib.suppress(CompileError):
        refuse_outside(part * 200_000, "<cuda>", "/nowhere", (), ())
    assert time.monotonic() - begun < 5


# ---------------------------------------------------------------------------------------- PTX
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
BODY = ".visible .entry k(.param .u64 p) {\n"
BROKEN = {
    "registers": HEAD + BODY + ".reg .b32 %r<2000000000>; ret; }",
    "scopes": HEAD + BODY + "{" * 20_000 + "}" * 20_000 + "ret; }",
    "minus": HEAD + BODY + ".reg .b32 %r1; mov.u32 %r1, " + "-" * 50_000 + "1; ret; }",
    "number": HEAD + BODY + ".reg .b32 %r1; mov.u32 %r1, " + "1" * 50_000 + "; ret; }",
    "comments": HEAD + "/*" * 500_000,
    "text": HEAD + "//" + "x" * 20_000_000,
    "include": HEAD + '.include "/etc/passwd"\n' + BODY + "ret; }",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_ptx_is_an_error_at_once(name: str) -> None:
    begun = time.monotonic()
    with pytest.raises(CompileError) as caught:
        compile_kernel(BROKEN[name], "k", language="ptx")
    assert time.monotonic() - begun < 10
    assert "root:" not in str(caught.value)


LONG = """
import sys, time
import numpy as np
import warpglass as wg
count = 200_000
body = "".join(f"add.u32 %r{{(i + 1) % 50}}, %r{{i % 50}}, %r{{i * 7 % 50}};\\n" for i in range(count))
text = {head!r} + ".reg .b32 %r<60>;\\n" + body + "ret; }}"
begun = time.monotonic()
try:
    wg.run(wg.compile(text, "k", language="ptx"), 1, 32, (np.zeros(1),), device="cpu")
except wg.CompileError as error:
    print(error, time.monotonic() - begun < 20)
"""


@pytest.mark.least("ci")
def test_a_kernel_that_is_too_long_to_compile_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_COMPILE_TIMEOUT", "3")
    done = subprocess.run(
        [sys.executable, "-c", LONG.format(head=HEAD + BODY)], capture_output=True, text=True, timeout=90
    )
    assert "compiling did not end within 3 s" in done.stdout, done.stderr
    assert done.stdout.endswith(" True\n")


# ---------------------------------------------------------------------------------------- the limits
def test_the_deadline_ends_python_code_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_COMPILE_TIMEOUT", "0.2")

    def never_end() -> None:
        with compile_deadline("k"):
            while True:
                pass

    with pytest.raises(CompileError, match=r"k: compiling did not end within 0\.2 s"):
        never_end()
    for _ in range(200):
        with compile_deadline("k"):
            pass
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        pass
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


@pytest.mark.parametrize(
    ("text", "size"), [("1048576", 1 << 20), ("2G", 2 << 30), ("500m", 500 << 20), ("1.5KiB", 1536)]
)
def test_sizes(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("WARPGLASS_MEMORY", text)
    assert memory_limit() == size


@pytest.mark.parametrize("text", ["much", "-1", "0", "1e9", "2 apples"])
def test_a_size_that_is_none(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("WARPGLASS_MEMORY", text)
    with pytest.raises(ArgumentError, match="WARPGLASS_MEMORY is .* such as 2G"):
        memory_limit()


@pytest.mark.parametrize("text", ["nan", "0", "-3", "soon", "inf"])
def test_a_time_that_is_none(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("WARPGLASS_COMPILE_TIMEOUT", text)
    with pytest.raises(WarpglassError, match="WARPGLASS_COMPILE_TIMEOUT is"):
        compile_timeout()


def test_half_of_the_memory_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARPGLASS_MEMORY", raising=False)
    assert 1 << 28 < memory_limit() < 1 << 50
