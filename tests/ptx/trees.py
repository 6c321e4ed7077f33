"""Comparing trees."""

from __future__ import annotations

from dataclasses import replace

from warpglass.ptx.tree import Module, Variable


def without_lines(module: Module) -> Module:
    """The module with every PTX line number 0, for comparing trees."""
    functions = tuple(
        replace(
            function,
            line=0,
            parameters=_unnumbered(function.parameters),
            results=_unnumbered(function.results),
            variables=_unnumbered(function.variables),
            body=None if function.body is None else tuple(replace(item, line=0) for item in function.body),
            prototypes={
                name: replace(
                    item, results=_unnumbered(item.results), parameters=_unnumbered(item.parameters)
                )
                for name, item in function.prototypes.items()
            },
        )
        for function in module.functions
    )
    return replace(module, variables=_unnumbered(module.variables), functions=functions)


def _unnumbered(variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
    return tuple(replace(variable, line=0) for variable in variables)
