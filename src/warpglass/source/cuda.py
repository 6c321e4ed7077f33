"""CUDA C++ kernels: text, entry name and options in, PTX out.

Belongs here: how an entry's name is found, what a compilation is keyed by, and what the user reads when it
fails. The compiler itself is nvrtc.py; reading C++ text is cpp_text.py. A name goes to NVRTC as a name
expression, which makes it instantiate templates and tell the mangled name. Compiling happens at once, so that
a mistake shows where the file is named.

A file that NVRTC refuses for its host code is compiled as a whole by nvcc.py, if there is a C++ compiler.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..errors import CompileError, Diagnostic, UnknownKernel
from ..host.source_lines import TEXT_FILE
from ..records.spelling import did_you_mean
from . import cpp_text, mangled, nvcc, nvrtc, ptx, signature, store
from .apart import FOLDER
from .cache import digest
from .compiled import Argument, Compiled, CType, DeclaredKernel, FixedSource
from .cpp_types import parameter_type
from .device_code import STAND_INS, device_only
from .headers import reachable_headers
from .includes import refuse_outside
from .relocate import Layout

_POSITION_IN_CODE = re.compile(r"__FILE__|\bassert\b|source_location|__builtin_FILE")
_GUESSES = 8  # at what is host code, each after what the compiler refused at the one before
_MOST_VARIABLES = 100  # whose types are asked for
_HOST_HINT = (
    "Host code and its headers need a C++ compiler on this machine (g++ or clang++), which was not found; or "
    "put them between `#ifndef __CUDACC_RTC__` and `#endif`"
)
_FOLDER_HINT = "Name the folders of headers with options=('-I', 'folder'), on the command line with -I folder"
# What NVRTC says of host code, and what only host code has.
_HOST_REFUSAL = re.compile(r"not open source file|host function|in JIT mode|<<<")
_MISSING = re.compile(r"not open source file|No such file or directory|file not found")
_HOST_CODE = re.compile(r"<<<|\bmain\s*\(|\bcuda[A-Z]\w+\s*\(")


@dataclass(frozen=True, slots=True)
class _Job:
    """One compilation: everything that goes into it."""

    text: str
    file: str  # as NVRTC is told
    name: str  # as the user wrote it; "" for the only one
    target: str
    options: tuple[str, ...]  # without include folders
    include: tuple[str, ...]  # the user's folders, absolute
    headers: tuple[tuple[str, str], ...] = ()  # the user's own, as far as they can be told: name and content

    @property
    def texts(self) -> tuple[str, ...]:
        """The text and its own headers."""
        return self.text, *(content for _, content in self.headers)

    @property
    def shown(self) -> str:
        return self.file if self.file == TEXT_FILE else os.path.relpath(self.file)


def load_cuda(
    text: str, path: Path | None, name: str | None, *, target: str, options: tuple[str, ...]
) -> FixedSource:
    """Return the kernel `name` of `text`, which is the content of `path` if there is one.

    `name` is a C++ name or a template's name with arguments; None means the only kernel of the file.
    Raises CompileError with the compiler's messages, or with the names of the kernels there are.
    """
    folder = str(FOLDER if path is None else path.parent.resolve())
    file = TEXT_FILE if path is None else str(Path(folder, path.name))
    include, plain = _split_options(options)
    own = () if path is None else (folder,)
    refuse_outside(text, file, folder, (*include, *own), nvrtc.header_folders())
    layout = Layout(roots=tuple(dict.fromkeys((file, *own, *include, *nvrtc.header_folders()[:1]))))
    headers = reachable_headers(text, folder, include)
    job = _Job(text, file, (name or "").strip(), target, plain, include, headers or ())
    kept = text if path is None else ""
    if headers is None:
        return FixedSource(replace(_build(job), text=kept))
    content = [part for header in headers for part in header]
    if any(_POSITION_IN_CODE.search(part) for part in (text, *content[1::2])):
        content.append(file)  # its path is part of the program
    spelled = re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(job.name.split()))
    key = digest("cuda", text, spelled, target, repr((plain, len(own) + len(include))), *content)
    compiled = store.obtain(key, nvrtc.version(), layout, lambda: _build(job))
    return FixedSource(replace(compiled, text=kept) if kept else compiled)


def declared_in_cuda(text: str, path: Path) -> tuple[DeclaredKernel, ...]:
    """The kernels that a file and its own headers declare."""
    folder = str(path.parent.resolve())
    headers = reachable_headers(text, folder, ()) or ()
    return tuple(
        DeclaredKernel(
            kernel.name + ("<...>" if kernel.template else ""),
            "..." if kernel.parameters is None else ", ".join(map(str, kernel.parameters)),
            kernel.line,
            file,
        )
        for file, content in (("", text), *headers)
        for kernel in cpp_text.find_kernels(content)
    )


def _split_options(options: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (include folders, other options)."""
    include, plain = list[str](), list[str]()
    queue = list(options)
    while queue:
        option = queue.pop(0)
        flag = re.match(r"(?:-I|--include-path=?)(.*)$", option, re.DOTALL)
        if flag:
            folder = flag[1] or (queue.pop(0) if queue else "")
            include.append(str(Path(folder.strip()).resolve()))
        elif option in ("-D", "--define-macro", "-U", "-std", "--std", "-include") and queue:
            plain.append(option + ("" if option in ("-D", "-U") else "=") + queue.pop(0))
        elif re.fullmatch(
            r"-O[0-3]|--?extended-lambda|--?expt-(?:extended-lambda|relaxed-constexpr)", option
        ):
            continue  # what ptxas does, which comes later; what nvcc gets anyway
        elif re.match(r"-arch|--gpu-architecture|--gpu-code|-gencode", option):
            raise CompileError(f"option {option}: the architecture is chosen with target=, such as 'sm_90'")
        else:
            plain.append(option)
    return tuple(include), tuple(plain)


