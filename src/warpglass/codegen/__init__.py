"""From a program to machine code: passes (passes.py), IR of what they leave (kernel.py), LLVM (machine/)."""

from .builder import WIDTH
from .cost import cost_of_forms
from .kernel import KernelCode, generate
from .machine.apart import compile_apart
from .machine.jit import Linked, MachineCode, Target, compile_ir, link, load_object
from .machine.target import chosen_target, host_key, stream_bytes
from .operands import Symbols
from .passes import with_kinds
from .probes import Emission, Instrument, Probe, WorkerWords
from .shape import BlockShape, Promises, grid_class

__all__ = [
    "WIDTH",
    "BlockShape",
    "Emission",
    "Instrument",
    "KernelCode",
    "Linked",
    "MachineCode",
    "Probe",
    "Promises",
    "Symbols",
    "Target",
    "WorkerWords",
    "chosen_target",
    "compile_apart",
    "compile_ir",
    "cost_of_forms",
    "generate",
    "grid_class",
    "host_key",
    "link",
    "load_object",
    "stream_bytes",
    "with_kinds",
]
