"""Imports point one way. The rules are the tables below; docs/architecture/README.md says why.

A module may import what lies under its row of MAY_IMPORT, what that lists, and what EVERYONE may import. The
longest matching row counts. Imports under `if TYPE_CHECKING:` are knowledge too, but make no cycle.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# From left to right.
STAGES = ("source", "ptx", "isa", "program", "sass", "codegen", "engine", "observe", "report")

# Plain records and leaf tables.
EVERYONE = (
    "errors",
    "host",
    "records",
    "devices",
    "source.compiled",
    "ptx.tree",
    "engine.launch.backend",
)
# What a ladder tells the report.
RECORDS = ("ladders.rung", "ladders.passes", "ladders.view")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    **{stage: STAGES[:position] for position, stage in enumerate(STAGES)},
    "errors": (),
    "host": (),
    "records": (),
    "selftest": (),
    "selftest.ship": ("selftest", "source"),  # compiles the planted bugs' PTX that the package ships
    "devices": (),
    "source.compiled": (),
    "ptx.tree": (),
    "engine": (*STAGES[: STAGES.index("engine")], "models"),
    "engine.launch": ("source", "ptx"),
    "engine.gpu": ("source", "ptx", "engine.launch"),
    "models": (),
    "ladders": ("report.figures",),
    "ladders.measure": ("ladders", "report"),
    "ladders.ship": ("ladders", "source"),  # compiles the rungs' PTX that the package ships
    "ranks": ("ops",),
    "ops": ("lab", "ladders", "source", "engine"),
    "observe": (*STAGES[: STAGES.index("observe")], "models"),
    "report": (*RECORDS, "models"),  # records only, none of the stages before it
    "lab": ("*",),
    "judging": ("", "lab", "source", "observe", "report", "engine", "sweeps"),
    "sweeps": ("", "ladders", "lab", "observe", "report", "engine"),
    "numba_device": ("*",),
    "libraries": ("numba_device",),
    "cuda_runtime": ("*",),
    "programs": ("*",),
    "programs.targets": (),  # looked at for every command line
    "programs.records": (),
    "pytest_plugin": (
        *("", "lab", "report"),
        *("numba_device.hook", "numba_device.source_lines", "numba_device.device"),
    ),
    "cli": (
        *("", "source", "engine", "observe", "models", "ladders", "lab", "report", "ranks", "sweeps"),
        *("judging", "numba_device.hook", "numba_device.source_lines", "programs"),
    ),
    "cli.compiler_flags": (),
    # Launches are the business of the commands.
    "cli.script": ("cli.status", "cli.compiler_flags", "programs.targets"),
    "__main__": ("cli",),
    "": ("judging", "lab", "ladders.measure", "ops", "report", "sweeps"),
}

# Heavy or optional packages may be imported inside functions; our own modules only by the front doors.
DEFERRABLE = frozenset(
    "IPython PIL cuda cupy distributed jinja2 llvmlite matplotlib numba numba_cuda numba_cuda_mlir numpy "
    "optuna pyarrow rich scipy torch typer".split()
)
# A process that is shut in imports nothing before it is.
DEFERS_OWN = (
    *("", "__main__", "cli", "judging.compile_child", "lab", "ladders.measure", "programs.bridge.inside"),
    "pytest_plugin",
)

HEAVY = ("PIL", "cuda", "jinja2", "llvmlite", "matplotlib", "numba", "numpy", "rich", "typer")

ROOT = Path(__file__).parent.parent / "src" / "warpglass"


@dataclass(frozen=True)
class Import:
    """One import of our own module (`target`, "" is the package itself) or of another package."""

    target: str
    own: bool
    line: int
    in_function: bool
    for_types: bool


@cache
def module_files() -> dict[str, Path]:
    """Module names without the leading `warpglass.`; the package itself is ""."""
    found: dict[str, Path] = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports_of(module: str) -> tuple[Import, ...]:
    path = module_files()[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(_walk(ast.parse(path.read_text("utf-8")), package, in_function=False, for_types=False))


def _walk(node: ast.AST, package: str, in_function: bool, for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            for target, own in _targets(child, package):
                yield Import(target, own, child.lineno, in_function, for_types)
        inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        typing = for_types or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
        yield from _walk(child, package, inside, typing)


def _targets(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, bool]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            top, _, rest = alias.name.partition(".")
            yield (rest, True) if top == "warpglass" else (top, False)
        return
    if node.level:
        parts = package.split(".") if package else []
        base = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
    else:
        top, _, rest = (node.module or "").partition(".")
        if top != "warpglass":
            yield top, False
            return
        base = rest
    for alias in node.names:  # `from . import jit` names a module, `from .jit import compile` does not
        inner = f"{base}.{alias.name}" if base else alias.name
        yield (inner if inner in module_files() else base), True


def _is_in(module: str, package: str) -> bool:
    return module == package or (package != "" and module.startswith(package + "."))


def _defers_own(module: str) -> bool:
    return any(_is_in(module, package) for package in DEFERS_OWN)


def _row(module: str) -> str | None:
    rows = [row for row in MAY_IMPORT if _is_in(module, row)]
    return max(rows, key=len) if rows else None


def _may_import(module: str, row: str, target: str) -> bool:
    allowed = (*MAY_IMPORT[row], *EVERYONE, row)
    return "*" in allowed or any(_is_in(target, package) for package in allowed)


def test_imports_point_left() -> None:
    rows = {module: _row(module) for module in module_files()}
    bare = [module for module, row in rows.items() if row is None]
    assert not bare, f"{bare} have no row in MAY_IMPORT: say what they may import"
    wrong = [
        f"{module_files()[module]}:{found.line}: {module} may not import {found.target or 'warpglass'}"
        for module, row in rows.items()
        for found in imports_of(module)
        if row is not None and found.own and not _may_import(module, row, found.target)
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_inside_functions_are_of_heavy_packages() -> None:
    wrong = [
        f"{module_files()[module]}:{found.line}: import {found.target} at the top of the file"
        for module in module_files()
        for found in imports_of(module)
        if found.in_function and not (_defers_own(module) if found.own else found.target in DEFERRABLE)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_import_cycles() -> None:
    graph = {
        module: {found.target for found in imports_of(module) if found.own and not found.for_types} - {module}
        for module in module_files()
    }
    # A module of which all imports are gone lies on no cycle: what remains when no more can be removed does.
    while leaves := {module for module, targets in graph.items() if not targets & graph.keys()}:
        graph = {module: targets for module, targets in graph.items() if module not in leaves}
    assert not graph, f"import cycle among {sorted(_on_cycle(graph))}"


def _on_cycle(graph: dict[str, set[str]]) -> set[str]:
    while roots := graph.keys() - {target for targets in graph.values() for target in targets}:
        graph = {module: targets for module, targets in graph.items() if module not in roots}
    return set(graph)


def test_import_warpglass_loads_nothing_heavy() -> None:
    program = f"import sys, warpglass; print(*(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT.parent)},
    )
    assert run.stdout.split() == []