def _build(job: _Job) -> Compiled:
    kernels = cpp_text.find_kernels(*job.texts)
    expression = _expression(job, kernels)
    if not re.fullmatch(r"sm_\d+[af]?", job.target):
        raise CompileError(f"target {job.target!r}: expected a form such as 'sm_90'")
    cuda = nvrtc.header_folders()
    if not cuda and "#" in job.text and re.search(r"#\s*include", job.text):
        cuda_missing = "CUDA's headers are not installed: `pip install " + " ".join(nvrtc.WHEELS[1:]) + "`"
    else:
        cuda_missing = ""
    standard = () if any(re.match(r"--?std\b", option) for option in job.options) else ("-std=c++17",)
    options = (
        f"--gpu-architecture={job.target.replace('sm_', 'compute_')}",
        "-lineinfo",
        *standard,
        *job.options,
        *(f"-I{folder}" for folder in (*job.include, *cuda)),
    )
    try:
        result, answers = _compile_anyhow(job, expression, options)
    except nvrtc.Refused as refusal:
        raise _explain(job, kernels, refusal, cuda_missing) from None
    text = result.ptx
    if job.file == TEXT_FILE:
        text = text.replace(f'"{FOLDER / TEXT_FILE}"', f'"{TEXT_FILE}"')
    entry = result.lowered or ptx.choose_entry(text, job.name or None, job.shown)
    if entry not in ptx.entry_names(text):
        raise _no_such_kernel(job, kernels)
    name = job.name or (expression if expression else entry)
    types = next((records for asked, records in answers.items() if asked.is_kernel), ())
    arguments = _arguments(text, entry, expression, kernels, types)
    elements = {
        asked.name: records[0].variable()
        for asked, records in answers.items()
        if records and not asked.is_kernel
    }
    variables = ptx.module_variables(text, elements)
    return Compiled(text, entry, name, "cuda", arguments, result.warnings, variables=variables)


_Compiler = Callable[[str, str, str, tuple[str, ...]], nvrtc.Result]
_Outcome = tuple[nvrtc.Result, Mapping[signature.Question, tuple[signature.Record, ...]]]


