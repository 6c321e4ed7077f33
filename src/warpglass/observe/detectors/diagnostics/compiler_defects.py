"""Faults that a defect of numba-cuda-mlir is to blame for, not the kernel: what to write instead.

Belongs here: those of docs/numba-cuda-mlir.md that show as a fault, each recognised by what is true of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ....engine.cpu.faults import Scene
from ....program import Step
from ....ptx import tree
from ....records.check import Finding
from .line_facts import LineFacts
from .outline import outermost_text

_PAGE = "docs/numba-cuda-mlir.md"
_MARK = "__numba_cuda_mlir_"  # of a variable in all that the package compiles
_LARGEST_GRID = 1 << 31


def compiler_defect(finding: Finding, scene: Scene, facts: LineFacts) -> str:
    """The hint for an access that a defect of the compiler leads astray, "" for any other finding."""
    if _MARK not in scene.launch.compiled.ptx or finding.kind != "out-of-bounds":
        return ""
    found = (rule(finding, scene, facts) for rule in _RULES)
    return next((f"{text} ({_PAGE})" for text in found if text), "")


def _unsigned_index(finding: Finding, scene: Scene, facts: LineFacts) -> str:
    """An index that is loaded as signed, from an array that is unsigned."""
    if finding.index is None or finding.index >= 0 or finding.source is None:
        return ""
    narrow = {
        array.dtype.itemsize: array
        for array in scene.bound.arrays
        if array.dtype is not None and array.dtype.kind == "u" and array.dtype.itemsize < 8
    }
    for step in facts.by_line.get((finding.source.file, finding.source.line), []):
        if step.match.row.access is None or step.address_register is None:
            continue
        for load in facts.sources(step.address_register):
            array = narrow.get(_signed_bytes(load))
            if array is not None and -finding.index <= 1 << (8 * array.view.itemsize - 1):
                return (
                    f"a defect of numba-cuda-mlir 0.6, not of the kernel: it takes what it reads from "
                    f"{array.name} ({array.dtype}) for signed where that is an index. Write "
                    f"np.int64(...) around the index, as in table[np.int64({array.name}[i])]"
                )
    return ""


def _signed_bytes(step: Step) -> int:
    """The bytes that a load takes for a signed number, 0 for others."""
    type_ = step.match.type or ""
    return int(type_[1:]) // 8 if step.match.row.access == "load" and type_.startswith("s") else 0


def _large_grid(finding: Finding, scene: Scene, facts: LineFacts) -> str:
    """A thread's number in the grid that 32 bits do not hold."""
    grid, block = scene.launch.grid, scene.launch.block
    if not any(count * size > _LARGEST_GRID for count, size in zip(grid, block, strict=True)):
        return ""
    return (
        "a defect of numba-cuda-mlir 0.6 may be to blame: cuda.grid() has 32 bits and wraps around beyond "
        "2^31 threads. Write np.int64(cuda.blockIdx.x) * cuda.blockDim.x + cuda.threadIdx.x"
    )


def _strided_complex(finding: Finding, scene: Scene, facts: LineFacts) -> str:
    """Complex arrays that are not C-contiguous: their strides count floats."""
    for array in scene.bound.arrays:
        is_complex = array.dtype is not None and array.dtype.kind == "c"
        if array.name == finding.array and is_complex and not array.view.contiguous:
            return (
                f"a defect of numba-cuda-mlir 0.6, not of the kernel: it counts the strides of {array.name}, "
                f"which is complex and not C-contiguous, in floats. Pass {array.name}.copy()"
            )
    return ""


def _stepped_slice(finding: Finding, scene: Scene, facts: LineFacts) -> str:
    """A slice with a step, whose shape is another than in Python."""
    if finding.array is None or finding.source is None or (finding.index or 0) < 0:
        return ""
    text = outermost_text(finding.source.file, finding.source.line)
    array = re.escape(finding.array)
    found = re.search(rf"\b{array}\s*\[[^\]\n]*:[^\],\n]*:[^\]\n]+\]", text)
    if found is None:
        return ""
    return (
        f"a defect of numba-cuda-mlir 0.6 may be to blame: the shape of {found[0]} does not count the step "
        f"right. Compute the extents from {finding.array}.shape"
    )


def _shared_in_function(finding: Finding, scene: Scene, facts: LineFacts) -> str:
    """An atomic operation on shared memory in a function that is called: it has lost the array's address."""
    if finding.source is None or finding.array is not None:
        return ""
    for step in facts.by_line.get((finding.source.file, finding.source.line), []):
        if step.instruction.opcode not in ("atom", "red") or step.address_register is None:
            continue
        sources = [one.instruction for one in facts.sources(step.address_register)]
        if any(one.opcode == "add" and _begins_at_zero(one) for one in sources):
            return (
                "a defect of numba-cuda-mlir 0.6, not of the kernel: in a device function it loses the "
                "address of the shared array of an atomic operation. Write the operation in the kernel itself"
            )
    return ""


def _begins_at_zero(instruction: tree.Instruction) -> bool:
    """Whether an address is counted from nothing."""
    return any(isinstance(one, tree.Integer) and one.value == 0 for one in instruction.operands[1:])


_RULES: tuple[Callable[[Finding, Scene, LineFacts], str], ...] = (
    _unsigned_index,
    _strided_complex,
    _stepped_slice,
    _large_grid,
    _shared_in_function,
)
