"""Functions of the runtime API about device code that a program loads itself."""

from __future__ import annotations

from .calls import same_as_driver

same_as_driver(
    "cudaLibraryLoadData",
    "cudaLibraryLoadFromFile",
    "cudaLibraryUnload",
    "cudaLibraryGetKernel",
    "cudaLibraryGetKernelCount",
    "cudaLibraryEnumerateKernels",
    "cudaLibraryGetGlobal",
    "cudaLibraryGetManaged=cuLibraryGetGlobal",
)
