"""The way of every call: which library the operands are of, where it runs, and what comes back.

Belongs here: checks that all operations share, the choice between engine and GPU, and the tasks kept from
earlier calls that looked alike. What is done is the operation's `make` (task.py); how a library's arrays are
read and made is arrays/.

A call on GPU arrays that looks like an earlier one takes the short way through `call`: nothing is checked
that was checked then, and nothing is made but the result.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.gpu.detection import chosen_ordinal, problem
from ..engine.gpu.resets import on_reset
from ..errors import ArgumentError
from .arrays import library_of
from .arrays.library import Library
from .arrays.other_arrays import OTHERS
from .dask_arrays import carry_out, is_dask
from .gpu import Ready, gpu
from .host import Array, check_type, host_array, like_operand, packed, run_on_engine
from .task import Draft, Operand, Task

_MOST_READY = 1024  # tasks that are kept


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A function of arrays.

    `make(draft, *operands, *parameters)` adds results and launches to a Draft; it raises ArgumentError for
    operands that do not go together. `operands` are the names of the arrays, for messages.
    """

    name: str
    operands: tuple[str, ...]
    make: Callable[..., None]


_ready: dict[Hashable, Ready] = {}
_tasks: dict[Hashable, Task] = {}


@on_reset
def _forget(ordinal: int) -> None:
    """Tasks whose kernels a reset has taken are made again."""
    for key in [key for key, ready in _ready.items() if ready.ordinal == ordinal]:
        del _ready[key]


def call(
    operation: Operation,
    operands: tuple[Any, ...],
    parameters: tuple[Hashable, ...] = (),
    out: Any = None,
    device: str | None = None,
) -> Any:
    """Carry out an operation and return its result, or a tuple of them, of the operands' own library."""
    library = library_of(operands[0])
    if library is None or device is not None:
        return _call_beyond(operation, operands, parameters, out, device)
    try:
        key: Hashable = (operation, parameters, *[library.looks(array) for array in operands])
        ready = _ready.get(key)
    except (
        AttributeError,
        RuntimeError,
    ):  # another library's array among them, or one without a plain layout
        key = ready = None
    if ready is None:
        ready = _make_ready(operation, library, operands, parameters, key)
    ordinal, stream = ready.ordinal, library.stream(ready.ordinal, operands[0])
    if out is not None:
        return _into(operation, library, ready, operands, out, stream)
    made = [library.new(one.shape, one.dtype, ordinal) for one in ready.results]
    address = library.address
    ready([address(array) for array in (*operands, *made)], stream, library)
    return made[0] if len(made) == 1 else tuple(made)


def _make_ready(
    operation: Operation,
    library: Library,
    operands: tuple[Any, ...],
    parameters: tuple[Hashable, ...],
    key: Hashable,
) -> Ready:
    """Check operands on a GPU, and load the kernels of the task that they make."""
    first, ordinal = operation.operands[0], library.device(operands[0])
    for name, array in zip(operation.operands, operands, strict=True):
        own = library_of(array)
        if own is None:
            raise ArgumentError(
                f"{operation.name}: {first} lies on GPU {ordinal} ({library.name}), {name} in host memory: "
                f"{_what(array)}; copy one of them to the other's place first"
            )
        if own is not library:
            raise ArgumentError(
                f"{operation.name}: {first} is an array of {library.name}, {name} one of {own.name}; pass "
                "arrays of one library (cupy.asarray and torch.as_tensor take the other's without copying)"
            )
        if (other := own.device(array)) != ordinal:
            raise ArgumentError(f"{operation.name}: {first} lies on GPU {ordinal}, {name} on GPU {other}")
    with _naming(operation):
        described = [library.operand(*one) for one in zip(operation.operands, operands, strict=True)]
        for one in described:
            check_type(one.name, one.dtype)
        place = gpu(ordinal)
        task = _task(operation, described, parameters, Draft(place.capability, place.multiprocessors))
    ready = Ready(place, task, described)
    if key is not None:
        _keep(_ready, key, ready)
    return ready


def _task(
    operation: Operation, operands: Sequence[Operand], parameters: tuple[Hashable, ...], draft: Draft
) -> Task:
    operation.make(draft, *operands, *parameters)
    return draft.task()


def _keep(kept: dict[Hashable, Any], key: Hashable, value: Any) -> None:
    """Remember, and forget the oldest of too many."""
    kept[key] = value
    while len(kept) > _MOST_READY:
        kept.pop(next(iter(kept)), None)


class _naming:
    """Puts the operation's name in front of an ArgumentError."""

    def __init__(self, operation: Operation):
        self._name = operation.name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ArgumentError):
            raise ArgumentError(f"{self._name}: {error}") from None


# ---------------------------------------------------------------------------------------- out=
def _into(
    operation: Operation, library: Library, ready: Ready, operands: tuple[Any, ...], out: Any, stream: int
) -> Any:
    """Carry out a task whose result goes to an array of the caller's."""
    if library_of(out) is not library:
        raise ArgumentError(
            f"{operation.name}: the operands are arrays of {library.name} on GPU {ready.ordinal}; out must "
            f"be one too, and is {_what(out)}"
        )
    with _naming(operation):
        place = library.operand("out", out)
    _check_out(operation, ready.results[0].shape, ready.results[0].dtype, place, library.readonly(out))
    if library.device(out) != ready.ordinal:
        raise ArgumentError(f"{operation.name}: out lies on GPU {library.device(out)}, not {ready.ordinal}")
    first, *others = ready.results
    made = [library.new(one.shape, one.dtype, ready.ordinal) for one in others]
    address = library.address
    direct = place.strides is None and not _overlaps(library, operands, out)
    target = out if direct else library.new(first.shape, first.dtype, ready.ordinal)
    ready([address(array) for array in (*operands, target, *made)], stream, library)
    if not direct:
        copied = Operand("source", first.shape, first.dtype)
        copy = Ready(gpu(ready.ordinal), Draft.copy_into(copied, place), (copied, place))
        copy([address(target), address(out)], stream, library)
    return (out, *made) if made else out


