"""From the tree of one kernel to a program: basic blocks and what the analyses found, one pass a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from ..errors import CompileError, UnsupportedError
from ..isa.calls import system_function
from ..isa.table import IMPLICIT
from ..ptx import tree
from .blocks import (
    Barrier,
    Block,
    Branch,
    Exit,
    Jump,
    Switch,
    Terminator,
    Trap,
    WarpBarrier,
    build_blocks,
    find_instructions,
)
from .calls import STACK, STACK_BYTES, merge_calls
from .contraction import contract
from .decode import Step, decode
from .fairness import find_fair
from .grid_barriers import find_grid_waits
from .grid_strides import find_grid_strides
from .layout import LocalLayout, SharedLayout, lay_out_local, lay_out_shared
from .liveness import find_dirty, find_liveness
from .paired_tests import split_tests
from .parameter_accesses import check_parameter_accesses, read_through_addresses, takes_addresses
from .pending import Pending, find_full, find_pending
from .sinking import sink
from .spaces import resolve_local
from .stack import save_registers
from .streaming import find_streaming
from .turns import find_ordered
from .variables import ModuleVariable, all_variables, find_variables
from .warp_barriers import place_warp_barriers


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel, ready for code generation; analyses that depend on divergence are run by codegen/."""

    name: str
    parameters: tuple[tree.Variable, ...]
    registers: Mapping[str, str]
    blocks: tuple[Block, ...]
    live: tuple[frozenset[str], ...]  # live into each block
    fair: frozenset[int]  # headers of loops that may wait for other threads
    grid_waits: frozenset[int]  # headers of loops that wait for the grid's barrier
    dirty: tuple[frozenset[str], ...]  # written since the last resume, at the barrier that ends each block
    shared: SharedLayout
    local: LocalLayout
    strays: frozenset[int]  # steps with generic accesses that may reach local memory
    variables: tuple[ModuleVariable, ...]  # .global and .const
    addressed: bool  # takes the address of a parameter
    functions: Mapping[str, int]  # addresses of functions
    ordered: frozenset[int]  # steps before which a block needs its turn
    services: frozenset[str]  # functions of the CUDA runtime that are called
    origins: tuple[str, ...]  # the function that each step is from, by number; empty if nothing is called


def build_program(module: tree.Module, entry: str) -> Program:
    """Run the passes on one entry of a module; raise CompileError or UnsupportedError."""
    function = next((f for f in module.functions if f.entry and f.name == entry), None)
    if function is None or function.body is None:
        known = ", ".join(f.name for f in module.functions if f.entry) or "none"
        raise CompileError(f"the PTX has no kernel named {entry!r}; it has: {known}")
    _refuse_clusters(function)
    merged = merge_calls(module, function)
    function = merged.function
    types = {**function.registers, **IMPLICIT}
    addressed = takes_addresses(function)
    if addressed:
        function = read_through_addresses(function)
    decoded = decode(function)
    check_parameter_accesses(function, decoded)
    blocks = save_registers(build_blocks(decoded, function.branch_targets), types)
    blocks, types = contract(blocks, types, merged.origins)
    blocks, types, strays = resolve_local(blocks, types)
    blocks = place_warp_barriers(blocks)
    called = {system_function(step.match) for block in blocks for step in block.steps}
    return Program(
        name=entry,
        parameters=function.parameters,
        registers=types,
        blocks=blocks,
        live=find_liveness(blocks),
        fair=find_fair(blocks),
        grid_waits=find_grid_waits(blocks),
        dirty=find_dirty(blocks),
        shared=lay_out_shared(module, function),
        local=lay_out_local(function),
        strays=strays,
        variables=find_variables(module, function, merged.addresses),
        addressed=addressed,
        functions=merged.addresses,
        origins=merged.origins,
        ordered=find_ordered(blocks),
        services=frozenset(filter(None, called)),
    )


def _refuse_clusters(function: tree.Function) -> None:
    for directive, extents in function.directives:
        if directive == "reqnctapercluster" and prod(extents) > 1:
            raise UnsupportedError(
                f"kernel {function.name} wants clusters of {prod(extents)} blocks (.reqnctapercluster, "
                "__cluster_dims__), which the engine does not support: every block is a cluster of its own"
            )


__all__ = [
    "STACK",
    "STACK_BYTES",
    "Barrier",
    "Block",
    "Branch",
    "Exit",
    "Jump",
    "LocalLayout",
    "ModuleVariable",
    "Pending",
    "Program",
    "SharedLayout",
    "Step",
    "Switch",
    "Terminator",
    "Trap",
    "WarpBarrier",
    "all_variables",
    "build_program",
    "find_dirty",
    "find_full",
    "find_grid_strides",
    "find_instructions",
    "find_liveness",
    "find_ordered",
    "find_pending",
    "find_streaming",
    "sink",
    "split_tests",
]
