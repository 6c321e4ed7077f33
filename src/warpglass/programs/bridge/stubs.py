"""The tables and the assembly of the bridge: one slot and one stub for each function of the CUDA libraries.

Belongs here: the text of tables.h and of the stubs. A stub of a library is a jump through its slot; a slot
that is not filled leads to its entry in the preloaded library, which keeps the registers of arguments, has
bridge.c bring Python in and jumps through the slot again.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PRELOADED = "libwarpglass.so"
DRIVER = "libcuda.so.1"
INCLUDE = "include"  # the folder of headers beside the libraries
SLOTS = "warpglass_slots"


@dataclass(frozen=True, slots=True)
class Library:
    """A library of NVIDIA's as programs name it, and the functions that it exports."""

    soname: str
    names: tuple[str, ...]


def tables(libraries: Sequence[Library], texts: Mapping[str, str]) -> str:
    """tables.h: what bridge.c must know, its texts by their names included."""
    lines = [f"#define {name} {json.dumps(text, ensure_ascii=False)}" for name, text in texts.items()]
    lines.append("struct function { const char *name; unsigned slot; };")
    lines.append("struct runtime { const struct function *functions; size_t count; };")
    first = 0
    for library in libraries:
        release = library.soname.rpartition(".")[2]
        if library.soname.startswith("libcudart"):
            rows = sorted((name.encode(), first + at) for at, name in enumerate(library.names))
            body = ", ".join(f'{{"{name.decode()}", {slot}}}' for name, slot in rows)
            array = f"(const struct function[]){{{body}}}"
            lines.append(f"static const struct runtime runtime{release} = {{{array}, {len(rows)}}};")
        first += len(library.names)
    return "\n".join(lines) + "\n"


def entries(count: int) -> str:
    """The assembly of `count` slots and their entries, for the preloaded library."""
    processor = machine()
    lines = [".text", _COMMON[processor]]
    lines += [f"entry{slot}: {_ENTRY[processor].format(slot=slot)}" for slot in range(count)]
    lines += [".data", f".globl {SLOTS}", ".balign 8", f"{SLOTS}:"]
    lines += [f".quad entry{slot}" for slot in range(count)]
    return "\n".join([*lines, _END])


def stubs(library: Library, first: int) -> str:
    """The assembly of a library whose functions have the slots from `first` on."""
    processor = machine()
    lines = [".text", ".balign 16"]
    for slot, name in enumerate(library.names, first):
        lines += [f".globl {name}", f"{name}: {_STUB[processor].format(slots=SLOTS, at=8 * slot)}"]
    return "\n".join([*lines, _END])


def versions(library: Library) -> str:
    """The script that gives a library's functions the version that programs ask for: its name.

    The driver has none: a program that is linked with it here finds none on a machine with a GPU.
    """
    version = "" if library.soname == DRIVER else library.soname
    return f"{version} {{ global: *; }};\n"


def machine() -> str:
    """The processor, as Linux names it."""
    return {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())


MACHINES = ("x86_64", "aarch64")
_END = (
    '.section .note.GNU-stack,"",@progbits\n'
    if machine() == "x86_64"
    else ('.section .note.GNU-stack,"",%progbits\n')
)
_STUB = {
    "x86_64": "movq {slots}@GOTPCREL(%rip), %r11; jmp *{at}(%r11)",
    "aarch64": "adrp x16, :got:{slots}; ldr x16, [x16, :got_lo12:{slots}]; ldr x16, [x16, #{at}]; br x16",
}
_ENTRY = {"x86_64": "pushq ${slot}; jmp common", "aarch64": "mov x17, #{slot}; b common"}
_VECTORS = range(8)
_COMMON = {
    "x86_64": "\n".join(
        [
            "common: pushq %rbp; movq %rsp, %rbp",
            *(f"pushq %{name}" for name in ("rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10")),
            "andq $-16, %rsp; subq $128, %rsp",
            *(f"movaps %xmm{n}, {16 * n}(%rsp)" for n in _VECTORS),
            "movq 8(%rbp), %rdi; call warpglass_enter@PLT",
            *(f"movaps {16 * n}(%rsp), %xmm{n}" for n in _VECTORS),
            "leaq -64(%rbp), %rsp",
            *(f"popq %{name}" for name in ("r10", "r9", "r8", "rcx", "rdx", "rsi", "rdi", "rax")),
            "popq %rbp; popq %r11",
            f"pushq %rax; movq {SLOTS}@GOTPCREL(%rip), %rax; movq (%rax,%r11,8), %r11; popq %rax",
            "jmp *%r11",
        ]
    ),
    "aarch64": "\n".join(
        [
            "common: stp x29, x30, [sp, #-224]!; mov x29, sp",
            *(f"stp x{n}, x{n + 1}, [sp, #{16 + 8 * n}]" for n in range(0, 8, 2)),
            "stp x8, x17, [sp, #80]",
            *(f"stp q{n}, q{n + 1}, [sp, #{96 + 16 * n}]" for n in range(0, 8, 2)),
            "mov x0, x17; bl warpglass_enter",
            *(f"ldp q{n}, q{n + 1}, [sp, #{96 + 16 * n}]" for n in range(0, 8, 2)),
            "ldp x8, x17, [sp, #80]",
            *(f"ldp x{n}, x{n + 1}, [sp, #{16 + 8 * n}]" for n in range(0, 8, 2)),
            "ldp x29, x30, [sp], #224",
            f"adrp x16, :got:{SLOTS}; ldr x16, [x16, :got_lo12:{SLOTS}]; ldr x16, [x16, x17, lsl #3]; br x16",
        ]
    ),
}
