"""Prints cases for reading: `python -m tests.isa.show 'add.rn.f32'` for all forms that begin so.

Shown are the PTX that runs the form, its operands, and what hardware answered, lane by lane.
"""

from __future__ import annotations

import sys

from .answer_forms import Form, all_forms, operands, width
from .answer_kernels import build, contents
from .answers import Answer, load

_MOST = 8  # forms; more are only listed


def main() -> None:
    """Print the cases that the arguments name."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.isa.show FORM   (or the beginning of one)")
    forms = [form for form in all_forms() if form.text.startswith(sys.argv[1])]
    who, answers = load()
    if not forms:
        sys.exit(f"no form begins with {sys.argv[1]!r}")
    if len(forms) > _MOST:
        sys.stdout.write("\n".join([f"{len(forms)} forms:", *(form.text for form in forms), ""]))
        return
    for form in forms:
        sys.stdout.write("\n".join([f"{form.text}   ({who})", *_described(form, answers.get(form.text)), ""]))


def _described(form: Form, answer: Answer | None) -> list[str]:
    lines = [build([form]).text]
    if answer is None:
        return [*lines, "no answer is stored"]
    if answer.refused:
        return [*lines, f"refused: {answer.refused}"]
    names = [name for place in form.sources for name in place.names]
    digits = [-(-width(place.type) // 4) for place in form.sources for _ in place.names]
    columns = operands(form.sources, form.lanes, form.in_warp) if form.sources else []
    memory = contents(form) if form.space else None
    for lane in range(form.lanes):
        given = [f"{n}={column[lane]:0{d}x}" for n, d, column in zip(names, digits, columns, strict=True)]
        slot = [f"[a]={memory[lane].tobytes().hex()}"] if memory is not None else []
        results = [
            f"{name}={column[lane]:0{-(-bits // 4)}x}"
            for (name, bits), column in zip(answer.results, answer.lanes, strict=True)
        ]
        lines.append(f"lane {lane:3}: {' '.join([*given, *slot])} -> {' '.join(results)}")
    return lines


if __name__ == "__main__":
    main()
