"""From the tree of one kernel to a program: basic blocks and what the analyses found, by a list of passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import SimpleNamespace

from ..errors import CompileError
from ..isa.calls import system_function
from ..isa.cluster import names_cluster
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
from .bulk_copies import write_bulk_copies
from .calls import STACK, STACK_BYTES, merge_calls
from .contraction import contract
from .decode import Step, decode
from .discarded_reads import guard_discarded_reads
from .early_versions import write_defaults
from .exit_values import keep_counters
from .fairness import find_cluster_waits, find_fair
from .grid_barriers import find_grid_waits
from .grid_strides import find_grid_strides
from .layout import LocalLayout, SharedLayout, lay_out_local, lay_out_shared
from .live_ranges import split_ranges
from .liveness import find_dirty, find_liveness
from .paired_tests import split_tests
from .parameter_accesses import check_parameter_accesses, read_through_addresses, takes_addresses
from .passes import Pass, run_passes
from .pending import Pending, find_full, find_pending, read_elsewhere
from .quotients import find_quotients
from .range_loops import roll_ranges
from .rematerialisation import rematerialise
from .selections import select_values
from .shorthand import write_out
from .sinking import sink
from .spaces import resolve_local
from .stack import save_registers
from .streaming import find_streaming
from .turns import find_deferrable, find_ordered
from .unrolling import Round, unrolled
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
    cluster_waits: frozenset[int]  # those that wait for the cluster's
    dirty: tuple[frozenset[str], ...]  # written since the last resume, at the barrier that ends each block
    shared: SharedLayout
    local: LocalLayout
    strays: frozenset[int]  # steps with generic accesses that may reach local memory
    variables: tuple[ModuleVariable, ...]  # .global and .const
    addressed: bool  # takes the address of a parameter
    functions: Mapping[str, int]  # addresses of functions
    ordered: frozenset[int]  # steps before which a block needs its turn
    deferrable: frozenset[int]  # those of them that may be left for the end of the block
    services: frozenset[str]  # functions of the CUDA runtime that are called
    clustered: bool  # whether it waits for, or may name, other blocks of its cluster
    origins: tuple[str, ...]  # the function that each step is from, by number; empty if nothing is called
    # The number of each step that code generation has made as a copy, and that of the program's own.
    copied: Mapping[int, int] = field(default_factory=dict[int, int])

    def number_of(self, step: int) -> int:
        """The number of the program's own step that a step is, or was copied from."""
        return self.copied.get(step, step)

    def rewritten(self, blocks: tuple[Block, ...], registers: Mapping[str, str] | None = None) -> Program:
        """The program with other blocks, and what follows from those found again."""
        return replace(
            self,
            blocks=blocks,
            registers=self.registers if registers is None else registers,
            live=find_liveness(blocks),
            dirty=find_dirty(blocks),
            ordered=find_ordered(blocks),
            deferrable=find_deferrable(blocks),
        )


def build_program(module: tree.Module, entry: str) -> Program:
    """Run the passes on one entry of a module; raise CompileError or UnsupportedError."""
    function = next((f for f in module.functions if f.entry and f.name == entry), None)
    if function is None or function.body is None:
        known = ", ".join(f.name for f in module.functions if f.entry) or "none"
        raise CompileError(f"the PTX has no kernel named {entry!r}; it has: {known}")
    made = SimpleNamespace(module=module, entry=function)
    run_passes(PASSES, made)
    return Program(
        name=entry,
        parameters=made.function.parameters,
        functions=made.merged.addresses,
        origins=made.merged.origins,
        **{one.name: getattr(made, one.name) for one in fields(Program) if hasattr(made, one.name)},
    )


def _read_parameters(function: tree.Function) -> tuple[tree.Function, bool]:
    addressed = takes_addresses(function)
    return read_through_addresses(function) if addressed else function, addressed


def _types(function: tree.Function) -> dict[str, str]:
    return {**function.registers, **IMPLICIT}


def _names_cluster(function: tree.Function) -> bool:
    return any(isinstance(item, tree.Instruction) and names_cluster(item) for item in function.body or ())


def _find_services(blocks: tuple[Block, ...]) -> frozenset[str]:
    called = {system_function(step.match) for block in blocks for step in block.steps}
    return frozenset(filter(None, called))


PASSES = (
    Pass("early versions", write_defaults, "module entry", "module entry"),
    Pass("short forms", write_out, "module entry", "module entry"),
    Pass("calls put in", merge_calls, "module entry", "merged"),
    Pass("parameters by address", _read_parameters, "merged.function", "function addressed"),
    Pass("bulk copies", write_bulk_copies, "function", "function"),
    Pass("clusters", _names_cluster, "function", "clustered"),
    Pass("rows of instructions", decode, "function", "decoded"),
    Pass("accesses of parameters", check_parameter_accesses, "function decoded", ""),
    Pass("basic blocks", build_blocks, "decoded function.branch_targets", "blocks"),
    Pass("types of registers", _types, "function", "registers"),
    Pass("stack", save_registers, "blocks registers", "blocks"),
    Pass("contraction", contract, "blocks registers merged.origins", "blocks registers"),
    Pass("accesses of local memory", resolve_local, "blocks registers", "blocks registers strays"),
    Pass("warp barriers", place_warp_barriers, "blocks registers", "blocks"),
    Pass("liveness", find_liveness, "blocks", "live"),
    Pass("fair loops", find_fair, "blocks registers", "fair"),
    Pass("waits for clusters", find_cluster_waits, "blocks", "cluster_waits"),
    Pass("grid barriers", find_grid_waits, "blocks", "grid_waits"),
    Pass("dirty registers", find_dirty, "blocks", "dirty"),
    Pass("shared memory", lay_out_shared, "module function", "shared"),
    Pass("local memory", lay_out_local, "function", "local"),
    Pass("variables", find_variables, "module function merged.addresses", "variables"),
    Pass("turns of blocks", find_ordered, "blocks", "ordered"),
    Pass("sums to defer", find_deferrable, "blocks", "deferrable"),
    Pass("calls of the runtime", _find_services, "blocks", "services"),
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
    "Round",
    "SharedLayout",
    "Step",
    "Switch",
    "Terminator",
    "Trap",
    "WarpBarrier",
    "all_variables",
    "build_program",
    "find_full",
    "find_grid_strides",
    "find_instructions",
    "find_pending",
    "find_quotients",
    "find_streaming",
    "guard_discarded_reads",
    "keep_counters",
    "read_elsewhere",
    "rematerialise",
    "roll_ranges",
    "select_values",
    "sink",
    "split_ranges",
    "split_tests",
    "unrolled",
]
