"""Parameters of compiled kernels are called what the program calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpglass.numba_device.parameter_names import parameter_names
from warpglass.numba_device.source_arguments import source_arguments
from warpglass.ptx import parse


def shift(x: object, out: object) -> None: ...


class Dispatcher:
    """What numba makes of a function."""

    py_func = shift


jitted = Dispatcher()


@pytest.mark.parametrize("name", ["shift", "jitted"])
def test_functions_of_modules(name: str) -> None:
    assert parameter_names([*__name__.split("."), name], "", "") == ("x", "out")


def test_functions_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    import __main__

    monkeypatch.setattr(__main__, "shift", shift, raising=False)
    assert parameter_names(["shift"], "", "") == ("x", "out")


def test_functions_within_functions_are_found_by_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    file.write_text("def make():\n    @jit\n    def inner(values, result):\n        pass\n    return inner\n")
    ptx = f'.entry inner_1()\n{{\n.loc 7 4 0\n}}\n.file 7 "{file}"\n'
    assert parameter_names(["nowhere", "inner"], ptx, "inner_1") == ("values", "result")
    assert parameter_names(["nowhere", "other"], ptx, "inner_1") == ()
    assert parameter_names(["nowhere", "inner"], ptx.replace("k.py", "gone.py"), "inner_1") == ()


def _arguments(file: Path, name: str, parameters: str) -> list[tuple[str, str]]:
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    text = f'{head}.entry {name}({parameters})\n{{\n.loc 1 2 0\nret;\n}}\n.file 1 "{file}"\n'
    entry = parse(text, "PTX").functions[0]
    return [(one.name, str(one.dtype)) for one in source_arguments(entry, text)]


def test_parameters_of_cuda_kernels_are_called_as_in_their_source(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(
        "template <class T> __global__ void k(const T *in, float4 *out, int n) {}\n"
        'extern "C" __global__ void plain(double *__restrict__ x, unsigned n) {}\n'
    )
    three = ".param .u64 a, .param .u64 b, .param .u32 c"
    named = [("in", "float64"), ("out", "|V16"), ("n", "None")]
    assert _arguments(file, "_Z1kIdEvPKT_P6float4i", three) == named
    assert _arguments(file, "plain", ".param .u64 a, .param .u32 b") == [("x", "float64"), ("n", "None")]
    assert _arguments(file, "plain", three) == [(name, "None") for name in "abc"]  # as its author wrote them
    assert _arguments(file, "_Z5otherPs", ".param .u64 _Z5otherPs_param_0") == [("argument 1", "int16")]
