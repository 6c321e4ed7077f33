"""Launches the cases of a plan in order: python more_run.py PLAN LINES, a JSON line for each in LINES.

A plan is a list of rows: the file of cases and a case's id, its machine code and entry, and whether to say
what the launch left in the arrays. The process ends with status 3 at a failure that loses the context; the
cases after it are for another process.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from more_launch import Case, parameter_values, read_cases

_ATTRIBUTES = {
    "registers": "CU_FUNC_ATTRIBUTE_NUM_REGS",
    "static_shared": "CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES",
    "local": "CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES",
}


def main() -> None:
    """Launch and report."""
    plan, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    driver: Any = importlib.import_module("cuda.bindings.driver")

    def do(function: str, *args: Any) -> Any:
        status, *results = getattr(driver, function)(*args)
        if int(status):
            raise RuntimeError(f"{function}: {status.name}")
        return results[0] if len(results) == 1 else tuple(results)

    do("cuInit", 0)
    do("cuCtxSetCurrent", do("cuDevicePrimaryCtxRetain", 0))
    modules: dict[str, Any] = {}
    with out.open("a") as lines:
        for row in plan:
            case = next(case for case in read_cases(Path(row["cases"])) if case.id == row["id"])
            try:
                if row["image"] not in modules:
                    modules[row["image"]] = do("cuModuleLoadData", Path(row["image"]).read_bytes())
                function = do("cuModuleGetFunction", modules[row["image"]], row["entry"].encode())
                found = launch(driver, do, function, case, row["check"])
            except RuntimeError as error:
                found = {"failure": str(error)}
            lines.write(json.dumps({"id": row["id"], **found}) + "\n")
            lines.flush()
            if "failure" in found and driver.cuCtxSynchronize()[0] != driver.CUresult.CUDA_SUCCESS:
                sys.exit(3)


def launch(driver: Any, do: Any, function: Any, case: Case, check: bool) -> dict[str, Any]:
    """Launch a case once from fresh arguments; with `check`, say what it left in its arrays."""
    found = {
        word: do("cuFuncGetAttribute", getattr(driver.CUfunction_attribute, name), function)
        for word, name in _ATTRIBUTES.items()
    }
    arguments = case.arguments()
    arrays = [value for value in arguments if isinstance(value, np.ndarray)]
    pointers = [do("cuMemAlloc", max(array.nbytes, 4)) for array in arrays]
    for array, pointer in zip(arrays, pointers, strict=True):
        do("cuMemcpyHtoD", pointer, array.ctypes.data, array.nbytes)
    values = parameter_values(case, arguments, list(map(int, pointers)))
    cells = [np.array([value]) for value in values]
    places = (ctypes.c_void_p * len(cells))(*(cell.ctypes.data for cell in cells))
    if case.shared > 48 << 10:
        most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        do("cuFuncSetAttribute", function, most, case.shared)
    do("cuLaunchKernel", function, *case.grid, *case.block, case.shared, 0, ctypes.addressof(places), 0)
    do("cuCtxSynchronize")
    if check:
        for array, pointer in zip(arrays, pointers, strict=True):
            do("cuMemcpyDtoH", array.ctypes.data, pointer, array.nbytes)
        found["sums"] = [float(array.astype("f8").sum()) for array in arrays]
        found["crc32"] = [zlib.crc32(array.tobytes()) for array in arrays]
    for pointer in pointers:
        do("cuMemFree", pointer)
    return found


if __name__ == "__main__":
    main()
