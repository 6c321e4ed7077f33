"""What the engine refuses on purpose, with what to use instead: groups of instructions without any row."""

from __future__ import annotations

from ..ptx import tree

_REFERENCES = (
    "the engine has no texture, sampler or surface references; use texture and surface objects, whose "
    "handles are in 64-bit registers"
)
_WITH_HANDLES = frozenset(("tex", "tld4", "txq", "suld", "sust", "sured", "suq"))
_WARPGROUP = "the engine has no matrix products of warp groups (sm_90a); use mma.sync or wmma"
_TENSOR_MEMORY = "the engine has no tensor memory (sm_100a); use mma.sync or wmma"
_TENSOR = "the engine has no tensor maps (TMA); copy rows with cp.async.bulk or cp.async"
_MULTICAST_COPY = "the engine copies in bulk to one block; let each block of the cluster copy for itself"
_BULK = "the engine does not clear memory in bulk (sm_100); use st"
_REMOTE = "the engine has no asynchronous access to other blocks' memory; use st, red or atom"
_MULTICAST = "the engine is one GPU and has no multicast memory; use ld, red and atom"
_CLUSTER_LAUNCH = "on the engine every block is a cluster of its own, and all are launched"
_DEBUGGER = "the engine has no debugger or profiler to signal to; leave it out"

# Opcode and first modifiers -> why it is refused.
_REASONS = {
    "istypep": _REFERENCES,
    "wgmma": _WARPGROUP,
    "tcgen05": _TENSOR_MEMORY,
    **dict.fromkeys(("cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor"), _TENSOR),
    **dict.fromkeys(("cp.async.bulk.prefetch.tensor", "tensormap", "prefetch.tensormap"), _TENSOR),
    "fence.proxy.tensormap::generic": _TENSOR,
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster": _MULTICAST_COPY,
    "st.bulk": _BULK,
    **dict.fromkeys(("st.async", "red.async"), _REMOTE),
    "multimem": _MULTICAST,
    "clusterlaunchcontrol": _CLUSTER_LAUNCH,
    **dict.fromkeys(("brkpt", "pmevent"), _DEBUGGER),
}


def refusal(instruction: tree.Instruction) -> str | None:
    """Why a group of instructions is not supported and what is; None for others."""
    if instruction.opcode in _WITH_HANDLES and any(map(_is_reference, instruction.operands)):
        return _REFERENCES
    words = (instruction.opcode, *instruction.modifiers)
    names = (".".join(words[:count]) for count in range(1, len(words) + 1))
    return next((_REASONS[name] for name in names if name in _REASONS), None)


def _is_reference(operand: tree.Operand) -> bool:
    """Whether an address begins with a name, not with a handle in a register."""
    if isinstance(operand, tree.AddressList):
        return isinstance(operand.elements[0], tree.Symbol)
    return isinstance(operand, tree.Address) and isinstance(operand.base, tree.Symbol)
