"""What a rung of a ladder is, and how the rungs of a ladder are found and put in order.

A rung is one version of an algorithm: a Python module (explanation, launch arithmetic, claims and the
Python kernel) and a .cu file of the same name beside it. A ladder is a package of such modules; each module
has a constant RUNG, which names the rung it follows. Nothing else lists the rungs, so adding one means
adding its two files. Does not belong here: anything about one ladder (its folder's problem.py knows that).

The Python kernels are plain functions that use the global `cuda` without importing it: importing
numba-cuda-mlir takes a second, which a kernel already in the cache must not cost. The front end supplies
the module when it compiles.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from ..engine.launch.backend import Dim3

if TYPE_CHECKING:
    from .problem import Case
    from .run import Run

Language = Literal["cuda", "python"]
Relation = Literal["==", "<", ">"]
KernelFunction = Callable[..., None]


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
class Shape:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel of a rung: a C++ name expression, and a Python function of the same parameters.

    `file` is the .cu file. `cuda` may hold {type} and {block}, as in "tile<{type}, {block}>". A Python kernel
    that is specialised (a closure constant instead of a template parameter) is made by `specialise`;
    `constants` says for its name what it is specialised on, and may hold {block}.
    """

    name: str
    file: Path
    cuda: str = ""
    python: KernelFunction | None = None
    specialise: Callable[[Case, int], KernelFunction] | None = None
    constants: str = "{block}"

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One version of an algorithm; `defect` says what is wrong with one that is as the course notes write it.

    A rung has either `host`, which computes the named results from a case and its arrays with NumPy, or
    `kernels` and `program`, which launches them, with the `shape` of the (first) launch. `depth` says how
    many roundings an element of the input can pass through on its way into a result (problem.py).
    """

    name: str
    explanation: str
    follows: str | None
    table: str
    kernels: tuple[Kernel, ...] = ()
    program: Callable[[Run], None] | None = None
    shape: Callable[[Case, int], Shape] | None = None
    host: Callable[[Case, Mapping[str, Any]], Mapping[str, Any]] | None = None
    depth: Callable[[Case, int], int] | None = None
    claims: tuple[Claim, ...] = ()
    defect: str = ""

    @property
    def title(self) -> str:
        """The first sentence or two: the explanation's first paragraph."""
        return " ".join(self.explanation.strip().partition("\n\n")[0].split())

    @property
    def languages(self) -> tuple[Language, ...]:
        """The languages that all kernels of this rung are written in."""
        if self.host is not None:
            return ("python",)
        cuda = all(kernel.cuda and not kernel.in_python_file for kernel in self.kernels)
        python = all(kernel.python or kernel.specialise or kernel.in_python_file for kernel in self.kernels)
        return (*(("cuda",) if cuda else ()), *(("python",) if python else ()))

    def kernel_of(self, name: str) -> Kernel:
        """The kernel of that name."""
        return next(kernel for kernel in self.kernels if kernel.name == name)


class Ordered(Protocol):
    """What the ordering of a ladder needs to know of a rung."""

    @property
    def name(self) -> str: ...

    @property
    def follows(self) -> str | None: ...


R = TypeVar("R", bound=Ordered)


def find_rungs(package: ModuleType, kind: type[R]) -> tuple[R, ...]:
    """Return the RUNG of every module directly in `package`, each after the one it follows."""
    folders = [str(Path(folder)) for folder in package.__path__]
    names = sorted(found.name for found in pkgutil.iter_modules(folders) if not found.ispkg)
    modules = (importlib.import_module(f"{package.__name__}.{name}") for name in names)
    rungs: list[Any] = [getattr(module, "RUNG", None) for module in modules]
    return in_order(rung for rung in rungs if isinstance(rung, kind))


def in_order(rungs: Iterable[R]) -> tuple[R, ...]:
    """Sort rungs so that each stands directly after the one it follows, chains by their first name."""
    after: dict[str | None, list[R]] = {}
    for rung in sorted(rungs, key=lambda rung: rung.name):
        after.setdefault(rung.follows, []).append(rung)
    ordered: list[R] = []

    def climb(name: str | None) -> None:
        for rung in after.pop(name, []):
            ordered.append(rung)
            climb(rung.name)

    climb(None)
    if after:
        lost = ", ".join(f"{rung.name} (follows {rung.follows})" for rest in after.values() for rung in rest)
        raise ValueError(f"rungs that follow no rung of their ladder: {lost}")
    return tuple(ordered)
