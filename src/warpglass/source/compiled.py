"""What every front end hands on: PTX text, the entry asked for, and how arguments become parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import Diagnostic


@dataclass(frozen=True, slots=True)
class CType:
    """The C++ type of a parameter or variable, as far as it is known (cpp_types.py makes them).

    `text` is how the compiler spells it ("const float *"). What a pointer points to, or the value itself, is
    `count` scalars of `size` bytes and of kind "f", "i", "u", "b" (bool), "bfloat" or "pointer"; more than
    one for vector types and complex numbers. Kind "" is opaque: a structure of `size` bytes (0: unknown), or
    void.
    """

    text: str
    pointer: bool
    kind: str
    size: int
    count: int = 1

    def declare(self, name: str) -> str:
        """The declaration of a parameter of this type."""
        if "(*" in self.text:
            return self.text.replace("(*", f"(*{name}", 1)
        return f"{self.text}{'' if self.text.endswith('*') else ' '}{name}"

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The type of one scalar; None where NumPy has none."""
        if self.kind == "b":
            return np.dtype(np.bool_)
        return np.dtype(f"{self.kind}{self.size}") if self.kind in ("f", "i", "u") else None


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a kernel as its author wrote it, and the PTX parameters that it fills.

    `fields` names what each consecutive PTX parameter holds:
      "pointer"         address of the array's first element
      "value"           the scalar itself
      "offset"          0 (element offset of a memref descriptor)
      "shape:K"         extent of dimension K, in elements
      "stride:K"        stride of dimension K, in elements
      "byte_stride:K"   stride of dimension K, in bytes
      "size"            number of elements
      "itemsize"        bytes per element
      "real", "imag"    the parts of a complex scalar that is passed as two parameters
      "null"            0 (a pointer the kernel never follows)
      "any"             a pointer if the argument is an array, else the scalar itself (a C++ type that the
                        front end cannot see through)
    `dtype` is the element or scalar type where the front end knows it (Python kernels), else None.
    `ndim` is None when unknown (a C++ pointer), 0 for a scalar. `declared` is the C++ type where it is known.
    """

    name: str
    fields: tuple[str, ...]
    dtype: np.dtype[Any] | None = None
    ndim: int | None = None
    declared: CType | None = None

    def __str__(self) -> str:
        """The parameter as its author would declare it, as far as that is known."""
        if self.declared is None:
            return self.name
        return self.declared.declare(self.name)


@dataclass(frozen=True, slots=True)
class ModuleVariable:
    """A __constant__ or __device__ variable: its C++ name, its name in the PTX, bytes, elements and extents.

    `element` is None where nothing but the size is known; `shape` is () then, and for a single element.
    """

    name: str
    symbol: str
    size: int
    element: CType | None = None
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.element is None:
            return f"{self.name} ({self.size} bytes)"
        return self.element.declare(self.name) + "".join(f"[{extent}]" for extent in self.shape)


@dataclass(frozen=True, slots=True)
class DeclaredKernel:
    """A kernel as its file declares it: name (templates end in <...>), parameters as text, and its line.

    `file` is a header's name, "" for the file itself.
    """

    name: str
    parameters: str
    line: int
    file: str = ""


@dataclass(frozen=True, slots=True)
class Raisable:
    """An exception that a Python kernel may raise: its class, its arguments, and where it is raised.

    `place` is function, file and line; None where the package does not say.
    """

    kind: type[BaseException]
    arguments: tuple[Any, ...]
    place: tuple[str, str, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ExceptionVariables:
    """The 32-bit module variables in which a kernel leaves the first exception that a thread raises.

    `code` names the one that holds its key in `table`, 0 if there was none; `places` the six that hold
    threadIdx and blockIdx of the thread (x, y, z each), () if the package keeps none.
    """

    code: str
    table: Mapping[int, Raisable]
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Demands:
    """What a kernel's compiler has fixed of every launch.

    `threads` of a block, `shared` bytes of dynamic shared memory, `blocks` for each block of the grid asked
    for, and `scratch`: the bytes that a block needs behind each of the pointers that follow the arguments.
    """

    threads: int
    shared: int = 0
    scratch: tuple[int, ...] = ()
    blocks: int = 1


@dataclass(frozen=True, slots=True)
class Compiled:
    """PTX of one kernel, ready for either back end.

    `entry` is the name in the PTX (mangled), `name` the one the user asked for, `arguments` None when the
    PTX parameters correspond one to one to arguments of unknown name (PTX files).
    """

    ptx: str
    entry: str
    name: str
    language: str  # "cuda", "ptx", "python"
    arguments: tuple[Argument, ...] | None = None
    warnings: tuple[Diagnostic, ...] = ()  # the compiler's; also raised as CompilerWarning when it ran
    exceptions: ExceptionVariables | None = None  # of Python kernels with debug=True
    variables: tuple[ModuleVariable, ...] = ()  # of the whole file, in CUDA C++ and PTX
    instance: int = 0  # tells loadings apart, each of which has variables of its own
    text: str = ""  # of the source, where no file has it
    demands: Demands | None = None  # of kernels whose compiler has fixed part of the launch (Triton)


class CompilerWarning(UserWarning):
    """A compiler's remark about a kernel that it compiled all the same."""


class Source(Protocol):
    """A kernel before its argument types are known."""

    @property
    def language(self) -> str: ...

    @property
    def name(self) -> str: ...

    def leaves(self, args: Sequence[object]) -> tuple[object, ...]:
        """Return the arguments as Compiled.arguments lists them: Python kernels take tuples apart."""
        ...

    def compile(self, args: Sequence[object]) -> Compiled:
        """Return PTX for these arguments (only Python kernels look at them); cached on disk by content."""
        ...


@dataclass(frozen=True, slots=True)
class FixedSource:
    """A kernel whose PTX does not depend on argument types: CUDA C++ and PTX."""

    compiled: Compiled

    @property
    def language(self) -> str:
        return self.compiled.language

    @property
    def name(self) -> str:
        return self.compiled.name

    def leaves(self, args: Sequence[object]) -> tuple[object, ...]:
        """Return the arguments as they are."""
        return tuple(args)

    def compile(self, args: Sequence[object]) -> Compiled:
        """Return the PTX; the arguments do not matter."""
        return self.compiled
