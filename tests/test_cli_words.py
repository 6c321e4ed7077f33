"""Hundreds of command lines that are wrong in one place: one message, never a traceback of ours."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from tests.test_cli import call, start
from warpglass.cli import app, main
from warpglass.cli.examples import EXAMPLES

pytestmark = pytest.mark.turns(2)

ROOT = Path(__file__).parent.parent
_KERNELS = """
extern "C" __global__ void scale(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
"""
# What stands where something else belongs.
_NONSENSE = (
    *("", "-", "0", "-1", "nan", "1e999", "2^70", "1,1,1,1", "x", "\x00", "ä", "[bold]", "%s", "~", "../.."),
    *("f4[1000000000000]", "f4[-1]", "f4[]", "f9[3]", "f4[3]:rnd", "i4=x", "u1=300", "i4=3", "f4[3,3,3,3]"),
    *("k.cu", "k.cu:", "k.cu:scael", "k.cux:scale", "nowhere.py", "h1OO", "abacus", "cc 99.9", "/proc/x/y"),
    *("--nope", "--grdi", "--json=3", "--grid", "--", "-x", "--timeout=0", "--model=h10", "--metrics=gld"),
)


def wrong(seed: int) -> list[str]:
    """A command line of the help with one word changed, added or left out."""
    chance = random.Random(seed)
    command = chance.choice([name for name in EXAMPLES if name not in ("bench", "selftest")])
    lines = [line for line in EXAMPLES[command] if "-m pytest" not in line]
    words = shlex.split(chance.choice(lines), comments=True)[1:]
    kind, place = chance.randrange(4), chance.randrange(len(words))
    if kind == 0:
        del words[place]
    elif kind == 1 and len(words[place]) > 2:  # two letters in another order
        letter = chance.randrange(1, len(words[place]) - 1)
        text = words[place]
        words[place] = text[:letter] + text[letter + 1] + text[letter] + text[letter + 2 :]
    elif kind == 2:
        words[place] = chance.choice(_NONSENSE)
    else:
        words.insert(place + 1, chance.choice(_NONSENSE))
    return words


def batch(first: int, count: int) -> None:
    """Run command lines one after the other, in a process of its own that they may change."""
    for seed in range(first, first + count):
        words, out, error, status = wrong(seed), io.StringIO(), io.StringIO(), None
        sys.argv = ["warpglass", *words]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                main()
            except SystemExit as leaving:
                status = leaving.code
        print(json.dumps([words, status, out.getvalue(), error.getvalue()]))  # noqa: T201


@pytest.mark.sampled(quick=4, ci=2)
@pytest.mark.parametrize("first", range(0, 400, 100))
def test_a_wrong_word_is_one_message(first: int, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(_KERNELS, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", f"from tests.test_cli_words import batch; batch({first}, 100)"],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "WARPGLASS_TRACEBACK": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        words, status, out, error = json.loads(line)
        assert status in (0, 1, 2, 3, 4), (words, error)
        assert "Traceback" not in error, (words, error)
        assert "site-packages" not in error, (words, error)
        if status == 2 and words:
            assert error.strip(), words
            assert len(error) < 2000, (words, error)
            assert out == "", words


# ---------------------------------------------------------------------------------------- help
@pytest.mark.parametrize("command", EXAMPLES)
def test_examples_of_the_help_are_command_lines(command: str) -> None:
    group = typer.main.get_command(app)
    for line in EXAMPLES[command]:
        assert len(line) <= 78
        program, name, *words = shlex.split(line, comments=True)
        assert (program, name) == ("warpglass", command)
        group.commands[command].make_context(command, words)  # type: ignore[attr-defined]


def test_all_commands_have_examples() -> None:
    group = typer.main.get_command(app)
    assert set(EXAMPLES) == set(group.commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", EXAMPLES)
def test_help_fits_80_columns(command: str) -> None:
    process = start(command, "--help", columns="80")
    output, error = process.communicate()
    assert (process.returncode, error) == (0, "")
    assert max(map(len, output.splitlines())) <= 80
    assert "Examples:" in output


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("chekc", "k.cu:scale"), "check"),
        (("check", "k.cu:scale", "--gird", "1"), "--grid"),
        (("check", "k.cu:scael", "--grid", "1", "--block", "32"), "scale"),
        (("check", "k.cu:scale", "--model", "h10"), "h100"),
        (("profile", "k.cu:scale", "--metrics", "gld_eficiency"), "gld_efficiency"),
        (("devices", "A10"), "a100"),
        (("bench", "reductoin"), "reduction"),
        (("bench", "reduction", "--rung", "unrol8"), "unroll8"),
    ],
)
def test_what_was_meant_is_said(
    words: tuple[str, ...],
    meant: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(_KERNELS, "utf-8")
    assert call(monkeypatch, *words) == 2
    error = capsys.readouterr().err.lower()
    assert meant in error
    assert "did you mean" in error or "possible option" in error


@pytest.mark.parametrize(("typed", "offered"), [("chec", "check"), ("check --sa", "--sarif")])
def test_a_shell_completes_commands_and_options(typed: str, offered: str) -> None:
    words = f"warpglass {typed}"
    program = "import sys; sys.argv = ['warpglass']; from warpglass.cli import main; main()"
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "_WARPGLASS_COMPLETE": "complete_bash", "PYTHONPATH": str(ROOT / "src"), **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [offered], done.stderr
