"""Annotated PTX: lines keep their numbers, and the machine code is the same."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import build_program
from warpglass.sass.annotate import annotate
from warpglass.sass.decode import decode
from warpglass.source.compiled import Compiled
from warpglass.source.cubin import cubin
from warpglass.source.elf import read_elf

from .truth import compiled

TWO = """.version 8.3
.target sm_90
.address_size 64
.file 1 "two.cu"
.visible .entry first() { // with a brace {
  ret;
}
.visible .entry second(.param .u64 x)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  .shared .align 4 .b8 early[512]; .shared .align 4 .b8 late[64];
  .loc 1 33 5
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, late; mov.u32 %r2, early;
  add.u32
    %r3, %r1, %r2;
  st.global.u32 [%rd1],
    %r3;
  ret;
}
.section .debug_str { .b8 1 }
"""


def annotated(text: str, entry: str) -> str:
    module = ptx.parse(text, "test.ptx")
    return annotate(text, module, entry, build_program(module, entry).shared.offsets)


def test_other_kernels_and_debugging_information_go():
    text = annotated(TWO, "second")
    assert "first" not in text
    assert "debug_str" not in text
    assert ".loc 1 33 5" not in text
    assert text.count(".file") == 1


def test_every_line_with_an_instruction_is_named():
    text = annotated(TWO, "second")
    assert re.findall(r"^\.loc 1 (\d+) 0\n(.*)$", text, re.MULTILINE) == [
        ("14", "  ld.param.u64 %rd1, [x];"),
        ("15", "  mov.u32 %r1, late; mov.u32 %r2, early;"),
        ("16", "  add.u32"),
        ("18", "  st.global.u32 [%rd1],"),
        ("20", "  ret;"),
    ]
    ptx.parse(text, "annotated.ptx")


def test_variables_are_aligned_as_they_lie():
    body = "mov.u32 %r1, a; mov.u32 %r2, b; st.shared.u32 [%r1], %r2; ret;"
    text = annotated(kernel(body, shared=".align 4 .b8 a[96],.align 4 .b8 b[8]"), "k")
    assert ".shared .align 1024 .b8 a[96]" in text
    assert ".shared .align 32 .b8 b[8]" in text


def test_machine_code_does_not_depend_on_it():
    for name in ("vadd", "red_neighbored", "blur"):
        source = compiled(name)
        changed = replace(source, ptx=annotated(source.ptx, source.entry))
        assert operations(source) == operations(changed)


def operations(source: Compiled) -> list[tuple[int, str]]:
    section = read_elf(cubin(source, "sm_90")).section(f".text.{source.entry}")
    assert section is not None
    return [(item.offset, item.name) for item in decode(section.content, {}, 90)]
