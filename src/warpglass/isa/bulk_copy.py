"""Bulk copies between global and shared memory (PTX manual, "cp.async.bulk", "cp.reduce.async.bulk").

One thread asks for a copy of any number of 16 bytes. These rows have no meaning of their own:
program/bulk_copies.py writes each as a loop of loads and stores, and of its report to a barrier object. So a
copy is complete when it is issued, as cp.async is here (async_copy.py); what waits for groups of them, and
prefetches, have nothing to do. Refused are copies by tensor maps, with byte masks and to several blocks. An
H200 takes those from shared to shared memory in launches of clusters only.
"""

from __future__ import annotations

from .hints import hinted
from .table import add_row

COPY = "bulk copy"
_BYTES = "mbarrier::complete_tx::bytes"
_IN, _OUT = "[a]:u32, [b]:u64, size:u32, [c]:u32", "[a]:u64, [b]:u32, size:u32"
_WITHIN = "[a]:u32, [b]:u32, size:u32, [c]:u32"
# What a reduction makes of elements, and their types.
_REDUCTIONS = {
    ".op.type": (
        ("and or xor", "b32 b64"),
        ("add", "u32 s32 u64 f32 f64"),
        ("inc dec", "u32"),
        ("min max", "u32 s32 u64 s64"),
    ),
    ".op.noftz.type": (("add", "f16 bf16"),),
}
_REDUCTIONS_WITHIN = (
    ("and or xor", "b32"),
    ("add", "u32 s32 u64"),
    ("inc dec", "u32"),
    ("min max", "u32 s32"),
)

_TARGETS = "shared::cluster shared::cta"
for _notation in hinted(f"cp.async.bulk.target.global.{_BYTES}", "", _IN):
    add_row(_notation, target=_TARGETS, unit="memory", control=COPY)
for _notation in hinted("cp.async.bulk.global.shared::cta.bulk_group", "", _OUT):
    add_row(_notation, unit="memory", control=COPY)
add_row(f"cp.async.bulk.shared::cluster.shared::cta.{_BYTES}  {_WITHIN}", unit="memory", control=COPY)
for _ending, _choices in _REDUCTIONS.items():
    for _op, _type in _choices:
        for _notation in hinted("cp.reduce.async.bulk.global.shared::cta.bulk_group", _ending, _OUT):
            add_row(_notation, op=_op, type=_type, unit="memory", control=COPY)
for _op, _type in _REDUCTIONS_WITHIN:
    add_row(
        f"cp.reduce.async.bulk.shared::cluster.shared::cta.{_BYTES}.op.type  {_WITHIN}",
        op=_op,
        type=_type,
        unit="memory",
        control=COPY,
    )

add_row("cp.async.bulk.commit_group", unit="memory", control="hint")
add_row("cp.async.bulk.wait_group{.read}  n:u32", unit="memory", control="hint")
for _notation in hinted("cp.async.bulk.prefetch.L2.global", "", "[a]:u64, size:u32"):
    add_row(_notation, unit="memory", control="hint")
