"""Python kernels with both packages: types, closures, signatures, messages, what arguments expand into."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warpglass.errors import ArgumentError, CompileError
from warpglass.source import Compiled, from_numba, load, numba_cuda, numba_mlir
from warpglass.source.numba_package import Package
from warpglass.source.ptx import entry_parameters


def compiled(kernel: Callable[..., Any], *args: object) -> Compiled:
    result = from_numba(kernel).compile(args)
    assert result.arguments is not None
    fields = sum(len(argument.fields) for argument in result.arguments)
    assert fields == len(entry_parameters(result.ptx, result.entry))
    return result


def line_of(text: str) -> int:
    """The line of this file that carries a mark."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.rstrip().endswith(f"# {text}"))


# ---------------------------------------------------------------------------------------- arguments
def array_fields(package: Package, ndim: int) -> tuple[str, ...]:
    shape = tuple(f"shape:{k}" for k in range(ndim))
    if package is numba_mlir.PACKAGE:
        return ("pointer", "pointer", "offset", *shape, *(f"stride:{k}" for k in range(ndim)))
    strides = (f"byte_stride:{k}" for k in range(ndim))
    return ("null", "null", "size", "itemsize", "pointer", *shape, *strides)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(4),
        np.zeros(8, np.float32)[::2],
        np.zeros((3, 4), np.int16),
        np.zeros((3, 4), np.uint64, order="F"),
        np.zeros((4, 6), np.int64)[::2, ::3],
        np.zeros((2, 3, 4), np.complex64),
        np.zeros(3, np.bool_),
        np.zeros((), np.float64),
    ],
    ids=["1d", "strided", "2d", "fortran", "2d-strided", "3d", "bool", "0d"],
)
def test_arrays(package: Package, cuda: Any, array: np.ndarray[Any, Any]) -> None:
    def kernel(x, n):
        cuda.grid(1)

    result = compiled(kernel, array, 4)
    assert result.arguments is not None
    x, n = result.arguments
    assert (x.name, x.dtype, x.ndim) == ("x", array.dtype, array.ndim)
    assert x.fields == array_fields(package, array.ndim)
    assert (n.name, n.fields, n.dtype, n.ndim) == ("n", ("value",), np.dtype(np.int64), 0)
    assert result.language == "python"


def test_order_of_shape_and_strides(package: Package, cuda: Any) -> None:
    def kernel(x, out):
        out[cuda.grid(1)] = x.shape[1]

    result = compiled(kernel, np.zeros((3, 4), order="F"), np.zeros(1, np.int64))
    position = array_fields(package, 2).index("shape:1")
    loaded = result.ptx.split(f"_param_{position}];")[0].splitlines()[-1]
    assert "ld.param.u64" in loaded  # the only extent that the kernel reads
    assert f"[{result.entry}_param_{position + 1}]" not in result.ptx


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (3, np.int64),
        (2**63, np.uint64),
        (-1, np.int64),
        (2.5, np.float64),
        (True, np.bool_),
        (1 + 2j, np.complex128),
        (np.int8(1), np.int8),
        (np.uint32(1), np.uint32),
        (np.float32(1), np.float32),
        (np.complex64(1), np.complex64),
        (np.bool_(True), np.bool_),
    ],
)
def test_scalars(package: Package, cuda: Any, value: object, dtype: type) -> None:
    def kernel(x, value):
        x[cuda.grid(1)] = 1

    result = compiled(kernel, np.zeros(3), value)
    assert result.arguments is not None
    argument = result.arguments[1]
    pair = package is numba_cuda.PACKAGE and np.dtype(dtype).kind == "c"
    assert argument.fields == (("real", "imag") if pair else ("value",))
    assert (argument.dtype, argument.ndim) == (np.dtype(dtype), 0)


class OnDevice:
    """An array that claims to lie on a GPU."""

    def __init__(self, **interface: Any):
        self.__cuda_array_interface__ = {"data": (512, False), "version": 3, **interface}


def test_device_arrays(cuda: Any) -> None:
    def kernel(x):
        x[0, 1] = 1

    plain = compiled(kernel, OnDevice(shape=(4, 5), typestr="<f8", strides=None))
    assert plain.arguments is not None
    assert (plain.arguments[0].dtype, plain.arguments[0].ndim) == (np.dtype(np.float64), 2)
    fortran = compiled(kernel, OnDevice(shape=(4, 5), typestr="<f8", strides=(8, 32)))
    assert fortran.entry == compiled(kernel, np.zeros((4, 5), order="F")).entry


def test_records(cuda: Any) -> None:
    def kernel(x):
        x[1].b = x[0].a

    dtype = np.dtype([("a", np.int32), ("b", np.float64)], align=True)
    result = compiled(kernel, np.zeros(3, dtype))
    assert result.arguments is not None
    assert result.arguments[0].dtype == dtype


