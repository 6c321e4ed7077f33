"""LLVM IR to object code, and object code to callable machine code in this process.

The two are apart so that object code can be kept on disk: loading it costs a few milliseconds, compiling it
tens to hundreds. Helper processes run this file alone (apart.py): it imports nothing of this package.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

import llvmlite
import llvmlite.binding as llvm

# A short list: inline the warp function, turn register homes into SSA values, tidy up. LLVM's O3 takes three
# to ten times as long and gains nothing on these kernels.
_PASSES = ("always_inliner", "sroa", "instruction_combine", "simplify_cfg")


class MachineCode:
    """A compiled kernel: `run(context)` is callable from any thread and releases the GIL."""

    def __init__(self, engine: llvm.ExecutionEngine):
        self._engine = engine
        self.address = engine.get_function_address("run")
        self.run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.address)


def _new_target_machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2, jit=True)


# For compiling only: an execution engine destroys the machine that it is given.
_target_machine = lru_cache(maxsize=1)(_new_target_machine)


@lru_cache(maxsize=1)
def host_key() -> str:
    """What object code depends on besides its IR: this CPU, its features and the LLVM version."""
    features = llvm.get_host_cpu_features().flatten()
    return (
        f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features} llvmlite {llvmlite.__version__}"
    )


@lru_cache(maxsize=1)
def host_converts_half() -> bool:
    """Whether this host has instructions that convert between float and half: all but old x86 processors."""
    if llvm.get_process_triple().split("-")[0] not in ("x86_64", "i686", "i386"):
        return True
    return bool(llvm.get_host_cpu_features().get("f16c"))


def _function_attributes() -> str:
    """The attribute group that every generated function carries: this host's CPU at full vector width."""
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return (
        f'attributes #0 = {{ nounwind "target-cpu"="{cpu}" "target-features"="{features}" '
        '"prefer-vector-width"="512" "min-legal-vector-width"="512" }\n'
    )


def compile_ir(ir: str) -> bytes:
    """Compile a module that defines `@run` to object code for this host."""
    machine = _target_machine()
    module = llvm.parse_assembly(ir + _function_attributes())
    module.verify()  # on a malformed module the passes end the process
    module.triple = llvm.get_process_triple()
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    for name in _PASSES:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, builder)
    return machine.emit_object(module)


def compile_bytes(ir: bytes) -> list[bytes]:
    """`compile_ir` for a helper process, which speaks bytes."""
    return [compile_ir(ir.decode())]


def load_object(code: bytes) -> MachineCode:
    """Link object code from `compile_ir` into this process."""
    machine = _new_target_machine()
    empty = llvm.parse_assembly("")
    empty.triple = llvm.get_process_triple()
    empty.data_layout = str(machine.target_data)
    engine = llvm.create_mcjit_compiler(empty, machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return MachineCode(engine)
