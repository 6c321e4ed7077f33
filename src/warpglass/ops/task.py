"""What an operation makes of its operands' types and shapes: a task, results and the launches that fill them.

Belongs here: operands as an operation sees them (no memory, no device), and the Draft, to which an
operation's `make` adds plans of the ladders' rungs one after the other. Who runs a task is host.py or gpu.py;
both follow its launches, whose arrays are the operands, the results and the scratch memory, by name.

A task depends on nothing but what its operands look like, so it is kept and used for all calls that look
alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from ..ladders.plan import Argument, Part, Plan, Scratch, Step
from ..ladders.tuned import tuned
from .layout import copy_step


@dataclass(frozen=True, slots=True)
class Operand:
    """An array that is given: `strides` in bytes, None where it lies packed in C order.

    It may begin at any element of an allocation: kernels look for places where they can load many at once.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class Result:
    """An array to be made, packed in C order."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Task:
    """Results and the launches that fill them; none where zeros are all that it takes.

    `cleared` are the names of results and scratch arrays that are set to zeros before the first launch.
    """

    results: tuple[Result, ...]
    steps: tuple[Step, ...]
    scratch: tuple[Scratch, ...] = ()
    cleared: frozenset[str] = frozenset()


@dataclass(slots=True)
class Draft:
    """A task in the making, for a GPU of a compute capability and so many multiprocessors.

    None and 0 stand for the engine.
    """

    capability: tuple[int, int] | None = None
    multiprocessors: int = 0
    _results: list[Result] = field(default_factory=list[Result])
    _steps: list[Step] = field(default_factory=list[Step])
    _scratch: list[Scratch] = field(default_factory=list[Scratch])
    _cleared: set[str] = field(default_factory=set[str])
    _packed: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    _followed: dict[Plan, Mapping[str, str]] = field(default_factory=dict[Plan, Mapping[str, str]])

    def result(self, shape: tuple[int, ...], dtype: np.dtype[Any], cleared: bool = False) -> str:
        """Add a result and return its name; an operation's results come in the order of these calls."""
        made = Result(f"result{len(self._results)}", shape, dtype)
        self._results.append(made)
        if cleared:
            self._cleared.add(made.name)
        return made.name

    def scratch(self, dtype: np.dtype[Any], size: int, cleared: bool = False) -> str:
        """Add memory for something in between, of any content unless `cleared`, and return its name."""
        made = Scratch(f"between{len(self._scratch)}", dtype, size)
        self._scratch.append(made)
        if cleared:
            self._cleared.add(made.name)
        return made.name

    def packed(self, operand: Operand, dtype: np.dtype[Any] | None = None) -> str:
        """The name of an array with the operand's elements as `dtype`, packed in C order.

        That is the operand itself where it is so already, else a copy.
        """
        dtype = operand.dtype if dtype is None else dtype
        if operand.strides is None and operand.dtype == dtype:
            return operand.name
        key = operand, dtype
        if key not in self._packed:
            self._packed[key] = self.scratch(dtype, operand.size)
            self.copy(operand, self._packed[key], dtype)
        return self._packed[key]

    def tuned(self, ladder: str, rung: str, dtype: np.dtype[Any]) -> dict[str, Any]:
        """What was measured to be best for a rung here, as arguments of its `plan`."""
        return dict(tuned(ladder, rung, dtype, self.capability))

    def launch(self, step: Step) -> None:
        """Add a launch of an operation's own kernel."""
        self._steps.append(step)

    def copy(
        self,
        operand: Operand,
        target: str,
        dtype: np.dtype[Any],
        start: int = 0,
        strides: tuple[int, ...] | None = None,
        target_start: int = 0,
    ) -> None:
        """Copy an operand's elements, in C order, to another array as another type.

        They begin at element `start` of the operand's array. The target's are packed unless it has `strides`
        in bytes, and begin at its element `target_start`.
        """
        if operand.size:
            source, place = part(operand.name, start), part(target, target_start)
            self._steps.append(copy_step(source, operand, place, dtype, strides))

    def follow(self, plan: Plan, **names: str | Part) -> None:
        """Add a plan's launches; `names` says which arrays here are those that the plan's author named.

        A plan that is followed again has the scratch memory of the first time: launches come one by one.
        """
        if plan not in self._followed:
            own = {one.name: f"{one.name}{len(self._steps)}" for one in plan.scratch}
            self._scratch += [replace(one, name=own[one.name]) for one in plan.scratch]
            self._followed[plan] = own
        known: Mapping[str, str | Part] = {**names, **self._followed[plan]}
        for step in plan.steps:
            arguments = tuple(_renamed(argument, known) for argument in step.arguments)
            self._steps.append(replace(step, arguments=arguments))

    @staticmethod
    def copy_into(source: Operand, target: Operand) -> Task:
        """The task of copying one operand to another of its shape and type, of any strides."""
        if not source.size:
            return Task((), ())
        return Task((), (copy_step(source.name, source, target.name, target.dtype, target.strides),))

    def task(self) -> Task:
        """What has been drafted."""
        return Task(tuple(self._results), tuple(self._steps), tuple(self._scratch), frozenset(self._cleared))


def _renamed(argument: Argument, names: Mapping[str, str | Part]) -> Argument:
    match argument:
        case str(name):
            return names[name]
        case Part(name, start):
            found = names[name]
            return Part(found, start) if isinstance(found, str) else Part(found.array, found.start + start)
    return argument


def renamed(plan: Plan, **names: str) -> Plan:
    """A plan under other names for its arrays; those not named keep theirs."""
    own = {
        argument: argument for step in plan.steps for argument in step.arguments if isinstance(argument, str)
    }
    return replace(
        plan,
        steps=tuple(
            replace(
                step, arguments=tuple(_renamed(argument, {**own, **names}) for argument in step.arguments)
            )
            for step in plan.steps
        ),
    )


def part(name: str, start: int) -> str | Part:
    """The elements of an array from number `start` on."""
    return Part(name, start) if start else name
