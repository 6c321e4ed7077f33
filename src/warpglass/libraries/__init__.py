"""Virtual cuBLAS, cuRAND, cuFFT, cuSOLVER and cuSPARSE: NVIDIA's C functions on NumPy and SciPy.

They are there so that programs run, not to be measured. `activate(device, sonames)` loads libraries of
NVIDIA's names into the process, whose functions work on the virtual GPU's memory; `wanted(path)` says which
of them a program or library asks for. Each library is a table of rows (frame.py), one for a C function of all
element types; docs/reference/libraries.md lists them. What has none answers NOT_SUPPORTED and is named once.
"""

from __future__ import annotations

from .activation import LIBRARIES, activate, wanted

__all__ = ["LIBRARIES", "activate", "wanted"]
