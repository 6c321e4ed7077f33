"""Code for other processors computes the same bits: older x86 ones here, aarch64 in an emulator.

x86-64 of 2003 has 16-byte vectors, no fused multiply-add, no masks and no conversion of halves. Code for
aarch64 is linked with targets/driver.c and run by qemu-user; llvmlite's LLVM has that target. Quick code and
other levels of x86-64 take WARPGLASS_TESTS=full.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.levels import FULL
from warpglass.codegen import BlockShape, Promises, Target, compile_ir, generate, grid_class
from warpglass.codegen.context import SHARED_WINDOW, SITE_WORDS, WORDS
from warpglass.engine.cpu.address_space import lay_out
from warpglass.engine.cpu.prepared import prepare

from .targets.cases import BLOCK, CASES, FOLDER, GRID, arguments, kernel, results

pytestmark = pytest.mark.turns(2)

_ROOT = Path(__file__).resolve().parents[2]
_X86 = platform.machine().lower() in ("x86_64", "amd64")
_AARCH64 = Target("aarch64-unknown-linux-gnu", "generic", "")
_CROSS, _EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
_READ_WRITE = 3
_FULL_ONLY = pytest.mark.least("full")
_WAYS = {"optimised": False, "quick": True} if FULL else {"optimised": False}

Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def expected() -> dict[str, list[Array]]:
    return results()


# ---------------------------------------------------------------------------------------- older x86
@pytest.mark.turns(2)
@pytest.mark.skipif(not _X86, reason="this host is no x86-64")
@pytest.mark.parametrize(
    ("cpu", "tier"),
    [
        ("x86-64", "optimised"),
        pytest.param("x86-64", "quick", marks=_FULL_ONLY),
        pytest.param("x86-64-v3", "optimised", marks=_FULL_ONLY),
        pytest.param("x86-64-v3,-fma", "optimised", marks=_FULL_ONLY),
        pytest.param("host,-fma", "optimised", marks=_FULL_ONLY),  # with which AVX-512 goes
        pytest.param("host,-avx", "optimised", marks=_FULL_ONLY),
        pytest.param("host,-sse3", "optimised", marks=_FULL_ONLY),
    ],
)
def test_older_x86(cpu: str, tier: str, expected: Mapping[str, list[Array]], tmp_path: Path):
    file = tmp_path / "results.npz"
    settings = {"WARPGLASS_CPU": cpu, "WARPGLASS_TIER": tier}
    command = [sys.executable, "-m", "tests.codegen.targets.cases", str(file)]
    subprocess.run(command, env=os.environ | settings, cwd=_ROOT, check=True)
    with np.load(file) as found:
        everything = [(name, array) for name, arrays in expected.items() for array in arrays]
        for position, (name, array) in enumerate(everything):
            assert found[f"arr_{position}"].tobytes() == array.tobytes(), f"{name}, array {position}"


@pytest.mark.skipif(not _X86, reason="this host is no x86-64")
@pytest.mark.parametrize(
    ("cpu", "message"),
    [
        ("z80", "it may be host, x86-64"),
        ("host,fma", "features may be left out"),
        ("host,-avx512x", "'-avx512x' leaves out none; did you mean -avx512"),
        ("host,-sse2", "there is no x86-64 without sse2"),
    ],
)
def test_unknown_processor(cpu: str, message: str):
    command = [sys.executable, "-c", "from warpglass.codegen import chosen_target as f; f()"]
    ran = subprocess.run(
        command, env=os.environ | {"WARPGLASS_CPU": cpu}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert message in ran.stderr


@pytest.mark.skipif(not _X86, reason="this host is no x86-64")
@pytest.mark.parametrize("cpu", ["host,-avx", "host,-sse4.1", "x86-64,-sse3"])
def test_what_builds_on_a_feature_goes_with_it(cpu: str):
    code = (
        "from warpglass.codegen.machine import target as t;"
        "print(t.vector_bytes(), t.picks_words(), t.converts_half())"
    )
    settings = os.environ | {"WARPGLASS_CPU": cpu}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["16", "False", "False"]


# ---------------------------------------------------------------------------------------- aarch64
_OF_X86 = (
    "converts_any",
    "gathers_quickly",
    "multiplies_bytes",
    "packs_bytes",
    "picks_words",
    "rounds_as_told",
)


def _words(*values: int) -> bytes:
    return struct.pack(f"={len(values)}q", *values)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 8)


class _Image:
    """A kernel's IR, by the way in which it is compiled, and a launch of it."""

    def __init__(self, name: str):
        args = arguments(name)
        prepared = prepare(kernel(name).compile(args))
        bound = prepared.binder.bind(args)
        program = prepared.program
        shape = BlockShape(BLOCK, program.shared.static)
        code = generate(program, shape, prepared.symbols, (), Promises(grid_class(GRID)))
        self.code = {way: code.text(quick=quick) for way, quick in _WAYS.items()}
        laid = lay_out(bound)
        rows = np.array([*prepared.module.words, *laid.words], np.int64).reshape(-1, 4).tolist()
        shared = [SHARED_WINDOW, shape.static_shared, 0, _READ_WRITE | 4]
        self.parts = [_words(*GRID, shape.static_shared, code.frame_stride * shape.warps)]
        self.parts += [
            _words(32 * program.local.size * shape.warps, 8 * SITE_WORDS * len(code.sites), shape.warps)
        ]
        for content in (shape.thread_table().tobytes(), laid.parameters):
            self.parts += [_words(len(content)), _padded(content)]
        self.parts.append(_words(len(rows) + 1))
        self.sizes: list[int] = []
        for base, size, _, permissions in sorted([*rows, shared]):
            is_shared = base == SHARED_WINDOW
            self.parts.append(_words(base, size, permissions, is_shared))
            if not is_shared:
                self.parts.append(_padded(_bytes_at(base, size, rows)))
                self.sizes.append(size)


