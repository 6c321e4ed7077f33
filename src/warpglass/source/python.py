"""Python kernels: a function and the arguments of a call in, PTX out, with either numba package.

Belongs here: finding the function (in a file, behind a dispatcher), its argument types, and the way to the
cache or the compiler. Which package compiles: the one that the function's `cuda` comes from, else the one
that is installed. The packages are imported only when something has to be compiled.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError, CompileError, Diagnostic, UnknownKernel
from ..records.spelling import did_you_mean
from . import ptx, store
from .argument_types import (
    ArgumentType,
    choose_signature,
    kinds_of_usual,
    leaves,
    passed_dtype,
    type_of,
)
from .cache import digest
from .compiled import Argument, Compiled, Source
from .numba_package import Package, explain, signature_type, version_of
from .python_key import Described, Unkeyable, describe
from .python_names import PACKAGES, choose_package, code_names, is_dispatcher, package_of, transplant

_VARIADIC = 0x04 | 0x08  # CO_VARARGS, CO_VARKEYWORDS
_AS_THEY_ARE = frozenset((np.ndarray, int, float, bool, complex))  # what types of arguments are passed


@dataclass(slots=True)
class PythonSource:
    """A Python function to be compiled once per tuple of argument types, as numba does.

    Like numba's dispatchers it freezes globals and closure variables at the first compilation.
    """

    function: Any  # a types.FunctionType, which as a field's type would count as a method
    package: Package
    target: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    signatures: tuple[tuple[ArgumentType, ...], ...] = ()  # explicit ones; () compiles for whatever comes
    _known: dict[tuple[ArgumentType, ...], Compiled] = field(
        default_factory=dict[tuple[ArgumentType, ...], Compiled], repr=False
    )
    _usual: dict[Hashable, Compiled] = field(default_factory=dict[Hashable, Compiled], repr=False)
    _described: Described | None = field(default=None, repr=False)

    @property
    def language(self) -> str:
        return "python"

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the kernel's parameters."""
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount]

    def leaves(self, args: Sequence[object]) -> tuple[object, ...]:
        """Return the arguments as they are passed: tuples taken apart, and so on."""
        return tuple(args) if _AS_THEY_ARE.issuperset(map(type, args)) else tuple(leaves(args))

    def compile(self, args: Sequence[object]) -> Compiled:
        """Return PTX for arguments of these types.

        Raises ArgumentError for arguments that no kernel takes, CompileError for what cannot be compiled.
        """
        usual = kinds_of_usual(args)
        found = self._usual.get(usual)
        if found is None:
            found = self._compile(args)
            if usual is not None:
                self._usual[usual] = found
        return found

    def _compile(self, args: Sequence[object]) -> Compiled:
        names = self.parameters
        if len(args) != len(names):
            raise ArgumentError(
                f"{self.name} takes {len(names)} arguments ({', '.join(names)}), got {len(args)}"
            )
        kinds = tuple(
            type_of(arg, f"{self.name}: argument {index + 1} ({name})")
            for index, (name, arg) in enumerate(zip(names, args, strict=True))
        )
        if self.signatures:
            kinds = choose_signature(kinds, self.signatures, self.name)
        if kinds not in self._known:
            self._known[kinds] = self._obtain(kinds)
        return self._known[kinds]

    def _obtain(self, kinds: tuple[ArgumentType, ...]) -> Compiled:
        try:
            self._described = described = self._described or describe(self.function)
        except Unkeyable:
            return self._build(kinds)
        keys = [key for kind in kinds if (key := kind.key()) is not None]
        if len(keys) < len(kinds) or self.options.get("debug"):
            return self._build(kinds)
        content, types_ = described.content, " ".join(keys)

        def key_for(package: Package) -> str:
            return digest(
                "python", content, types_, package.name, self.target, repr(sorted(self.options.items()))
            )

        version = version_of(self.package)
        if version is not None:
            version = digest(version, sys.version, described.bytecode)
        others = tuple(key_for(package) for package in PACKAGES if package is not self.package)
        return store.obtain(
            key_for(self.package), version, described.layout, lambda: self._build(kinds), others
        )

    def _build(self, kinds: tuple[ArgumentType, ...]) -> Compiled:
        package, function = self.package, self.function
        if version_of(package) is None:
            raise CompileError(
                f"{self.name}: Python kernels need a compiler that is not installed: "
                "`pip install numba-cuda-mlir` (Linux and Windows; no GPU is needed)"
            )
        try:
            text, exceptions = package.compile_ptx(
                transplant(function, package), kinds, self.target, self.options
            )
        except CompileError:
            raise
        except Exception as error:  # compilers raise whatever their passes run into
            raise explain(error, function, package) from None
        arguments = tuple(
            Argument(part, package.expand(leaf), passed_dtype(leaf), leaf.ndim)
            for name, kind in zip(self.parameters, kinds, strict=True)
            for part, leaf in kind.leaves(name)
        )
        entry = ptx.choose_entry(text, None, self.name)
        return Compiled(text, entry, self.name, "python", arguments, exceptions=exceptions)


