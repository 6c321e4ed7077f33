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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol, TypeVar

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

    grid: int
    block: int
    shared: int = 0


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
