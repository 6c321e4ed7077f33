"""The programs of cuda-samples, by their CMakeLists.txt: what they are made of, linked with and need."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from program import Program

_SOURCES = (".cu", ".cpp", ".c", ".cc")
# What a build file names, and what a machine has to have for it that warpglass does not bring along.
_REASONS = {
    r"\b(?:OpenGL|GLUT|GLEW)\b": "OpenGL",
    r"\bVulkan\b": "Vulkan",
    r"\bEGL\b": "EGL",
    r"\b(?:D3D|d3d|d3dcompiler|D3D12\w*)\b|d3d11\.cpp|DX12": "Direct3D",
    r"(?i)\bnvsci\w*": "NvSci",
    r"\bMPI::|find_package\(MPI": "MPI",
    r"CUDA::npp\w+": "NPP",
    r"CUDA::nvjpeg": "nvJPEG",
    r"CUDA::cudla": "cuDLA",
    r"FreeImage": "FreeImage",
}
# Smaller problems, by options that the samples have for them.
_SMALL: dict[str, tuple[str, ...]] = {}


def samples(root: Path) -> Iterator[Program]:
    """All samples that have a build file for an executable."""
    given = json.loads((root / "test_args.json").read_text())
    for file in sorted(root.glob("Samples/**/CMakeLists.txt")):
        text = re.sub(r"#.*", "", file.read_text())
        found = re.search(r"add_executable\(\s*([\w.+-]+)\s+([^)]*)\)", text)
        if found is not None:
            yield _sample(root, file.parent, text, found[2].split(), given.get(file.parent.name, {}))


def _sample(root: Path, folder: Path, text: str, words: list[str], given: dict[str, Any]) -> Program:
    name = folder.name
    sources = [word for word in words if Path(word).suffix in _SOURCES]
    needs = [reason for pattern, reason in _REASONS.items() if re.search(pattern, text)]
    if given.get("min_gpus", 1) > 1:
        needs.append(f"{given['min_gpus']} GPUs")
    if folder.parent.parent.name == "8_Platform_Specific":
        needs.append("a Tegra system")
    if folder.parent.name == "7_libNVVM":
        needs.append("libNVVM, a compiler")
    if not sources or not all((folder / word).is_file() for word in sources):
        needs.append("source files that its repository lacks")
    runs = given.get("runs") or [given]
    arguments = _SMALL.get(name) or runs[0].get("args", ())
    return Program(
        name,
        folder,
        (*sources, *_flags(root, folder, text), "--", *arguments),
        tuple(needs),
        tuple(_prepared(text)),
        tuple(dict.fromkeys(re.findall(r"\$\{CUDA_INCLUDE_DIR\}/([\w./]+)", text))),
    )


def _flags(root: Path, folder: Path, text: str) -> list[str]:
    """The flags of the compiler and of the linker."""
    flags = [f"-I{os.path.relpath(root / 'Common', folder)}", "-std=c++17", "--extended-lambda"]
    flags += [
        f"-I{word}"
        for found in re.findall(r"(?:\b|target_)include_directories\(([^)]*)\)", text)
        for word in found.split()
        if (folder / word).is_dir() and not word.endswith("Common")
    ]
    if "CUDA_SEPARABLE_COMPILATION ON" in text:
        flags.append("-rdc=true")
    libraries = dict.fromkeys(re.findall(r"CUDA::(?!cudart)(\w+)", text))
    flags += [f"-l{'cuda' if one == 'cuda_driver' else one.removesuffix('_static')}" for one in libraries]
    if "cusolver" in libraries:  # CMake's target brings them
        flags += ["-lcusparse", "-lcublas"]
    if "NVJITLINK_LIB" in text:
        flags.append("-lnvJitLink")
    if re.search(r"OpenMP", text):
        flags += ["-Xcompiler", "-fopenmp", "-lgomp"]
    return flags


def _prepared(text: str) -> Iterator[tuple[str, str]]:
    """Kernels that are compiled apart: the file that is made, and the source."""
    source = re.search(r"set\(CUDA_KERNEL_SOURCE \"\$\{CMAKE_CURRENT_SOURCE_DIR\}/([\w.]+)\"", text)
    for made in re.findall(r"set\(CUDA_\w+_FILE \"\$\{CMAKE_CURRENT_BINARY_DIR\}/([\w.]+)\"", text):
        if source is not None:
            yield made, source[1]