def _compile_anyhow(job: _Job, expression: str, options: tuple[str, ...]) -> _Outcome:
    """Compile with NVRTC, and what it refuses for host code with nvcc. Raises nvrtc.Refused."""
    try:
        return _compile(nvrtc.compile_program, job, expression, options)
    except nvrtc.Refused as refusal:
        theirs = any(_HOST_REFUSAL.search(error.message) for error in refusal.errors)
        if not nvrtc.header_folders() or not (theirs or _HOST_CODE.search(job.text)):
            raise
        if nvcc.find() is None:
            return _compile_device_code(job, expression, options, refusal)
    return _compile(nvcc.compile_program, job, expression, options)


def _compile_device_code(
    job: _Job, expression: str, options: tuple[str, ...], refusal: nvrtc.Refused
) -> _Outcome:
    """Compile what is left without host code, as far as it can be told; raises nvrtc.Refused."""
    last = refusal
    blamed: dict[str, set[int]] = {Path(name).name: set() for name in (job.file, *dict(job.headers))}
    for _ in range(_GUESSES):
        rest = replace(job, text=device_only(job.text, blamed[Path(job.file).name]))
        own = {name: device_only(content, blamed[Path(name).name]) for name, content in job.headers}
        own |= {Path(name).name: content for name, content in own.items()}
        compiler = partial(nvrtc.compile_program, stand_ins={**STAND_INS, **own})
        try:
            return _compile(compiler, rest, expression, (*options, "-default-device"))
        except nvrtc.Refused as again:
            last, before = again, sum(map(len, blamed.values()))
            for error in again.errors:
                if (name := Path(error.file or "").name) in blamed:
                    blamed[name].add(error.line or 0)
            if sum(map(len, blamed.values())) == before:
                break
    raise last


def _compile(compiler: _Compiler, job: _Job, expression: str, options: tuple[str, ...]) -> _Outcome:
    """Compile, and learn the types of parameters and variables in passing, as far as they can be told.

    Raises nvrtc.Refused.
    """
    debug = any(re.match(r"-G$|--device-debug", option) for option in job.options)  # names what we take out
    names = cpp_text.find_variables(*job.texts)[:_MOST_VARIABLES]
    questions = tuple(signature.Question(name, False) for name in names)
    if expression:
        questions = (signature.Question(expression, True), *questions)
    if debug:
        questions = ()
    while True:
        try:
            text = job.text + signature.text_of(questions)
            result = compiler(text, job.file, expression, options)
            break
        except nvrtc.Refused as refusal:
            ours = {error.line or 0 for error in refusal.errors if error.file == signature.FILE}
            if not ours:
                raise
            questions = signature.without(questions, ours)
    ptx_text, found = signature.answers(result.ptx, questions)
    return replace(result, ptx=ptx_text), found


def _expression(job: _Job, kernels: tuple[cpp_text.KernelDeclaration, ...]) -> str:
    """Return the name expression for NVRTC; "" leaves the choice to the entries of the PTX."""
    if job.name.startswith("_Z"):
        return ""  # already mangled
    if job.name:
        base, _, rest = job.name.partition("<")
        inside = {k.name for k in kernels if k.name.endswith("::" + base.strip())}
        outside = any(k.name == base.strip() for k in kernels)
        if len(inside) == 1 and not outside:  # the namespace may be left out where that is clear
            return inside.pop() + ("<" + rest if rest else "")
        return job.name
    if len(kernels) > 1 or any(kernel.template for kernel in kernels):
        raise _no_such_kernel(job, kernels)
    return kernels[0].name if kernels else ""


