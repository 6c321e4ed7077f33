"""What the rungs of a ladder have in common: the problem, and one instance of it.

Belongs here: tables (what a bench runs by default), cases (arrays, scalars, true results, cost) and the
checks of what a user asks for. No rung, no launch, no timing: rung.py and run.py have those. A ladder's
problem.py makes one Problem out of its own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from .rung import LaunchShape
from .view import View, no_view

if TYPE_CHECKING:
    from .run import HostRun

Array = np.ndarray[Any, np.dtype[Any]]
Number = float | int

# How CUDA C++ spells the element types.
C_NAMES = {
    "float16": "__half",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
}


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a ladder: the rungs that share arrays, and what a bench runs unless told otherwise.

    A table whose kernels run as a single block takes `capacity` elements for each of its threads: a larger
    size becomes that. One that takes only some of the problem's element types has them in `dtypes`.
    """

    title: str
    size: int
    dtype: str
    block: int  # threads per block
    small: int  # the size of `bench --small` and of the tests
    capacity: int | None = None
    on_gpu: int | None = None  # the size on a GPU, if the usual one leaves it idle
    dtypes: tuple[str, ...] = ()  # empty: all of the problem's

    def fitting(self, size: int | None, block: int) -> int | None:
        """The size that the table takes for a size that is asked for (None: its own)."""
        if self.capacity is None:
            return size
        return min(self.size if size is None else size, self.capacity * block)


@dataclass(frozen=True, slots=True)
class Question:
    """Which instance of the problem is wanted."""

    table: str
    size: int
    dtype: np.dtype[Any]
    data: str
    seed: int
    capability: tuple[int, int] | None = None  # of the GPU that it runs on; None: the engine