def test_a_read_only_array_is_no_other_kernel(cuda: Any) -> None:
    def kernel(x):
        x[0] = 1

    frozen = np.zeros(3)
    frozen.flags.writeable = False
    assert compiled(kernel, frozen).entry == compiled(kernel, np.zeros(3)).entry


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "takes 1 arguments (x), got 0"),
        (("text",), "argument 1 (x): a str"),
        (([1, 2],), "argument 1 (x): a list"),
        ((np.zeros(3, object),), "argument 1 (x): no kernel takes elements of type object"),
        ((np.zeros(3, ">f8"),), "byte order"),
        ((2**64,), "64 bits"),
    ],
)
def test_bad_arguments(cuda: Any, args: tuple[object, ...], said: str) -> None:
    def kernel(x):
        x[0] = 1

    with pytest.raises(ArgumentError) as caught:
        from_numba(kernel).compile(args)
    assert said in str(caught.value)
    assert "kernel" in str(caught.value)


# ---------------------------------------------------------------------------------------- functions
def test_dispatchers_and_plain_functions_are_the_same(cuda: Any) -> None:
    def kernel(x):
        x[cuda.grid(1)] = 1

    plain = from_numba(kernel)
    decorated = from_numba(cuda.jit(kernel))
    assert plain.name == decorated.name == "kernel"
    assert plain.compile((np.zeros(3),)) == decorated.compile((np.zeros(3),))


def test_options_of_a_dispatcher_count(package: Package, cuda: Any) -> None:
    def kernel(x, y):
        x[0] = y / x[1]

    args = (np.zeros(3, np.float32), np.float32(1))
    assert ".maxntid" not in compiled(kernel, *args).ptx
    assert ".maxntid" in compiled(cuda.jit(kernel, launch_bounds=128), *args).ptx
    if package is numba_cuda.PACKAGE:  # numba-cuda-mlir 0.6 accepts fastmath and changes nothing
        assert "div.rn" in compiled(kernel, *args).ptx
        assert "div.rn" not in compiled(cuda.jit(kernel, fastmath=True), *args).ptx


def test_closures_are_constants(cuda: Any) -> None:
    def make(value):
        def kernel(x):
            x[0] = value

        return kernel

    for number in (1234567, 7654321):
        assert str(number) in compiled(make(number), np.zeros(3, np.int64)).ptx


def test_closures_of_arrays_and_tuples(cuda: Any) -> None:
    def make(table, pair):
        def kernel(x):
            x[0] = table[cuda.threadIdx.x] + pair[1]

        return kernel

    first = compiled(make(np.arange(3), (1, 2)), np.zeros(3, np.int64)).ptx
    assert compiled(make(np.arange(3), (1, 2)), np.zeros(3, np.int64)).ptx == first
    assert compiled(make(np.arange(3) + 7, (1, 2)), np.zeros(3, np.int64)).ptx != first
    assert compiled(make(np.arange(3), (1, 5)), np.zeros(3, np.int64)).ptx != first


def test_device_functions(cuda: Any) -> None:
    def make(number):
        @cuda.jit(device=True)
        def inner(a):
            return a * number

        @cuda.jit(device=True)
        def outer(a):
            return inner(a) + 1

        @cuda.jit
        def kernel(x):
            x[0] = outer(x[1])

        return kernel

    assert "77001" in compiled(make(77001), np.zeros(3, np.int64)).ptx
    assert "77003" in compiled(make(77003), np.zeros(3, np.int64)).ptx


def plain_helper(a):
    return a * 12321


def test_plain_functions_become_device_functions(cuda: Any) -> None:
    def kernel(x):
        x[cuda.threadIdx.x] = plain_helper(x[1])

    assert "12321" in compiled(kernel, np.zeros(3, np.int64)).ptx


def undefined_cuda(x):
    x[cuda.threadIdx.x] = 1  # type: ignore[name-defined]  # noqa: F821


def test_cuda_may_be_left_undefined() -> None:
    function = types.FunctionType(undefined_cuda.__code__, {"__builtins__": __builtins__}, "undefined_cuda")
    assert "%tid.x" in compiled(function, np.zeros(3)).ptx


def test_what_cannot_be_keyed_compiles_uncached(own_cache: Path, cuda: Any) -> None:
    def make(number):
        def helper(a):
            return a * number

        return helper

    first, second = make(10007), make(10009)  # one piece of code, two functions

    def kernel(x):
        x[cuda.threadIdx.x] = first(x[0]) + second(x[1])

    text = compiled(kernel, np.zeros(3, np.int64)).ptx
    assert "10007" in text
    assert "10009" in text
    assert not list(own_cache.glob("ptx/*/*"))


def test_shared_memory_of_numpy_types(cuda: Any) -> None:
    def kernel(x):
        table = cuda.shared.array(33, np.float32)
        dynamic = cuda.shared.array(0, np.float64)
        i = cuda.threadIdx.x
        table[i] = x[i]
        dynamic[i] = x[i]
        cuda.syncthreads()
        x[i] = table[32 - i] + dynamic[32 - i]

    assert ".shared" in compiled(kernel, np.zeros(3)).ptx


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_90a"])
def test_target(cuda: Any, target: str) -> None:
    def kernel(x):
        x[0] = 1

    assert f".target {target}\n" in from_numba(kernel, target=target).compile((np.zeros(3),)).ptx


