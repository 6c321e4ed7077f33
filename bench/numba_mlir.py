"""Which of numba-cuda's tests make sense through numba-cuda-mlir, by rules that hold for all, and their page.

A test is left out before it runs if its text says that it is about numba-cuda's compiler itself. One that is
run is set apart if numba-cuda-mlir does not make a kernel of its program: nothing then reaches a device.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import traceback
import unittest
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

# What a test's text has, with the methods of its class that it calls, and what such tests are about.
LEFT_OUT = (
    (
        r"inspect_(asm|llvm|sass|lto)|get_llvm_str|assertFileCheck|compile_(ptx|all|for)|DUMP_",
        "looks at the text of generated code",
    ),
    (
        r"(Typing|Lowering|UnsupportedBytecode|NumbaType|NumbaValue)Error|too_many_args",
        "expects certain words of numba-cuda's compiler on what it refuses",
    ),
)
# Why tests fail: what their name has, and what is behind it. Where warpglass is not named it is in the PTX
# and the parameters that numba-cuda-mlir hands over, and a GPU does the same (docs/numba-cuda-mlir.md).
REASONS = (
    ("test_nan(max|min)", "`!=` with a NaN is false"),
    ("atomic_(max|min)_nan_location", "a NaN in memory is replaced (`setp.num` before the loop's exit)"),
    ("test_round_", "halves are rounded away from zero, not to even (`copysign`, `add.rz`, `cvt.rzi`)"),
    ("test_issue_9229", "indices are computed in 32 bits (`mad.lo.s32`)"),
    ("test_hexp10", "hexp10 is exp of a product in half precision (`mul.f16`)"),
    ("zero_division_error|divf_exception", "a division by zero is no exception with debug=True either"),
    ("test_exception.TestException.test_exception", "the message of an exception is lost"),
    ("test_user_exception", "an exception of the user's own class becomes RuntimeError"),
    ("test_lock", "one list of arrays to copy back for all threads; arrays on the device are right"),
    ("same_type_class", "Python numbers are passed as float32 without being converted"),
    ("signatures_device_unsafe", "arguments are not converted to the signature of a device function"),
    ("get_const_mem_unspecialized", "format strings are in global memory, not in constant memory"),
    ("cannot_cache_global_device_array", "nothing keeps device arrays out of the cache"),
    ("record_alignment_error", "records that are not aligned are taken"),
    ("test_const_array_3d", "strides of complex arrays that are not contiguous are counted twice"),
    ("device_func_as_kernel", "the package loses its own message"),
    ("false_cooperative_doesnt_link", "looks at an attribute of numba-cuda's dispatcher"),
    ("cpointer_arguments", "the test reads x[10] of 10 elements; a GPU does not notice"),
    ("test_activemask", "one `activemask.b32` before the branch for those of both its sides"),
    ("test_shfl_sync_types", "64-bit values are shuffled as 32-bit ones"),
    ("test_serialize", "its dispatchers cannot be pickled"),
    ("EnumTest.test_compare", "enumerations of tuples are not supported"),
    ("test_module_callbacks.*test_basic", "callbacks get an object of its own, not one of cuda.core"),
    ("test_nvvm_bad_option", "has no error of that name"),
    (
        "core_stream_launch",
        "an array made on a stream of cuda.core cannot be passed on (`int()` of the stream)",
    ),
    ("device_arch_specific", "needs tensor maps (TMA), which warpglass does not support"),
    ("test_ipc", "cuda-bindings 13.5 has no CUipcMemHandle.reserved: fails on a GPU as well"),
    (
        "doc_examples.test_laplace",
        "takes warpglass longer than the limit: 10,000 steps, and 11 grid barriers to compile",
    ),
    ("doc_examples.test_random", "2,097,152 states are made in Python, one by one, before any launch"),
)
# Files of numba_cuda_mlir that talk to the driver; an error from there is no refusal of a program.
DRIVER = re.compile(r"/numba_cuda/cudadrv/(?!nvvm|nvrtc)|/numba_cuda/tests/")
LAUNCHES = ("descriptor.py", "_launch")  # where the launcher, which is in C, raises its errors


def left_out(test: Any) -> str:
    """What a test is about that has no counterpart in numba-cuda-mlir; empty if it is to run."""
    text = _text(test)
    return next((why for pattern, why in LEFT_OUT if re.search(pattern, text)), "")


def _text(test: Any) -> str:
    """The source of a test and of the methods of its class that it calls, directly or not."""
    if isinstance(test, unittest.FunctionTestCase):
        return inspect.getsource(vars(test)["_testFunc"])
    found: dict[str, str] = {}
    names = [str(vars(test)["_testMethodName"])]
    while names:
        name = names.pop()
        method = getattr(type(test), name, None)
        if name in found or not inspect.isfunction(method) or "/tests/" not in inspect.getfile(method):
            continue
        found[name] = inspect.getsource(method)
        names += re.findall(r"\bself\.(\w+)", found[name])
    return "\n".join(found.values())


def refusal(error: BaseException) -> str:
    """Why numba-cuda-mlir makes no kernel of a program, if that is what an error says; otherwise empty."""
    if type(error).__name__ == "AbsentError":
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    if last is None or "/numba_cuda_mlir/" not in last.filename or DRIVER.search(last.filename):
        return ""
    if last.filename.endswith(LAUNCHES[0]) and last.name == LAUNCHES[1]:
        return ""
    return first_sentence(error)


def first_sentence(error: BaseException) -> str:
    """The line of a message that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(("Failed in", "Internal compiler error"))]
    return f"{type(error).__name__}: {(said or lines or [''])[0][:140]}"


