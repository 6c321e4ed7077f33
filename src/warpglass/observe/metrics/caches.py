"""Metrics of the second-level cache and of DRAM; there only if the caches were simulated or measured."""

from __future__ import annotations

from .table import metric

for _verb, _past in (("read", "read from"), ("write", "written to")):
    metric(
        f"l2_{_verb}_transactions",
        "",
        f"32-byte sectors {_past} the second-level cache, atomics included",
        {f"lts__t_sectors_op_{_verb}.sum": 1.0, "lts__t_sectors_op_atom.sum": 1.0},
    )
    metric(
        f"l2_tex_{_verb}_transactions",
        "",
        f"32-byte sectors that multiprocessors have {_past} the second-level cache",
        f"lts__t_sectors_srcunit_tex_op_{_verb}.sum",
    )
    metric(f"dram_{_verb}_transactions", "", f"32-byte sectors {_past} DRAM", f"dram__sectors_{_verb}.sum")
    metric(f"dram_{_verb}_bytes", "bytes", f"bytes {_past} DRAM", f"dram__bytes_{_verb}.sum")
metric(
    "tex_cache_hit_rate",
    "%",
    "sectors that the first-level cache had, of those asked of it",
    "l1tex__t_sector_hit_rate.pct",
)
metric(
    "l2_tex_hit_rate",
    "%",
    "sectors that the second-level cache had, of those asked of it",
    "lts__t_sector_hit_rate.pct",
)
