"""LLVM IR to object code, and object code to callable machine code in this process.

The two are apart so that object code can be kept on disk: loading it costs a few milliseconds, compiling it
tens to hundreds. Helper processes run this file alone (apart.py): it imports nothing of this package.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import lru_cache

import llvmlite.binding as llvm

# Quick code: inline the warp function, drop what nobody calls, turn register homes into SSA values, then the
# fast selection of instructions and allocation of registers.
_QUICK_PASSES = ("always_inliner", "global_dead_code_eliminate", "sroa")
# Homes times basic blocks up to which homes become values: each may need a phi in each block. Between blocks
# quick code keeps values on the stack anyway: beyond this it is not slower for it, and often half as long.
# So may masks of the program's blocks, which far more basic blocks look at than at other homes.
_MOST_PHIS, _MOST_MASK_PHIS = 500_000, 250_000
# LLVM's levels for optimised code: O2 of its passes on IR, O3 of those on machine code.
_SPEED_LEVEL, _CODEGEN_LEVEL = 2, 3
# The function that runs a kernel's blocks while subnormal numbers are flushed, in modules that have one.
FLUSHING = "@run_flushing"
# Functions of the C library are called through the table of addresses for which memory is set aside.
_LIBRARY_CALLS = '!llvm.module.flags = !{!9999}\n!9999 = !{i32 7, !"RtLibUseGOT", i32 1}\n'
# Before LLVM 22 the alignment of a masked access is an argument, after it an attribute of the pointer.
_MASKED_CALL = re.compile(
    r"(call [^@\n]*@llvm\.masked\.[^(]*\(.*?)(<\d+ x ptr>|ptr) align (\d+) (%[\w.]+)(?=, <\d+ x i1>)",
    re.DOTALL,
)
_MASKED_DECLARATION = re.compile(
    r"(declare [^@\n]*@llvm\.masked\.[^(]*\(.*?)(<\d+ x ptr>|ptr)(?=, <\d+ x i1>)"
)
# Selects in loops stay selects. LLVM makes branches of those that wait for loads, as a maximum does, but what
# lanes load is seldom foreseen: of rows of numbers, largest ones took up to 1.6 times as long.
OPTION = "-x86-cmov-converter=false"
if llvm.get_process_triple().startswith("x86_64"):  # LLVM ends the process if it does not know an option
    llvm.set_option("warpglass", OPTION)


class Linked:
    """Object code that is linked into this process."""

    def __init__(self, engine: llvm.ExecutionEngine):
        self._engine = engine

    def address(self, symbol: str) -> int:
        """Where a function is, for as long as this object lives."""
        return self._engine.get_function_address(symbol)


class MachineCode:
    """A compiled kernel: `run(context)` is callable from any thread and releases the GIL."""

    def __init__(self, linked: Linked):
        self._linked = linked
        self.address = linked.address("run")
        self.run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.address)


@dataclass(frozen=True, slots=True)
class Target:
    """What code is for: LLVM's triple, its name of a processor, features as "+one,-other"."""

    triple: str
    cpu: str
    features: str


@lru_cache(maxsize=1)
def host_target() -> Target:
    """This process' processor."""
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def reaches_near(triple: str) -> bool:
    """Whether optimised code reaches its functions and constants by distances of 32 bits.

    LLVM's model for JITs puts a whole address in a register before each call and each constant, and some
    processors cannot foresee where such a call leads: gathers took half as long again. Quick code keeps it,
    whose calls of the C library LLVM makes in a way for which no memory is set aside.
    """
    return triple.startswith("x86_64") and "linux" in triple


def _new_target_machine(target: Target, level: int) -> llvm.TargetMachine:
    if target.triple == host_target().triple:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    found = llvm.Target.from_triple(target.triple)
    jit = target.triple == host_target().triple  # what is linked elsewhere may lie anywhere
    near = jit and level > 0 and reaches_near(target.triple)
    return found.create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=level,
        reloc="default" if jit and not near else "pic",
        codemodel="small" if near else "jitdefault",
        jit=jit,
    )


# For compiling only: an execution engine destroys the machine that it is given.
_target_machine = lru_cache(maxsize=4)(_new_target_machine)


def _function_attributes(target: Target, *, flushes: bool) -> str:
    """The attribute group that every generated function carries: the processor at full vector width.

    It says, too, whether arithmetic `flushes` subnormal numbers, which decides what LLVM makes of constants.
    """
    mode = '"denormal-fp-math"="preserve-sign,preserve-sign" ' if flushes else ""
    return (
        f'attributes #0 = {{ nounwind "target-cpu"="{target.cpu}" "target-features"="{target.features}" '
        f'{mode}"prefer-vector-width"="512" "min-legal-vector-width"="512" }}\n'
    )


def spelled(ir: str) -> str:
    """The module as this version of LLVM spells it."""
    if llvm.llvm_version_info[0] >= 22:
        return ir
    ir = _MASKED_CALL.sub(r"\1\2 \4, i32 \3", ir)
    return _MASKED_DECLARATION.sub(r"\1\2, i32", ir)


def compile_ir(ir: str, *, quick: bool = False, target: Target | None = None) -> bytes:
    """Compile a module, a kernel's if it defines `@run`, to object code for a target; None: this host.

    Quick code takes a third of the time to compile and computes the same, two to four times slower.
    """
    target = target or host_target()
    machine = _target_machine(target, 0 if quick else _CODEGEN_LEVEL)
    attributes = _function_attributes(target, flushes=FLUSHING in ir)
    module = llvm.parse_assembly(spelled(ir) + attributes + _LIBRARY_CALLS)
    module.verify()  # on a malformed module the passes end the process
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=0 if quick else _SPEED_LEVEL)
    builder = llvm.create_pass_builder(machine, options)
    if quick:
        passes = llvm.create_new_module_pass_manager()
        for name in _QUICK_PASSES[:-1] if _has_too_many_phis(ir) else _QUICK_PASSES:
            getattr(passes, f"add_{name}_pass")()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    return machine.emit_object(module)


def _has_too_many_phis(ir: str) -> bool:
    blocks = ir.count(":\n")
    return ir.count(" = alloca ") * blocks > _MOST_PHIS or ir.count("  %lanes_") * blocks > _MOST_MASK_PHIS


def compile_bytes(ir: bytes, *target: bytes) -> list[bytes]:
    """`compile_ir` for a helper process, which speaks bytes: quick code."""
    return [compile_ir(ir.decode(), quick=True, target=Target(*(part.decode() for part in target)))]


def optimise_bytes(ir: bytes, *target: bytes) -> list[bytes]:
    """Optimised code, for a helper process."""
    return [compile_ir(ir.decode(), target=Target(*(part.decode() for part in target)))]


def load_object(code: bytes) -> MachineCode:
    """Link a kernel's object code from `compile_ir` into this process."""
    return MachineCode(link(code))


def link(code: bytes) -> Linked:
    """Link object code from `compile_ir` into this process."""
    machine = _new_target_machine(host_target(), _CODEGEN_LEVEL)
    empty = llvm.parse_assembly("")
    empty.triple = llvm.get_process_triple()
    empty.data_layout = str(machine.target_data)
    # This manager of memory keeps an object's sections together, as 32-bit distances need it.
    engine = llvm.create_mcjit_compiler(empty, machine, use_lmm=True)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Linked(engine)
