"""Lists: a ladder's rungs (`warpglass list`), the devices (`warpglass devices`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from .figures import LANGUAGES
from .fitting_table import FittingTable
from .tables import Column, DataTable, number, words

if TYPE_CHECKING:
    from ..devices import Device
    from ..ladders.rung import Rung
    from ..source.compiled import DeclaredKernel


def ladder_table(name: str, title: str, rungs: Sequence[Rung]) -> DataTable:
    """A ladder's rungs, in their order."""
    rows = tuple(
        (words(rung.name), words(", ".join(LANGUAGES[one] for one in rung.languages)), words(rung.title))
        for rung in rungs
    )
    return DataTable(f"{name}: {title}", (Column("rung"), Column("languages"), Column("what it is")), rows)


def print_ladder(name: str, title: str, rungs: Sequence[Rung], console: Console) -> None:
    """Print a ladder's name and one line per rung."""
    console.print(Text(f"{name}: {title}", style="bold"))
    table = FittingTable(box=None, show_header=False, padding=(0, 2, 0, 2), pad_edge=False)
    for rung in rungs:
        table.add_row(
            Text(rung.name), ", ".join(LANGUAGES[language] for language in rung.languages), Text(rung.title)
        )
    console.print(table)


def kernels_table(file: str, kernels: Sequence[DeclaredKernel]) -> DataTable:
    """A file's kernels: parameters, and where each stands."""
    columns = (Column("kernel"), Column("parameters"), Column("file"), Column("line", True))
    rows = tuple(
        (words(one.name), words(one.parameters), words(one.file), number(one.line, str(one.line)))
        for one in kernels
    )
    return DataTable(f"Kernels in {file}", columns, rows)


def print_kernels(file: str, kernels: Sequence[DeclaredKernel], console: Console) -> None:
    """Print a file's kernels: where each stands, and its parameters."""
    if not kernels:
        console.print(Text(f"{file} has no kernels."))
        return
    console.print(Text(f"Kernels in {file}", style="bold"))
    for kernel in kernels:
        place = f"{kernel.file}:{kernel.line}" if kernel.file else f"line {kernel.line}"
        console.print(Text(f"  {kernel.name}({kernel.parameters})").append(f"  {place}", style="dim"))


def devices_tables(places: Sequence[tuple[str, str]], models: Sequence[Device]) -> list[DataTable]:
    """The back ends of this machine (option name, description), and the GPUs known by name."""
    here = DataTable(
        "Where kernels can run here",
        (Column("device"), Column("description")),
        tuple((words(option), words(description)) for option, description in places),
    )
    return [here, models_table(models)]


def models_table(models: Sequence[Device]) -> DataTable:
    """The GPUs known by name, with what tells them apart."""
    columns = ("name", "GPU", "compute capability"), ("SMs", "boost MHz", "memory GB/s", "L2 KiB")
    rows = tuple(
        (
            words(one.key),
            words(one.name),
            words(".".join(map(str, one.capability))),
            *(
                number(value, f"{value:g}" if value is not None else "-")
                for value in (one.multiprocessors, one.clock_mhz, one.bandwidth_gb_s, one.l2_kib)
            ),
        )
        for one in models
    )
    headings = (*map(Column, columns[0]), *(Column(name, True) for name in columns[1]))
    return DataTable("GPUs known by name", headings, rows)


def print_devices(places: Sequence[tuple[str, str]], models: Sequence[Device], console: Console) -> None:
    """Print the back ends of this machine (option name, description), then the GPUs known by name."""
    for option, description in places:
        console.print(Text(f"{option}  {description}"))
    console.print()
    console.print(Text("GPUs known by name", style="bold"))
    table = FittingTable(box=None, padding=(0, 2, 0, 2), pad_edge=False)
    for heading in ("name", "GPU", "compute capability", "SMs", "GB/s"):
        table.add_column(heading)
    for model in models:
        capability = ".".join(map(str, model.capability))
        table.add_row(
            model.key, model.name, capability, str(model.multiprocessors), f"{model.bandwidth_gb_s:g}"
        )
    console.print(table)
