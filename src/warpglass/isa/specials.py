"""Special registers (PTX manual, "Special Registers"): names, types, and what they hold on the engine.

All values repeat from run to run:

    tid ntid ctaid nctaid laneid warpid nwarpid lanemask_*    as on a GPU
    clock clock64 clock_hi globaltimer*   PTX instructions that the block's warps have issued so far; a
                                          nanosecond is a cycle, and every block starts at 0
    smid nsmid                            blocks go round the 132 multiprocessors of an H100 in their order
    gridid                                1
    dynamic_smem_size total_smem_size aggr_smem_size    of this launch, in units of 128 bytes but the first
    envreg1 envreg2                       the address of a cooperative grid's workspace
    clusterid nclusterid cluster_*        as on a GPU
    is_explicit_cluster                   whether the launch or the kernel says how large clusters are
    all others                            0
"""

from __future__ import annotations

_VECTORS = "tid ntid ctaid nctaid clusterid nclusterid cluster_ctaid cluster_nctaid"
_NARROW = (
    "laneid warpid nwarpid smid nsmid is_explicit_cluster cluster_ctarank cluster_nctarank "
    "lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock_hi globaltimer_lo "
    "globaltimer_hi reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap "
    "reserved_smem_offset_0 reserved_smem_offset_1 total_smem_size aggr_smem_size dynamic_smem_size"
)
_WIDE = "clock64 globaltimer gridid current_graph_exec"

# LLVM type by name, without the percent sign.
SPECIALS: dict[str, str] = {
    **dict.fromkeys((f"{name}.{axis}" for name in _VECTORS.split() for axis in "xyzw"), "i32"),
    **dict.fromkeys(_NARROW.split(), "i32"),
    **dict.fromkeys(_WIDE.split(), "i64"),
    **dict.fromkeys((f"envreg{number}" for number in range(32)), "i32"),
    **dict.fromkeys((f"pm{number}" for number in range(8)), "i32"),
    **dict.fromkeys((f"pm{number}_64" for number in range(8)), "i64"),
}


def is_special(name: str) -> bool:
    """Whether the engine has a special register, or the constant `WARP_SZ`, as PTX writes it."""
    return name == "WARP_SZ" or name.removeprefix("%") in SPECIALS


def reads_clock(name: str) -> bool:
    """Whether a special register, as PTX writes it, tells the time."""
    return name.startswith(("%clock", "%globaltimer"))