def from_function(value: Callable[..., Any], *, target: str) -> Source:
    """Return the kernel that a dispatcher of either package or a plain function describes."""
    function: Any = getattr(value, "py_func", value)
    if not isinstance(function, types.FunctionType):
        raise CompileError(f"{value!r}: expected a function or what @cuda.jit returns")
    code = function.__code__
    if code.co_flags & _VARIADIC or code.co_kwonlyargcount:
        place = Diagnostic("a kernel's parameters must be plain", code.co_filename, code.co_firstlineno)
        raise CompileError(f"{function.__name__}: *args, **kwargs and keyword-only parameters", (place,))
    if not is_dispatcher(value):
        return PythonSource(function, choose_package(function), target)
    dispatcher: Any = value
    options: dict[str, Any] = dispatcher.targetoptions
    if options.get("device"):
        raise CompileError(f"{function.__name__} is a device function; a kernel is needed")
    if options.get("link"):
        raise CompileError(f"{function.__name__}: kernels that link other code are not supported")
    package = package_of(dispatcher)
    if package is None or version_of(package) is None:
        package = choose_package(function)
    kept = {name: options[name] for name in package.options if options.get(name) is not None}
    if not getattr(dispatcher, "_can_compile", True):  # explicit signatures freeze a dispatcher
        signatures = [tuple(map(signature_type, signature)) for signature in dispatcher.overloads]
    else:
        signatures = list[tuple[ArgumentType, ...]]()
    return PythonSource(function, package, target, _changed(package, kept), tuple(signatures))


def _changed(package: Package, options: dict[str, Any]) -> dict[str, object]:
    """Leave out what is a default anyway, so that a dispatcher and its function share cached kernels."""
    if {"opt", "opt_level"} <= options.keys():  # numba-cuda-mlir makes a level of the one, and refuses both
        del options["opt_level" if options["opt"] is False else "opt"]
    defaults = {"opt": (True, 3), "opt_level": (3,), "debug": (False,), "fastmath": (False,)}
    return {name: value for name, value in options.items() if value not in defaults.get(name, ())}


def load_python(path: Path, name: str | None, *, target: str, options: tuple[str, ...]) -> Source:
    """Return the kernel `name` of a Python file, which is run as a module; None means its only kernel."""
    if options:
        raise CompileError(f"{path}: options are for CUDA C++; Python kernels have those of @cuda.jit")
    namespace = vars(_import_file(path, target))
    kernels = {key: value for key, value in namespace.items() if _is_kernel(value, namespace)}
    listed = ", ".join(kernels) or "none found"
    if name is None:
        if len(kernels) != 1:
            raise UnknownKernel(f"{path}: name the kernel to load; kernels in the file: {listed}")
        return from_function(next(iter(kernels.values())), target=target)
    value = namespace.get(name)
    if not (is_dispatcher(value) or isinstance(value, types.FunctionType)):
        meant = did_you_mean(name, kernels)
        raise UnknownKernel(f"{path}: no kernel named {name}{meant}; kernels in the file: {listed}")
    return from_function(value, target=target)  # type: ignore[arg-type]


def _is_kernel(value: Any, namespace: dict[str, Any]) -> bool:
    if is_dispatcher(value):
        return not value.targetoptions.get("device")
    if not isinstance(value, types.FunctionType) or value.__module__ != namespace["__name__"]:
        return False
    return "cuda" in code_names(value.__code__) and not value.__name__.startswith("_")


def _import_file(path: Path, target: str) -> types.ModuleType:
    """Run a file as a module of its own name; what it raises becomes a CompileError at its line."""
    place = path.absolute()
    spec = importlib.util.spec_from_file_location(f"_warpglass_{place.stem}_{digest(str(place))[:8]}", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    text = path.read_text(errors="replace")
    sys.path.insert(0, str(place.parent))
    try:
        with ExitStack() as stack:
            for package in PACKAGES:  # those that the file imports anyway
                imported = rf"^\s*(?:from|import)\s+{package.modules['']}\b"
                if re.search(imported, text, re.MULTILINE) and importlib.util.find_spec(package.modules[""]):
                    stack.enter_context(package.without_driver(target))
            spec.loader.exec_module(module)
    except Exception as error:  # the file is the user's program
        own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(place)]
        line = own[-1].lineno if own else getattr(error, "lineno", None)
        message = f"{type(error).__name__}: {error}"
        raise CompileError(f"{path}: running it failed", (Diagnostic(message, str(path), line),)) from None
    finally:
        sys.path.remove(str(place.parent))
    return module
