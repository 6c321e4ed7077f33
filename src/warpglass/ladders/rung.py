"""What a rung of a ladder is, and how the rungs of a ladder are found, completed and put in order.

A rung is one version of an algorithm: a Python file and a .cu file of the same name beside it. A Python file
tree.py holds

* a docstring that explains the rung; its first paragraph is the title in lists;
* the Python kernel: the function `tree`, or `specialise(case, block)`, which returns it with what it closes
  over as compile-time constants, where the C++ kernel has template parameters;
* the constant RUNG, which says what its place does not: the rung that it follows, its claims, and where they
  are not the problem's usual ones (problem.py) its launch, arguments, host program and roundings, or the plan
  that says all of these but the roundings (plan.py).

`find_rungs` adds the rest: the name `tree` (`tree_as_written` in a package as_written), the explanation, and
the kernel `tree<{type}>` of tree.cu. A rung with several kernels, or with one from elsewhere, lists them;
what a `RungKernel` leaves out comes from its place in the same way. Nothing else lists the rungs, so adding
one means adding its two files. Does not belong here: anything about one ladder (its folder's problem.py).

The Python kernels use the `cuda` of this module, which is None: importing numba-cuda-mlir takes a second,
which a kernel already in the cache must not cost. The front end supplies the module when it compiles.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from ..engine.launch.backend import Dim3

if TYPE_CHECKING:
    from .plan import Plan
    from .problem import Case, Problem
    from .run import HostRun

Language = Literal["cuda", "python"]
Relation = Literal["==", "<", ">"]
KernelFunction = Callable[..., None]

cuda: Any = None
AS_WRITTEN = "as_written"  # the sub-package of rungs with the defects of the course notes


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that can be checked: a counter of a rung against a number or another rung's counter."""

    counter: str  # Nsight Compute's name
    relation: Relation
    than: float | str  # a number, or the name of the rung whose counter is meant

    def __str__(self) -> str:
        than = f"{self.than:g}" if isinstance(self.than, float) else f"that of {self.than}"
        return f"{self.counter} {self.relation} {than}"


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """What stands between <<< and >>>: blocks, threads per block, bytes of dynamic shared memory."""

    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    shared: int = 0

    @property
    def grid3(self) -> Dim3:
        """Blocks in x, y, z."""
        return _three(self.grid)

    @property
    def block3(self) -> Dim3:
        """Threads per block in x, y, z."""
        return _three(self.block)


def _three(extents: int | tuple[int, ...]) -> Dim3:
    x, y, z = (*(extents if isinstance(extents, tuple) else (extents,)), 1, 1)[:3]
    return x, y, z