def _overlaps(library: Library, operands: Sequence[Any], out: Any) -> bool:
    low, high = _reach(library, "out", out)
    return any(low < b and a < high for a, b in (_reach(library, "", one) for one in operands))


def _reach(library: Library, name: str, array: Any) -> tuple[int, int]:
    """The first byte of an array's elements and the one after the last."""
    seen, address = library.operand(name, array), library.address(array)
    if seen.size == 0:
        return address, address
    if seen.strides is None:
        return address, address + seen.size * seen.dtype.itemsize
    steps = [(extent - 1) * stride for extent, stride in zip(seen.shape, seen.strides, strict=True)]
    below, above = (sum(step for step in steps if (step < 0) is low) for low in (True, False))
    return address + below, address + above + seen.dtype.itemsize


def _check_out(
    operation: Operation, shape: tuple[int, ...], dtype: np.dtype[Any], out: Operand, readonly: bool
) -> None:
    if out.shape != shape or out.dtype != dtype:
        raise ArgumentError(
            f"{operation.name}: out has shape {out.shape} and type {out.dtype}; the result has {shape} and "
            f"{dtype}"
        )
    if readonly:
        raise ArgumentError(f"{operation.name}: out is read-only")


def _what(array: object) -> str:
    shape, dtype = getattr(array, "shape", None), getattr(array, "dtype", None)
    kind = f"{type(array).__module__}.{type(array).__qualname__}".removeprefix("builtins.")
    return kind if shape is None else f"{kind} of shape {tuple(shape)} and type {dtype}"


# ---------------------------------------------------------------------------------------- host arrays
def _call_beyond(
    operation: Operation,
    operands: tuple[Any, ...],
    parameters: tuple[Hashable, ...],
    out: Any,
    device: str | None,
) -> Any:
    """Carry out an operation on arrays in host memory or of Dask, or on the device that the caller names."""
    if any(is_dask(array) for array in operands):
        if out is not None or device is not None:
            raise ArgumentError(
                f"{operation.name}: Dask arrays go without out and device; their chunks decide"
            )
        ops = importlib.import_module(__name__.rpartition(".")[0])
        with _naming(operation):
            return carry_out(operation.name, operation.operands, operands, parameters, ops)
    if device not in (None, "auto", "cpu", "gpu"):
        raise ArgumentError(f"{operation.name}: device {device!r}; it may be 'cpu' or 'gpu'")
    on_gpu = [
        name
        for name, array in zip((*operation.operands, "out"), (*operands, out), strict=True)
        if library_of(array) is not None
    ]
    if len(on_gpu) >= len(operands) and device != "cpu":
        return call(operation, operands, parameters, out)
    if on_gpu:
        raise ArgumentError(
            f"{operation.name}: {on_gpu[0]} lies on a GPU, and "
            + ("the engine takes arrays in host memory" if device == "cpu" else "other arrays in host memory")
            + "; copy one to the other's place first"
        )
    with _naming(operation):
        arrays = [host_array(*one) for one in zip(operation.operands, operands, strict=True)]
        described = tuple(
            Operand(name, array.shape, array.dtype)
            for name, array in zip(operation.operands, arrays, strict=True)
        )
        key = operation, parameters, described
        task = _tasks.get(key)
        if task is None:
            task = _task(operation, described, parameters, Draft())
            _keep(_tasks, key, task)
    if device == "gpu" and (missing := problem()) is not None:
        raise ArgumentError(f"{operation.name}: device 'gpu': {missing}")
    run = _run_on_gpu if device == "gpu" else run_on_engine
    if out is not None:
        with _naming(operation):
            if not hasattr(out, "__array__"):
                raise ArgumentError(f"out is a {type(out).__name__}; it must be an array")
            target = host_array("out", out)
        place = Operand("out", target.shape, target.dtype)
        first = task.results[0]
        _check_out(operation, first.shape, first.dtype, place, not target.flags.writeable)
        target[...], *others = run(task, described, arrays)
        return (out, *others) if others else out
    results = run(task, described, arrays)
    found = [like_operand(result, operands[0]) for result in results]
    return found[0] if len(found) == 1 else tuple(found)


def _run_on_gpu(task: Task, operands: Sequence[Operand], arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Copy NumPy arrays to the GPU, and the results back."""
    device = gpu(chosen_ordinal())
    ready = Ready(device, task, operands)
    there = [device.new(one.shape, one.dtype) for one in (*operands, *task.results)]
    for array, copied in zip(arrays, there, strict=False):
        device.copy_in(packed(array), copied.address)
    ready([one.address for one in there], 0, OTHERS)
    results = tuple(np.empty(one.shape, one.dtype) for one in task.results)
    for result, made in zip(results, there[len(operands) :], strict=True):
        device.copy_out(made.address, result)
    return results
