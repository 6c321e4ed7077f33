"""Parameters of compiled kernels are called what the program calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpglass.numba_device.parameter_names import parameter_names


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
