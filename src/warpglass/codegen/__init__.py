"""From a program to machine code. Two implementations of isa/lanes.py share everything else here."""

from .jit import MachineCode, compile_ir
from .kinds import grid_class
from .kernel import KernelCode, generate
from .probes import Emission, Probe
from .shape import Shape
from .steps import Symbols

__all__ = ["Emission", "KernelCode", "MachineCode", "Probe", "Shape", "Symbols", "compile_ir", "generate", "grid_class"]
