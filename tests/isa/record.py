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
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.engines import run_ptx
from warpglass import lab
from warpglass.errors import CompileError, LaunchError

from .answer_forms import Form, all_forms
from .answer_kernels import OUTPUT, build, kernels
from .answers import Answer, answers_of, save

_LARGEST = 64  # forms in a kernel
_BLOCK = 64  # threads: few, since forms may take all registers that a thread can have
_PROCESSES = 12  # the driver's assembler takes most of the time
_FAULTS = "faults: "
_PLACE = re.compile(r"line (\d+)[;:]\s*(?:error\s*:\s*)?(.*)")


def main() -> None:
    """Record and write."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.isa.record OUTDIR")
    started = time.monotonic()
    forms = all_forms()
    found: dict[str, Answer] = {}
    todo = [[form.text for form in made.forms] for made in kernels(forms, _LARGEST)]
    lost: list[str] = []
    while todo:
        # A fault leaves a process without a usable GPU, so each batch has a process of its own.
        with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
            results = list(pool.map(_record_batch, todo))
        spoiled: list[list[str]] = []
        for batch, (answers, problem) in zip(todo, results, strict=True):
            found |= {answer.text: answer for answer in answers}
            if not problem:
                continue
            _say(f"{batch[0]} and {len(batch) - 1} more: {problem}")
            rest = [text for text in batch if text not in found]
            if problem.startswith(_FAULTS) and len(rest) == 1:
                found[rest[0]] = Answer(rest[0], refused=_words(problem))
            elif problem.startswith(_FAULTS):
                spoiled += [rest[: len(rest) // 2], rest[len(rest) // 2 :]]
            else:
                lost += rest
        _say(f"{len(todo)} kernels done, {len(spoiled)} to do again, {time.monotonic() - started:.0f} s")
        todo = spoiled
    _write(Path(sys.argv[1]), forms, found)
    if lost:
        sys.exit(f"{len(lost)} forms have no answer for reasons that are not theirs: {lost[:10]}")


def _write(folder: Path, forms: list[Form], found: dict[str, Answer]) -> None:
    by_unit: dict[str, list[Answer]] = {}
    for form in forms:
        if form.text in found:
            by_unit.setdefault(form.row.unit, []).append(found[form.text])
    save(folder, f"{lab.backend('gpu').description}, {time.strftime('%Y-%m-%d')}", by_unit)
    with tarfile.open(folder / "answers.tar", "w") as archive:
        for file in sorted(folder.glob("*.txt.xz")):
            archive.add(file, file.name)
            file.unlink()
    refused = sum(bool(answer.refused) for answer in found.values())
    _say(f"{len(found)} of {len(forms)} forms, {refused} of them refused, in {folder / 'answers.tar'}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


# ---------------------------------------------------------------------------------------- one process
def _record_batch(texts: list[str]) -> tuple[list[Answer], str]:
    """The answers to forms that share a kernel, and what went wrong; faults begin with `_FAULTS`."""
    known = {form.text: form for form in all_forms()}
    found: dict[str, Answer] = {}
    try:
        record([known[text] for text in texts], "gpu", found)
    except LaunchError as error:
        fault = "" if error.synchronous else _FAULTS
        return list(found.values()), f"{fault}{error}"
    except Exception as error:
        return list(found.values()), f"{type(error).__name__}: {error}"
    return list(found.values()), ""


def record(forms: list[Form], engine: str, found: dict[str, Answer]) -> None:
    """Find the answers to forms that share a kernel; forms that the assembler refuses are taken out."""
    while forms:
        made = build(forms)
        arguments: list[Any] = made.arguments()
        try:
            block = min(_BLOCK, made.lanes)
            run_ptx(made.text, made.lanes // block, block, arguments, engine=engine)
        except CompileError as error:
            problem = str(error)
        else:
            found |= {answer.text: answer for answer in answers_of(made, arguments[OUTPUT])}
            return
        reasons = {
            made.lines[int(line)].text: reason
            for line, reason in _PLACE.findall(problem)
            if int(line) in made.lines
        }
        if not reasons and len(forms) > 1:
            record(forms[: len(forms) // 2], engine, found)
            forms = forms[len(forms) // 2 :]
            continue
        reasons = reasons or {forms[0].text: problem}
        found |= {text: Answer(text, refused=_words(reason)) for text, reason in reasons.items()}
        forms = [form for form in forms if form.text not in reasons]


def _words(reason: str) -> str:
    return " ".join(reason.split())[:160] or "refused without a reason"


if __name__ == "__main__":
    main()
