"""Writes what the GPU of this machine answers for every form: `python -m tests.isa.record OUTDIR`.

Forms that the driver's assembler refuses are written with its reason, and so are forms that fault. Unpack
OUTDIR/answers.tar in tests/cases/isa.
"""

from __future__ import annotations

import re
import sys
import tarfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.engines import run_ptx
from warpglass import lab
from warpglass.errors import CompileError, LaunchError

from .answer_forms import Form, all_forms
from .answer_kernels import build, kernels
from .answers import Answer, answers_of, save

_LARGEST = 64  # forms in a kernel
_BLOCK = 64  # threads: few, since forms may take all registers that a thread can have
_PROCESSES = 8  # the driver's assembler takes most of the time
_PLACE = re.compile(r"line (\d+)[;:]\s*(?:error\s*:\s*)?(.*)")


def main() -> None:
    """Record and write."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.isa.record OUTDIR")
    started = time.monotonic()
    forms = all_forms()
    batches = [[form.text for form in made.forms] for made in kernels(forms, _LARGEST)]
    found: dict[str, Answer] = {}
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as pool:
        for number, answers in enumerate(pool.map(_record_named, batches), 1):
            found |= {answer.text: answer for answer in answers}
            if number % 20 == 0 or number == len(batches):
                seconds = time.monotonic() - started
                sys.stdout.write(f"{number} of {len(batches)} kernels, {seconds:.0f} s\n")
                sys.stdout.flush()
    by_unit: dict[str, list[Answer]] = {}
    for form in forms:
        by_unit.setdefault(form.row.unit, []).append(found[form.text])
    folder = Path(sys.argv[1])
    who = f"{lab.backend('gpu').description}, {time.strftime('%Y-%m-%d')}"
    save(folder, who, by_unit)
    with tarfile.open(folder / "answers.tar", "w") as archive:
        for file in sorted(folder.glob("*.txt.xz")):
            archive.add(file, file.name)
            file.unlink()
    refused = sum(bool(answer.refused) for answer in found.values())
    sys.stdout.write(f"{len(found)} forms, {refused} of them refused, in {folder / 'answers.tar'}\n")


def _record_named(texts: list[str]) -> list[Answer]:
    known = _forms_by_text()
    return list(record([known[text] for text in texts], "gpu").values())


@cache
def _forms_by_text() -> dict[str, Form]:
    return {form.text: form for form in all_forms()}


def record(forms: list[Form], engine: str) -> dict[str, Answer]:
    """The answers to forms that share a kernel; forms that spoil it are taken out."""
    found: dict[str, Answer] = {}
    while forms:
        made = build(forms)
        arguments: list[Any] = made.arguments()
        try:
            block = min(_BLOCK, made.lanes)
            run_ptx(made.text, made.lanes // block, block, arguments, engine=engine)
            return found | {answer.text: answer for answer in answers_of(made, arguments[-1])}
        except CompileError as error:
            problem = str(error)
            reasons = {
                made.lines[int(line)].text: reason
                for line, reason in _PLACE.findall(problem)
                if int(line) in made.lines
            }
        except LaunchError as error:
            if error.synchronous:
                raise  # says nothing about the forms
            lab.backend("gpu").reset()
            reasons, problem = {}, str(error)
        if not reasons:
            return found | _apart(forms, engine, problem)
        found |= {text: Answer(text, refused=_words(reason)) for text, reason in reasons.items()}
        forms = [form for form in forms if form.text not in reasons]
    return found


def _apart(forms: list[Form], engine: str, problem: str) -> dict[str, Answer]:
    """Find the form that spoils a kernel by halving."""
    if len(forms) == 1:
        return {forms[0].text: Answer(forms[0].text, refused=_words(problem))}
    half = len(forms) // 2
    return record(forms[:half], engine) | record(forms[half:], engine)


def _words(reason: str) -> str:
    return " ".join(reason.split())[:160] or "refused without a reason"


if __name__ == "__main__":
    main()