@dataclass(frozen=True, slots=True)
class Expected:
    """The true result and how far each element may be off: `relative` times `bound` (0: it must be equal).

    NaN equals NaN. What `relative` holds depends on a rung, the arrays do not: they are made once.
    """

    value: Array
    bound: Array | float = 0.0
    relative: float = 1.0

    @property
    def limits(self) -> Array:
        """How far each element may be off."""
        bound = np.asarray(self.bound, np.float64)
        with np.errstate(invalid="ignore"):  # 0 times infinity: where there is nothing to round
            return np.where(bound == 0, 0.0, self.relative * bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One instance: what the kernels get, what must come out, what it costs at least.

    `arrays` are host arrays as they are before the first launch, outputs and work arrays included; kernels
    may store only to those in `written`, which are restored before every run. `expected(depth)` returns the
    true value of every result by name: an array of `written`, or what the host program states with
    HostRun.keep. `depth` is how many roundings a rung lets an element pass through (Rung.depth), for problems
    whose error bound depends on it. `ideal_bytes` and `ideal_flops` are what no algorithm for the problem can
    avoid.
    """

    question: Question
    arrays: Mapping[str, Array]
    written: tuple[str, ...]
    expected: Callable[[int], Mapping[str, Expected]]
    ideal_bytes: int
    ideal_flops: int
    scalars: Mapping[str, Any] = field(default_factory=dict[str, Any])  # NumPy scalars
    outputs: tuple[str, ...] = ()  # those of `written` that hold nothing before: no transfer to the device

    @property
    def size(self) -> int:
        """What the user calls the size: elements, or rows of a square matrix."""
        return self.question.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.question.dtype

    @property
    def capability(self) -> tuple[int, int] | None:
        """The compute capability by which tuned parameters are kept (tuned.py); None on the engine."""
        return self.question.capability


def _size_of(case: Case) -> int:
    return case.size


def in_parts(case: Case) -> int:
    """Roundings in a library's sum on a GPU, which makes 1024 sums at least, in any order, and adds them up.

    A multiprocessor alone has so many threads; whoever adds up all elements in a row exceeds the bound.
    """
    return min(case.size, -(-case.size // 1024) + 64)


@dataclass(frozen=True, slots=True)
class Peer:
    """A library's own function for the problem, raced beside the rungs.

    `library` is one of peer.py's ("numpy", "scipy", "cupy", "torch"), `name` what the table calls the
    function. `compute(module, case, arrays)` gets the imported library and the case's arrays in its own type,
    and returns the results by name. `table` is the one that it belongs to, all if empty. `depth` bounds its
    roundings as Rung.depth does; every element in a row unless said otherwise. `kinds` are the element types
    that it takes, by NumPy's letters: floats, signed and unsigned integers.
    """

    library: str
    name: str
    compute: Callable[[Any, Case, Mapping[str, Any]], Mapping[str, Any]]
    table: str = ""
    depth: Callable[[Case], int] = _size_of
    kinds: str = "fiu"


def launch_once(run: HostRun) -> None:
    """The usual host program: one launch of the rung's kernel."""
    run.launch(run.kernel, run.shape, *run.rung.arguments)


def thread_each(case: Case, block: int) -> LaunchShape:
    """The usual launch: a thread for every element, and one block even if there are none."""
    return LaunchShape(max(1, -(-case.size // block)), block)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A ladder's problem.

    What a rung leaves open is usual for the problem, and so is the launch of a user's kernel (`bench LADDER
    --add FILE:KERNEL`): `signature` names the arrays and scalars that a kernel gets, in order, `shape` is its
    launch for a case and a block size, `program` the host program, `depth` as in Rung.

    `size_means` completes "size: ..."; `describe` says a case's size in words where it is not a number of
    elements. `shipped` are sizes whose plans launch other kernels than those of the tables' small ones: these
    ship too. `reduces`: rungs leave partial results, which are combined where Options.final says. Problems
    whose `work` grows faster than their size say how, so that a bench can say first how long a larger one
    takes. `view` says what belongs below a bench's tables.
    """

    name: str
    title: str
    tables: Mapping[str, Table]
    dtypes: tuple[str, ...]
    data: tuple[str, ...]  # kinds of input, the usual one first
    make: Callable[[Question], Case]
    signature: tuple[str, ...]
    shape: Callable[[Case, int], LaunchShape] = thread_each
    program: Callable[[HostRun], None] = launch_once
    depth: Callable[[Case, int], int] | None = None
    size_means: str = "elements"
    smallest: int = 0
    largest: int = 2**31 - 1
    blocks: tuple[int, ...] = (32, 64, 128, 256, 512, 1024)
    shipped: tuple[int, ...] = ()
    work: Callable[[int], float] | None = None
    describe: Callable[[Case], str] | None = None
    reduces: bool = False
    peers: tuple[Peer, ...] = ()
    view: View = no_view

    def case(
        self,
        table: str,
        size: int | None,
        dtype: str | None,
        data: str | None,
        seed: int,
        capability: tuple[int, int] | None = None,
    ) -> Case:
        """Make an instance; None means the table's own choice. ArgumentError names what is not taken."""
        usual = self.tables[table]
        question = Question(
            table=table,
            size=self._check_size(usual.size if size is None else size),
            dtype=self._check_dtype(dtype or usual.dtype, self.dtypes_of(table)),
            data=self._check_data(data or self.data[0]),
            seed=seed,
            capability=capability,
        )
        return self.make(question)

    def check_block(self, block: int) -> int:
        """Return a block size that the kernels take."""
        if block not in self.blocks:
            known = ", ".join(map(str, self.blocks))
            raise ArgumentError(f"block size {block}: the {self.name} ladder takes {known}")
        return block

    def _check_size(self, size: int) -> int:
        if not self.smallest <= size <= self.largest:
            limits = f"{self.smallest} to {self.largest} {self.size_means}"
            raise ArgumentError(f"size {size}: the {self.name} ladder takes {limits}")
        return size

    def dtypes_of(self, table: str) -> tuple[str, ...]:
        """The element types that a table takes."""
        return self.tables[table].dtypes or self.dtypes

    def _check_dtype(self, name: str, taken: tuple[str, ...]) -> np.dtype[Any]:
        try:
            dtype = np.dtype(name)
        except TypeError:
            dtype = None
        if dtype is None or dtype.name not in taken:
            raise ArgumentError(f"dtype {name!r}: the {self.name} ladder takes {', '.join(taken)}")
        return dtype

    def _check_data(self, kind: str) -> str:
        if kind not in self.data:
            raise ArgumentError(f"input {kind!r}: the {self.name} ladder has {', '.join(self.data)}")
        return kind