def test_line_information(cuda: Any) -> None:
    def kernel(x):
        x[0] = 1
        x[1] = x[2] + 3  # marked line

    text = compiled(kernel, np.zeros(3)).ptx
    assert f'.file\t1 "{__file__}"' in text
    assert f".loc\t1 {line_of('marked line')} " in text


@pytest.mark.parametrize("what", [3, "text", None, int])
def test_what_is_no_function(what: Any) -> None:
    with pytest.raises(CompileError, match="expected a function"):
        from_numba(what)


def test_kernels_that_cannot_be(cuda: Any) -> None:
    with pytest.raises(CompileError, match="device function"):
        from_numba(cuda.jit(lambda x: x, device=True))
    with pytest.raises(CompileError, match=r"\*args"):
        from_numba(lambda *args: None)


# ---------------------------------------------------------------------------------------- messages
def test_a_typing_error(package: Package, cuda: Any) -> None:
    def kernel(x):
        i = cuda.grid(1)
        x[i] = x.unknown  # typing error

    with pytest.raises(CompileError, match=f"kernel: {package.name} cannot compile") as caught:
        compiled(kernel, np.zeros(3))
    (found,) = caught.value.diagnostics
    assert (found.file, found.line) == (__file__, line_of("typing error"))
    assert found.message == "Unknown attribute 'unknown' of type array(float64, 1d, C)"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_undefined_name(cuda: Any) -> None:
    def kernel(x):
        i = cuda.grid(1)
        x[i] = nobody  # type: ignore[name-defined]  # noqa: F821  # undefined name

    with pytest.raises(CompileError, match="'nobody' is not defined") as caught:
        compiled(kernel, np.zeros(3))
    assert caught.value.diagnostics[0].line == line_of("undefined name")


def test_an_unsupported_statement(cuda: Any) -> None:
    def kernel(x):
        with x[1] as y:
            x[0] = y

    with pytest.raises(CompileError, match="not supported"):
        compiled(kernel, np.zeros(3))


def test_a_result(cuda: Any) -> None:
    def kernel(x):
        return x[0]

    with pytest.raises(CompileError, match="cannot compile"):
        compiled(kernel, np.zeros(3))


# ---------------------------------------------------------------------------------------- files
SIGNATURES = """
from {package} import cuda

@cuda.jit("void(float64[:], int32)")
def one(x, n):
    x[0] = n

@cuda.jit(["void(float64[::1], int32)", "void(float32[:], float64)"])
def two(x, n):
    x[0] = n
"""


def test_explicit_signatures(package: Package, tmp_path: Path) -> None:
    file = tmp_path / "signed.py"
    file.write_text(SIGNATURES.format(package=package.modules[""]))

    def types(name: str, *args: object) -> list[str]:
        arguments = load(file, name).compile(args).arguments
        assert arguments is not None
        return [str(argument.dtype) for argument in arguments]

    assert types("one", np.zeros(6)[::2], 4) == ["float64", "int32"]
    assert types("two", np.zeros(3), 4.5) == ["float64", "int32"]
    assert types("two", np.zeros(3, np.float32), 4) == ["float32", "float64"]
    with pytest.raises(
        ArgumentError, match=r"no explicit signature takes \(float64\[1d, A\], int64\); it has"
    ):
        types("two", np.zeros(6)[::2], 4)


OTHER = """
from numba import cuda, float32
import numba

@cuda.jit(device=True)
def helper(a):
    return a + 1

@cuda.jit
def kernel(x):
    table = cuda.shared.array(3, float32)
    other = cuda.shared.array(3, numba.float64)
    table[0] = x[0]
    other[0] = helper(x[1])
    cuda.syncthreads()
    x[1] = table[0]
    x[2] = other[0]
"""


def test_a_file_for_numba_cuda_compiles_with_what_is_installed(tmp_path: Path) -> None:
    file = tmp_path / "other.py"
    file.write_text(OTHER)
    result = load(file).compile((np.zeros(3),))
    assert result.name == "kernel"
    assert f'"{file}"' in result.ptx


def test_files_list_their_kernels(package: Package, tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text(
        "def a(x):\n    x[0] = cuda.threadIdx.x\n\ndef b(x):\n    x[0] = cuda.threadIdx.x\n\n"
        "def c(x):\n    return x\n\nif __name__ == '__main__':\n    raise SystemExit\n"
    )
    assert load(file, "b").name == "b"
    for name in (None, "nobody"):
        with pytest.raises(CompileError, match="kernels in the file: a, b$"):
            load(file, name)


def test_a_file_that_fails_says_where(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("x = 1\n\nx.nothing\n")
    with pytest.raises(CompileError, match=r"broken\.py:3: AttributeError"):
        load(file, "k")
    file.write_text("def f(:\n")
    with pytest.raises(CompileError, match=r"broken\.py:1: SyntaxError"):
        load(file, "k")
    with pytest.raises(CompileError, match="options are for CUDA"):
        load(file, "k", options=("-DX",))
