"""What is left to a kernel that wastes nothing: the way on from what limits it by the model of times."""

from __future__ import annotations

from collections.abc import Mapping

from ...models.kernel_time import LAUNCH, WORDS

_FEWER = "execute fewer instructions: more elements a thread, less arithmetic for addresses"
_BY_LIMITER: Mapping[str, str] = {
    "issue": _FEWER,
    "integer": _FEWER,
    "multiply": _FEWER,
    "fp32": "that is the top of the roofline; tensor cores and smaller types have a higher one",
    "fp64": "float, where it suffices, is faster on every GPU",
    "special": "fewer calls of functions such as expf and sinf, or tables of their values",
    "access": "wider accesses: float4 in place of four floats",
    "shared": "keep in registers what is loaded from shared memory or L1 again and again",
    "tags": "fewer lines an access: neighbouring elements, wider accesses",
    "l2": "keep in shared memory or registers what threads share, so that fewer bytes come from L2",
    "dram": "move fewer bytes: smaller types, or one kernel for several passes over the data",
    "latency": "have more loads under way: several elements a thread, more warps",
    "barriers": "fewer barriers: __syncwarp or shuffles where only a warp's lanes talk",
    "blocks": "fewer blocks with more work each",
}
WHAT_IS_LEFT: Mapping[str, str] = {
    LAUNCH: "do more in one launch, with larger data or one kernel in place of several",
    **{WORDS[name]: text for name, text in _BY_LIMITER.items()},
}
