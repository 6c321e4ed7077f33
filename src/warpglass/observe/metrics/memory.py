"""Metrics of memory traffic: transactions, requests, how well they are used."""

from __future__ import annotations

from .table import metric

for _nvprof, _kind, _what in (("gld", "ld", "load"), ("gst", "st", "store")):
    _pipe = f"pipe_lsu_mem_global_op_{_kind}"
    metric(f"global_{_what}_requests", "", f"global {_what} requests", f"l1tex__t_requests_{_pipe}.sum")
    metric(
        f"{_nvprof}_transactions", "", f"32-byte sectors of global {_what}s", f"l1tex__t_sectors_{_pipe}.sum"
    )
    metric(
        f"{_nvprof}_transactions_per_request",
        "",
        f"sectors per global {_what} request: 4 where 32 threads take 4 bytes each side by side",
        f"l1tex__t_sectors_{_pipe}.sum",
        f"l1tex__t_requests_{_pipe}.sum",
    )
    metric(
        f"{_nvprof}_efficiency",
        "%",
        f"bytes that global {_what}s ask for, of those in the sectors that they touch",
        f"smsp__sass_data_bytes_mem_global_op_{_kind}.sum",
        {f"l1tex__t_sectors_{_pipe}.sum": 32.0},
        100,
    )
    metric(
        f"{_nvprof}_requested_bytes",
        "bytes",
        f"distinct bytes that global {_what}s ask for",
        f"smsp__sass_data_bytes_mem_global_op_{_kind}.sum",
    )
    _local = f"pipe_lsu_mem_local_op_{_kind}"
    metric(f"local_{_what}_requests", "", f"local {_what} requests", f"l1tex__t_requests_{_local}.sum")
    metric(
        f"local_{_what}_transactions",
        "",
        f"32-byte sectors of local {_what}s",
        f"l1tex__t_sectors_{_local}.sum",
    )
    metric(
        f"local_{_what}_transactions_per_request",
        "",
        f"sectors per local {_what} request",
        f"l1tex__t_sectors_{_local}.sum",
        f"l1tex__t_requests_{_local}.sum",
    )
    _waves = f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{_kind}.sum"
    metric(f"shared_{_what}_transactions", "", f"wavefronts of shared {_what}s", _waves)
    metric(
        f"shared_{_what}_transactions_per_request",
        "",
        f"wavefronts per shared {_what} instruction: 1 without bank conflicts at 4 bytes a thread",
        _waves,
        f"smsp__inst_executed_op_shared_{_kind}.sum",
    )
    metric(
        f"shared_{'ld' if _kind == 'ld' else 'st'}_bank_conflict",
        "",
        f"wavefronts of shared {_what}s beyond those needed without bank conflicts",
        f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{_kind}.sum",
    )

metric(
    "shared_bank_conflicts",
    "",
    "wavefronts of shared memory beyond those needed without bank conflicts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
)
metric(
    "shared_efficiency",
    "%",
    "bytes that shared accesses ask for, of 128 a wavefront",
    "smsp__sass_data_bytes_mem_shared.sum",
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": 128.0},
    100,
)
metric(
    "atomic_transactions",
    "",
    "128-byte lines of global atomics, counted once a request",
    {
        "l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum": 1.0,
        "l1tex__t_set_accesses_pipe_lsu_mem_global_op_red.sum": 1.0,
    },
)
metric(
    "atomic_transactions_per_request",
    "",
    "lines per global atomic request",
    {
        "l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum": 1.0,
        "l1tex__t_set_accesses_pipe_lsu_mem_global_op_red.sum": 1.0,
    },
    {
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum": 1.0,
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum": 1.0,
    },
)
