"""Traffic of the caches and of DRAM, as the simulated caches of models/caches.py see it; always modelled.

These counters are there only if the caches were simulated.
"""

from __future__ import annotations

from ...records.profile import Subject
from .table import declare

_TEXTS = {
    "l1tex__t_sector_hit_rate.pct": ("sectors that the first-level cache had, of those asked of it", "%"),
    "lts__t_sectors_op_read.sum": ("sectors read from the second-level cache", "sector"),
    "lts__t_sectors_op_write.sum": ("sectors written to the second-level cache", "sector"),
    "lts__t_sectors_op_atom.sum": ("sectors of atomics at the second-level cache", "sector"),
    "lts__t_sectors_srcunit_tex_op_read.sum": (
        "sectors that multiprocessors read from the second-level cache",
        "sector",
    ),
    "lts__t_sectors_srcunit_tex_op_write.sum": (
        "sectors that multiprocessors write to the second-level cache",
        "sector",
    ),
    "lts__t_sector_hit_rate.pct": ("sectors that the second-level cache had, of those asked of it", "%"),
    "dram__sectors_read.sum": ("32-byte sectors read from DRAM", ""),
    "dram__sectors_write.sum": ("32-byte sectors written to DRAM", ""),
    "dram__bytes_read.sum": ("bytes read from DRAM", ""),
    "dram__bytes_write.sum": ("bytes written to DRAM", ""),
}
declare(Subject.CACHES, {name: (*words, None) for name, words in _TEXTS.items()}, machine=True)
