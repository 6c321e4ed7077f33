"""The command `explain`: the facts about a kernel that matter most, from what the engine counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .compiler_flags import CompilerOption
from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .kernel_launch import OutOption, SetOption, open_launch
from .options import (
    TIMEOUT,
    ArgOption,
    BlockOption,
    GridOption,
    JsonOption,
    ModelOption,
    SharedOption,
    find_gpu,
)
from .output import words_apart
from .rung import RungProgram, names_rung, program_of

if TYPE_CHECKING:
    from ..records.profile import Profile


def explain(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FILE:KERNEL | LADDER:RUNG | PROFILE.json",
            help="As in reduce.cu:sum<512>, reduction:interleaved, or a saved profile.",
        ),
    ],
    grid: GridOption = None,
    block: BlockOption = None,
    arg: ArgOption = None,
    settings: SetOption = None,
    outputs: OutOption = None,
    flags: CompilerOption = None,
    shared: SharedOption = "0",
    model: ModelOption = "h100",
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Lessons to tell of each launch.")] = 3,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonOption = False,
    timeout: Annotated[float | None, TIMEOUT] = None,
) -> None:
    """Say what matters most about a kernel: each fact with its number, line, cost and a way out."""
    from ..lab import profile as lab_profile
    from ..report.progress import waiting

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    limit = 60.0 if timeout is None else timeout
    gpu = find_gpu(model).key
    if Path(target).suffix == ".json":
        from ..records.files import open_profiles

        _show(open_profiles(target), most, form)
        return
    small = names_rung(target)
    with words_apart(form is not None):
        if small:
            program = program_of(target, None, None, gpu)
            assert isinstance(program, RungProgram)
            found = _of_rung(program)
        else:
            with waiting(f"Counting {target}"):
                one = open_launch(target, grid, block, arg, shared, settings, outputs, flags)
                launch = one.kernel, one.grid, one.block, one.args, one.shared
                found = [lab_profile.profile(*launch, model=gpu, timeout=limit)]
                one.save()
    _show(found, most, form, small)


def _of_rung(program: RungProgram) -> list[Profile]:
    """The profiles of a rung's launches, one of each kernel and shape."""
    from .. import lab
    from ..lab import profile as lab_profile

    found: list[Profile] = []
    with lab.watching(lab_profile.recorder(found, lambda launch: lab_profile.count(launch, program.model))):
        program.run()
    return list({(one.kernel, one.grid, one.block): one for one in reversed(found)}.values())[::-1]


def _show(found: Sequence[Profile], most: int, form: str | None, small: bool = False) -> None:
    """Print the advice on each; of launches at a `small` size, without what their grid's size has to say."""
    from ..report.console import stdout_console
    from ..report.explain.advice import advice_record, advise
    from ..report.explain.view import advice_table, print_advice

    told = [(one, advise(one, most, small=small)) for one in found]
    if form == "json":
        records = [advice_record(one, advice) for one, advice in told]
        typer.echo(json.dumps({"launches": records}, indent=1))
        return
    if form is not None:
        print_tables([advice_table(*pair) for pair in told], form)
        return
    console = stdout_console()
    for place, (one, advice) in enumerate(told):
        if place:
            console.print()
        print_advice(one, advice, console)