def _no_such_kernel(
    job: _Job, kernels: tuple[cpp_text.KernelDeclaration, ...], reason: str = ""
) -> CompileError:
    base = job.name.partition("<")[0].strip()
    listed = (
        ", ".join(dict.fromkeys(k.name + ("<...>" if k.template else "") for k in kernels)) or "none found"
    )
    templates = [k for k in kernels if k.template and (k.name == base or k.name.endswith("::" + base))]
    if not job.name:
        problem = "name the kernel to load"
    elif templates and "<" not in job.name:
        problem = f"{base} is a template: give its arguments, such as {base}<256>"
    elif any(k.name == base or k.name.endswith("::" + base) for k in kernels):
        problem = f"cannot form {job.name}" + (f" ({reason})" if reason else "")
    else:
        problem = f"no kernel named {job.name}{did_you_mean(base, [k.name for k in kernels])}"
    return UnknownKernel(f"{job.shown}: {problem}; kernels in the file: {listed}")


def _explain(
    job: _Job, kernels: tuple[cpp_text.KernelDeclaration, ...], refusal: nvrtc.Refused, cuda_missing: str
) -> CompileError:
    """Turn NVRTC's log into an error in the user's terms."""
    errors = tuple(error for error in refusal.errors if error.file not in (nvrtc.NAME_MAP, nvcc.MARK))
    if refusal.errors and not errors:
        return _no_such_kernel(job, kernels, refusal.errors[0].message)
    if not refusal.errors:
        return CompileError(f"{job.shown}: the compiler refused it\n{refusal.log}")
    found = tuple(_with_text(job, error) for error in (*errors, *refusal.warnings))
    count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
    hint = ""
    missing = [error.message for error in errors if _MISSING.search(error.message)]
    if any(re.search(r"\bcurand\w*\.h", message) for message in missing):
        hint = f"cuRAND's device headers come with `pip install {nvrtc.CURAND}`"
    elif missing:
        hint = cuda_missing or (_FOLDER_HINT if nvcc.find() else _HOST_HINT)
    elif nvcc.find() is None and _HOST_CODE.search(job.text):
        hint = _HOST_HINT
    return CompileError(f"{job.shown}: {count} in CUDA C++" + (f". {hint}" if hint else ""), found)


def _with_text(job: _Job, found: Diagnostic) -> Diagnostic:
    """Fill in the line's text, as it stands in the file, where the log lacks it."""
    lines = job.text.splitlines()
    if found.text is None and found.file == job.file and found.line and found.line <= len(lines):
        return replace(found, text=lines[found.line - 1])
    return found


def _arguments(
    text: str,
    entry: str,
    expression: str,
    kernels: tuple[cpp_text.KernelDeclaration, ...],
    types: tuple[signature.Record, ...],
) -> tuple[Argument, ...]:
    """Name the PTX parameters after the C++ ones where the text can be read, else by their number.

    `types` are the compiler's; without them, what the text and a mangled name say has to do.
    """
    declared = ptx.entry_parameters(text, entry)
    base = expression.partition("<")[0].strip().removeprefix("::") or entry
    written: tuple[cpp_text.Parameter, ...] = ()
    for kernel in kernels:
        if kernel.name == base and kernel.parameters and len(kernel.parameters) == len(declared):
            written = kernel.parameters
            break
    known = tuple(record.parameter() for record in types) or mangled.parameter_types(entry)
    if not known:
        known = tuple(_written_type(parameter) for parameter in written)
    if len(known) != len(declared):
        known = (None,) * len(declared)
    arguments = list[Argument]()
    for index, kind in enumerate(declared):
        parameter = written[index] if written else cpp_text.Parameter("", None)
        told = known[index]
        pointer = parameter.pointer if kind in ("u64", "b64") else False
        if told is not None and pointer is None and (told.pointer or told.kind):
            pointer = told.pointer  # a typedef, or a parameter that a macro declares
        fields = ("any",) if pointer is None else ("pointer",) if pointer else ("value",)
        ndim = 0 if pointer is False else None
        arguments.append(
            Argument(parameter.name or f"argument {index + 1}", fields, ndim=ndim, declared=told)
        )
    return tuple(arguments)


def _written_type(parameter: cpp_text.Parameter) -> CType | None:
    """The type of a parameter as the text has it; None unless it is one that C++ itself names."""
    found = parameter_type(re.sub(r"\s*\b__restrict(?:__)?\b\s*", " ", parameter.type).strip())
    return found if found.kind else None
