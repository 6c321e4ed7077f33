"""Where the PTX manual describes an instruction: the address of its section.

Belongs here: the manual's chapters with the names of their sections, which its anchors are made of. An opcode
that stands in several chapters is told apart by the unit that executes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MANUAL = "https://docs.nvidia.com/cuda/parallel-thread-execution/"

_SYNCHRONISATION = "parallel-synchronization-and-communication-instructions"
_MOVEMENT = "data-movement-and-conversion-instructions"
# Opcodes, with those of their modifiers that have a section of their own, by chapter.
_CHAPTERS = {
    "integer-arithmetic-instructions": (
        "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk "
        "dp4a dp2a"
    ),
    "extended-precision-arithmetic-instructions": "add.cc addc sub.cc subc mad.cc madc",
    "floating-point-instructions": (
        "testp copysign add sub mul fma mad div abs neg min max rcp rcp.approx.ftz.f64 sqrt rsqrt "
        "rsqrt.approx.ftz.f64 sin cos lg2 ex2 tanh"
    ),
    "half-precision-floating-point-instructions": "add sub mul fma neg abs min max tanh ex2",
    "comparison-and-selection-instructions": "set setp selp slct",
    "half-precision-comparison-instructions": "set setp",
    "logic-and-shift-instructions": "and or xor not cnot lop3 shf shl shr",
    _MOVEMENT: (
        "mov shfl shfl.sync prmt ld ld.global.nc ldu st applypriority discard createpolicy isspacep cvta cvt "
        "cvt.pack mapa getctarank cp.async cp.async.commit_group cp.async.wait_group cp.async.bulk "
        "cp.reduce.async.bulk cp.async.bulk.prefetch cp.async.bulk.commit_group cp.async.bulk.wait_group"
    ),
    "control-flow-instructions": "bra brx.idx call ret exit",
    _SYNCHRONISATION: (
        "bar bar.warp.sync barrier.cluster membar atom red vote vote.sync activemask redux.sync "
        "griddepcontrol elect.sync mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx "
        "mbarrier.arrive mbarrier.arrive_drop cp.async.mbarrier.arrive mbarrier.pending_count"
    ),
    "texture-instructions": "tex tld4 txq",
    "surface-instructions": "suld sust sured suq",
    "warp-level-matrix-instructions": "wmma.mma mma ldmatrix stmatrix movmatrix",
    "scalar-video-instructions": "vmad vset",
    "simd-video-instructions": "vset2 vset4",
    "miscellaneous-instructions": "nanosleep trap setmaxnreg",
}
_UNITS = {
    "integer-arithmetic-instructions": ("integer",),
    "floating-point-instructions": ("fp32", "fp64"),
    "half-precision-floating-point-instructions": ("fp16",),
    "comparison-and-selection-instructions": ("integer", "fp32"),
    "half-precision-comparison-instructions": ("fp16",),
}
# Sections of several instructions, and those that are called otherwise.
_SIMD_VIDEO = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")
_SCALAR_VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
_SHARED = {
    **dict.fromkeys(("prefetch", "prefetchu"), f"{_MOVEMENT}-prefetch-prefetchu"),
    "cp.async.wait_all": f"{_MOVEMENT}-cp-async-wait-group",
    "barrier": f"{_SYNCHRONISATION}-bar",
    "fence": f"{_SYNCHRONISATION}-membar",
    **dict.fromkeys(
        ("mbarrier.test_wait", "mbarrier.try_wait"), f"{_SYNCHRONISATION}-mbarrier-test-wait-try-wait"
    ),
    "match": f"{_SYNCHRONISATION}-match-sync",
    "wmma.load": "warp-level-matrix-instructions-wmma-ld",
    "wmma.store": "warp-level-matrix-instructions-wmma-st",
    **dict.fromkeys(_SCALAR_VIDEO, "-".join(["scalar-video-instructions", *_SCALAR_VIDEO])),
    **dict.fromkeys(("vshl", "vshr"), "scalar-video-instructions-vshl-vshr"),
    **{
        f"{name}{parts}": "-".join(["simd-video-instructions", *(f"{one}{parts}" for one in _SIMD_VIDEO)])
        for name in _SIMD_VIDEO
        for parts in (2, 4)
    },
}


def section_url(words: Sequence[str], unit: str) -> str:
    """The address of the section for an opcode with its modifiers, as its unit executes it.

    Raises KeyError if the manual has none.
    """
    for count in range(len(words), 0, -1):
        name = ".".join(words[:count])
        if name in _SHARED:
            return f"{MANUAL}#{_SHARED[name]}"
        for chapter in _chapters(name, unit):
            return f"{MANUAL}#{chapter}-{name.replace('.', '-').replace('_', '-')}"
    raise KeyError(".".join(words))


def _chapters(name: str, unit: str) -> Iterator[str]:
    """The chapters that have a section of a name for a unit."""
    for chapter, names in _CHAPTERS.items():
        if name in names.split() and unit in _UNITS.get(chapter, (unit,)):
            yield chapter