@dataclass(frozen=True, slots=True)
class RungKernel:
    """One kernel of a rung: a C++ name expression, and a Python function of the same parameters.

    `cuda` may hold {type} and {block}, as in "tile<{type}, {block}>". A Python kernel that is specialised (a
    closure constant instead of a template parameter) is made by `specialise`; `constants` says for its name
    what it is specialised on, and may hold {block}.

    What a rung's module leaves out is that of the kernel's place, the module of its Python function or else
    the rung's own: the .cu file beside it, the module's name, and its function of that name or `specialise`.
    """

    name: str = ""
    cuda: str = ""
    python: KernelFunction | None = None
    specialise: Callable[[Case, int], KernelFunction] | None = None
    constants: str = "{block}"
    file: Path = Path()

    @property
    def in_python_file(self) -> bool:
        """Whether it is a user's, to be found by its name in a .py file."""
        return self.file.suffix == ".py"

    def function(self, case: Case, block: int) -> KernelFunction:
        """The Python kernel for a case and a block size."""
        if self.specialise is not None:
            return self.specialise(case, block)
        assert self.python is not None, f"{self.name} has no Python kernel"
        return self.python

    def completed(self, module: ModuleType) -> RungKernel:
        """The kernel of a rung of that module, with what its place says."""
        python, specialise = self.python, self.specialise
        own = python or specialise
        if own is not None:
            module = sys.modules[own.__module__]
        place = _file_of(module)
        name = self.name or (python.__name__ if python is not None else place.stem)
        if own is None:
            python = getattr(module, name, None)
            specialise = getattr(module, "specialise", None) if python is None else None
        file = place.with_suffix(".cu") if self.file == Path() else self.file
        cuda = (self.cuda or f"{name}<{{type}}>") if file.is_file() else ""
        if not (cuda or python or specialise):
            raise ValueError(
                f"{place}: a rung has a kernel in {file.name}, in {name} or specialise, or a host"
            )
        return replace(self, name=name, cuda=cuda, python=python, specialise=specialise, file=file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One version of an algorithm; `defect` says what is wrong with one that is as the course notes write it.

    A rung has either `host`, which computes the named results from a case and its arrays with NumPy, or
    `kernels` and a `program` that launches them, with the `shape` of the (first) launch; the usual program is
    one launch of the kernel with `arguments`, names of the case's arrays and scalars. Or it has a `plan`,
    whose kernels are in C++ only: its program then follows the plan, unless it says otherwise. `table` is
    needed where the ladder has several. `depth` says how many roundings an element of the
    input can pass through on its way into a result (problem.py). `only_on` is the one compute capability
    whose instructions a rung uses: elsewhere a bench has it only if it is named, and says what is refused.

    The RUNG of a module lacks what its place and its problem say until `completed` adds it; a ladder's rungs
    are complete (PackagedLadder.rung).
    """

    follows: str | None = None
    table: str = ""
    kernels: tuple[RungKernel, ...] = ()
    shape: Callable[[Case, int], LaunchShape] | None = None
    arguments: tuple[str, ...] = ()
    plan: Callable[[Case, int], Plan] | None = None
    program: Callable[[HostRun], None] | None = None
    host: Callable[[Case, Mapping[str, Any]], Mapping[str, Any]] | None = None
    depth: Callable[[Case, int], int] | None = None
    claims: tuple[Claim, ...] = ()
    only_on: tuple[int, int] | None = None
    defect: str = ""
    name: str = ""
    explanation: str = ""

    @property
    def title(self) -> str:
        """The first sentence or two: the explanation's first paragraph."""
        return " ".join(self.explanation.strip().partition("\n\n")[0].split())

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages that all kernels of this rung are written in."""
        if self.host is not None:
            return ("python",)
        if self.plan is not None:
            return ("cuda",)
        cuda = all(kernel.cuda and not kernel.in_python_file for kernel in self.kernels)
        python = all(kernel.python or kernel.specialise or kernel.in_python_file for kernel in self.kernels)
        return (*(("cuda",) if cuda else ()), *(("python",) if python else ()))

    def kernel_of(self, name: str) -> RungKernel:
        """The kernel of that name."""
        return next(kernel for kernel in self.kernels if kernel.name == name)

    def completed(self, module: ModuleType, problem: Problem) -> Rung:
        """The rung that a module states, with what its place and its problem say."""
        place = _file_of(module)
        if not module.__doc__:
            raise ValueError(f"{place}: a rung explains itself in the docstring of its file")
        table = self.table or (next(iter(problem.tables)) if len(problem.tables) == 1 else "")
        if table not in problem.tables:
            raise ValueError(f"{place}: table {table!r}: the ladder has {', '.join(problem.tables)}")
        named = replace(
            self,
            name=f"{place.stem}_{AS_WRITTEN}" if place.parent.name == AS_WRITTEN else place.stem,
            explanation=module.__doc__,
            table=table,
            depth=self.depth or problem.depth,
        )
        if self.host is not None:
            return named
        if self.plan is not None:
            return replace(
                named, shape=self.shape or first_shape(self.plan), program=self.program or follow_plan
            )
        return replace(
            named,
            kernels=tuple(kernel.completed(module) for kernel in self.kernels or (RungKernel(),)),
            shape=self.shape or problem.shape,
            arguments=self.arguments or problem.signature,
            program=self.program or problem.program,
        )


def follow_plan(run: HostRun) -> None:
    """The usual host program of a rung that has a plan."""
    run.follow_plan()


def first_shape(plan: Callable[[Case, int], Plan]) -> Callable[[Case, int], LaunchShape]:
    """What the first launch of a plan looks like, for a case and a block size."""
    return lambda case, block: plan(case, block).steps[0].shape


def _file_of(module: ModuleType) -> Path:
    return Path(module.__file__ or "")


def find_rungs(package: ModuleType, problem: Problem) -> tuple[Rung, ...]:
    """Return the RUNG of every module directly in `package`, completed, each after the one it follows.

    Raises ValueError that names the file of a rung that lacks something or follows none of the others.
    """
    folders = [str(Path(folder)) for folder in package.__path__]
    names = sorted(found.name for found in pkgutil.iter_modules(folders) if not found.ispkg)
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    rungs = {
        module: module.RUNG.completed(module, problem)
        for module in modules
        if isinstance(getattr(module, "RUNG", None), Rung)
    }
    known = {rung.name for rung in rungs.values()}
    for module, rung in rungs.items():
        if rung.follows is not None and rung.follows not in known:
            raise ValueError(
                f"{module.__file__}: follows {rung.follows}; there is: {', '.join(sorted(known))}"
            )
    return in_order(rungs.values())


def in_order(rungs: Iterable[Rung]) -> tuple[Rung, ...]:
    """Sort rungs so that each stands directly after the one it follows, chains by their first name."""
    after: dict[str | None, list[Rung]] = {}
    for rung in sorted(rungs, key=lambda rung: rung.name):
        after.setdefault(rung.follows, []).append(rung)
    ordered: list[Rung] = []

    def climb(name: str | None) -> None:
        for rung in after.pop(name, []):
            ordered.append(rung)
            climb(rung.name)

    climb(None)
    if after:
        lost = ", ".join(f"{rung.name} (follows {rung.follows})" for rest in after.values() for rung in rest)
        raise ValueError(f"rungs that follow no rung of their ladder: {lost}")
    return tuple(ordered)