def _bytes_at(base: int, size: int, rows: list[list[int]]) -> bytes:
    (delta,) = (row[2] for row in rows if row[0] == base)
    return ctypes.string_at(base + delta, size)


def _tools() -> list[str]:
    return [tool for tool in (_CROSS, _EMULATOR) if shutil.which(tool) is None]


def _be_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whatever asks for this host's instructions get aarch64's answers."""
    answers = dict.fromkeys(_OF_X86, False) | {"float_register": "w"}
    for module in [one for name, one in sys.modules.items() if name.startswith("warpglass.codegen.")]:
        for name, answer in answers.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, lambda answer=answer: answer)


def test_aarch64_compiles(monkeypatch: pytest.MonkeyPatch):
    """Where it cannot be run, too."""
    _be_elsewhere(monkeypatch)
    for name in CASES:
        for way, text in _Image(name).code.items():
            assert compile_ir(text, quick=_WAYS[way], target=_AARCH64)


@pytest.mark.skipif(bool(_tools()), reason=f"{' and '.join(_tools())} are not installed")
def test_aarch64(expected: Mapping[str, list[Array]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _be_elsewhere(monkeypatch)
    images = {name: _Image(name) for name in CASES}
    objects: list[str] = []
    names: list[str] = []
    for name, image in images.items():
        for way, text in image.code.items():
            names.append(f"{name}_{way}")
            ir = text.replace("@run(ptr", f"@{names[-1]}(ptr")
            objects.append(str(tmp_path / f"{names[-1]}.o"))
            Path(objects[-1]).write_bytes(compile_ir(ir, quick=_WAYS[way], target=_AARCH64))
    _write_header(tmp_path, names)
    program, given, made = (str(tmp_path / part) for part in ("driver", "in", "out"))
    sources = [f"-I{tmp_path}", str(FOLDER / "driver.c"), *objects]
    subprocess.run([_CROSS, "-O1", "-static", *sources, "-lm", "-o", program], check=True)
    Path(given).write_bytes(b"".join(part for image in images.values() for part in len(_WAYS) * image.parts))
    subprocess.run([_EMULATOR, program, given, made], check=True, timeout=60)
    answer = Path(made).read_bytes()
    for name, image in images.items():
        for way in _WAYS:
            code, answer = struct.unpack_from("=q", answer)[0], answer[8:]
            assert code == 0, f"{name}, {way}"
            for position, (size, array) in enumerate(zip(image.sizes, expected[name], strict=True)):
                assert answer[:size] == array.tobytes(), f"{name}, {way}, array {position}"
                answer = answer[size:]


def _write_header(folder: Path, names: list[str]) -> None:
    """What the driver must know of the kernels and of a context."""
    lines = [f"int64_t {name}(int64_t *);" for name in names]
    lines += [f"#define WORDS {len(WORDS)}", f"#define KERNELS {', '.join(names)}"]
    lines += [f"enum {{ {', '.join(f'word_{name}' for name in WORDS)} }};"]
    lines += ["#define WORD(name) context[word_##name]"]
    (folder / "kernels.h").write_text("\n".join(lines) + "\n", encoding="utf-8")
