"""numba-cuda: the package that most programs import today as `numba.cuda` (in maintenance since 2026).

Belongs here: everything that depends on this package. An array arrives as numba's array structure: meminfo
and parent (null), number of elements, bytes per element, data, extents, then strides in bytes; a complex
scalar as two parameters. The copy of numba.cuda inside numba itself is older and is not used. Device
functions and explicit signatures ask the driver for the device, unless that question is answered here.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..errors import CompileError
from .argument_types import ArgumentType
from .compiled import ExceptionVariables, Raisable
from .link import Code, link
from .numba_package import Function, Package, PtxAndExceptions, capability, numba_type

_lock = threading.RLock()


@contextmanager
def _without_driver(target: str) -> Iterator[None]:
    """Let the package believe that the device is a `target`; explicit signatures are noted, not compiled."""
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    device = SimpleNamespace(compute_capability=capability(target)[:2])

    def note(self: Any, signature: Any) -> None:
        types, _ = importlib.import_module("numba.core.sigutils").normalize_signature(signature)
        self.overloads[types] = SimpleNamespace(entry_point=None)  # its finalizer looks for this

    with _lock, ExitStack() as undo:
        for owner, name, value in (
            (dispatcher, "get_current_device", lambda: device),
            (dispatcher.CUDADispatcher, "compile", note),
        ):
            undo.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)
        yield


def _compile_ptx(
    function: Function, types: tuple[ArgumentType, ...], target: str, options: Mapping[str, object]
) -> PtxAndExceptions:
    cuda = importlib.import_module("numba.cuda")
    numba_types = importlib.import_module("numba.types")
    numpy_support = importlib.import_module("numba.cuda.np.numpy_support")
    signature = numba_types.void(*(numba_type(kind, numba_types, numpy_support) for kind in types))
    with _without_driver(target), _watched() as results:
        text, _ = cuda.compile_ptx(
            function, signature, cc=capability(target), **{"lineinfo": True, **options}
        )
    wanted = list(results[-1].library._linking_files)
    if "numba_attempt_nocopy_reshape" in text:
        wanted.append(str(Path(str(cuda.__file__)).with_name("reshape_funcs.cu")))
    exceptions = _exceptions(results[-1]) if options.get("debug") else None
    return link(str(text), map(_code, wanted), target), exceptions


def _exceptions(result: Any) -> ExceptionVariables:
    """How a kernel raises: the names of its variables begin with its own."""
    entry = result.fndesc.llvm_func_name
    found: dict[int, tuple[Any, Any, Any]] = result.call_helper.exceptions
    table = {code: Raisable(kind, args or (), place) for code, (kind, args, place) in found.items()}
    places = tuple(f"{entry}__{what}{axis}__" for what in ("tid", "ctaid") for axis in "xyz")
    return ExceptionVariables(f"{entry}__errcode__", table, places)


@contextmanager
def _watched() -> Iterator[list[Any]]:
    """Note the package's results of compiling, of which its public function returns the text only."""
    compiler: Any = importlib.import_module("numba.cuda.compiler")
    results: list[Any] = []
    original = compiler.compile_cuda

    def compile_cuda(*args: Any, **options: Any) -> Any:
        results.append(original(*args, **options))
        return results[-1]

    with _lock:
        compiler.compile_cuda = compile_cuda
        try:
            yield results
        finally:
            compiler.compile_cuda = original


def _code(path_or_object: Any) -> Code:
    """What the package would link: a file, or an object that holds its content."""
    driver: Any = importlib.import_module("numba.cuda.cudadrv.linkable_code")
    one = driver.LinkableCode.from_path_or_obj(path_or_object)
    if one.kind not in ("cu", "ptx"):
        raise CompileError(f"{one.name}: only CUDA C++ and PTX can be linked, not {one.kind}")
    text = one.data if isinstance(one.data, str) else one.data.decode()
    return Code(one.name, text, "cuda" if one.kind == "cu" else "ptx")


def _expand(kind: ArgumentType) -> tuple[str, ...]:
    if kind.is_record:
        return ("pointer",)
    if not kind.is_array:
        return ("real", "imag") if kind.dtype.kind == "c" else ("value",)
    shape = (f"shape:{k}" for k in range(kind.ndim))
    strides = (f"byte_stride:{k}" for k in range(kind.ndim))
    return ("null", "null", "size", "itemsize", "pointer", *shape, *strides)


PACKAGE = Package(
    name="numba-cuda",
    distributions=("numba-cuda", "numba", "llvmlite", "nvidia-nvvm"),
    modules={"cuda": "numba.cuda", "types": "numba.types", "": "numba"},
    options=("debug", "fastmath", "opt", "launch_bounds"),
    compile_ptx=_compile_ptx,
    expand=_expand,
    without_driver=_without_driver,
)
