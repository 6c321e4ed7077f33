"""C declarations of the virtual libraries' functions, made of their rows: headers of include/ end with them.

Belongs here: one header for each library, `warpglass_cublas.h`. A row says how C passes a parameter, not
what a pointer points to, so all pointers are `const void *`, which C++ takes any for. Functions that return
a type of the library's own stand in its header.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from ...libraries import LIBRARIES
from ...libraries.frame import Library, Row

# What functions of a library return unless they say otherwise, by its file of exports.
_STATUS = {
    "cublas": "cublasStatus_t",
    "cublasLt": "cublasStatus_t",
    "cufft": "cufftResult",
    "curand": "curandStatus_t",
    "cusolver": "cusolverStatus_t",
    "cusparse": "cusparseStatus_t",
}
_RETURNED = {"Address": "const char *", "Size": "size_t "}
_PASSED = {
    **dict.fromkeys(("Handle", "Address", "Device"), "const void *"),
    **{"Int": "int", "UInt": "unsigned int", "Int64": "long long", "Size": "size_t"},
    **{"Byte": "signed char", "Single": "float", "Double": "double"},
}
_NEWER = "_v2"  # what C calls without this, programs have since cuBLAS 4


def write_headers(folder: Path) -> None:
    """Write the headers into a folder."""
    for library in LIBRARIES:
        if library.file in _STATUS:
            (folder / f"warpglass_{library.file}.h").write_text(_header(library))


def _header(library: Library) -> str:
    guard = f"WARPGLASS_FUNCTIONS_{library.file.upper()}_H"
    exported = set(library.exported())
    rows = [row for name, row in library.rows.items() if name in exported]
    lines = [f"#ifndef {guard}", f"#define {guard}", "#include <stddef.h>", "#ifdef __cplusplus"]
    lines += ['extern "C" {', "#endif"]
    lines += [_declaration(row, _STATUS[library.file]) for row in rows if _returned(row) != "Int"]
    lines += ["#ifdef __cplusplus", "}", "#endif"]
    lines += [f"#define {row.name.replace(_NEWER, '')} {row.name}" for row in rows if _NEWER in row.name]
    return "\n".join([*lines, "#endif", ""])


def _declaration(row: Row, status: str) -> str:
    returned = _RETURNED.get(_returned(row), f"{status} ")
    counts = {"Count": "long long" if row.wide else "int"}
    parameters = ", ".join({**_PASSED, **counts}[word] for word in row.words)
    return f"{returned}{row.name}({parameters or 'void'});"


def _returned(row: Row) -> str:
    return str(inspect.signature(row.function).return_annotation)