Lines = Iterable[dict[str, Any]]
GOOD = ("passed", "expected failure")


def page(lines: Lines) -> str:
    """The page of what became of each test."""
    lines = sorted(lines, key=lambda line: line["test"])
    counts = Counter(line["outcome"] for line in lines)
    apart = ("skipped", "left out", "refused")
    failed = [line for line in lines if line["outcome"] not in (*GOOD, *apart)]
    passed = sum(counts[name] for name in GOOD)
    text = [
        "# numba-cuda's tests through numba-cuda-mlir, on the virtual GPU",
        "",
        "Written by `python bench/numba_suite.py --package numba-cuda-mlir --page docs/numba-mlir-tests.md`;",
        "see [numba-cuda-mlir](numba-cuda-mlir.md). numba-cuda's files are loaded as they are, with",
        "`numba.cuda` another name of `numba_cuda_mlir.cuda` (bench/numba_port).",
        "",
        f"numba-cuda {importlib.metadata.version('numba-cuda')}'s tests, numba-cuda-mlir "
        f"{importlib.metadata.version('numba-cuda-mlir')}: **{passed} of {passed + len(failed)} pass "
        f"({100 * passed / (passed + len(failed)):.1f}%)**.",
        "",
        *("| of all tests | | |", "|---|---|---|"),
        f"| {len(lines)} | in cudapy, cudadrv and doc_examples | |",
        f"| {counts['left out']} | are about numba-cuda's compiler | left out unseen, by two rules |",
        f"| {counts['skipped']} | skip themselves | |",
        f"| {counts['refused']} | use what numba-cuda-mlir lacks, or cannot compile | there is no kernel |",
        f"| {passed + len(failed)} | run | {passed} pass ({counts['expected failure']} expected failures) |",
        "",
        "## What does not pass",
        "",
        *("| test | outcome | why |", "|---|---|---|"),
        *(f"| `{_name(line)}` | {line['outcome']} | {_reason(line)} |" for line in failed),
    ]
    text += _by_reason("What numba-cuda-mlir does not have or cannot compile", lines, "refused")
    text += _by_reason("What is left out", lines, "left out")
    text += _by_reason("What skips itself", lines, "skipped")
    return "\n".join(text) + "\n"


def _name(line: dict[str, Any]) -> str:
    return line["test"].removeprefix("numba.cuda.tests.")


def _reason(line: dict[str, Any]) -> str:
    for pattern, why in REASONS:
        if re.search(pattern, line["test"]):
            return why
    said = [part.strip() for part in line["why"].splitlines() if part.strip()]
    return said[-1][:160].replace("|", "/") if said else "no message"


def _by_reason(title: str, lines: Lines, outcome: str) -> Iterator[str]:
    """A section of the tests with an outcome: how many for which reason, and in which files."""
    files: dict[str, Counter[str]] = {}
    for line in lines:
        if line["outcome"] == outcome:
            why = re.sub(r"\$[\w.]+|0x[0-9a-f]+", "...", line["why"] or "no reason given").replace("|", "/")
            why = why.replace("](", "\\](")  # no link
            files.setdefault(why, Counter())[".".join(_name(line).split(".")[:2])] += 1
    yield from ("", f"## {title}", "", "| tests | why | in |", "|---|---|---|")
    for why, found in sorted(files.items(), key=lambda item: -item[1].total()):
        where = ", ".join(f"{file} ({count})" if count > 1 else file for file, count in sorted(found.items()))
        yield f"| {found.total()} | {why} | {where} |"
