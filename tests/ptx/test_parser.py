"""The parser on real compilers' output and on a module that uses the whole grammar."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.ptx.trees import without_lines
from tests.ptx_text import kernel as ptx_kernel
from warpglass.ptx import PtxSyntaxError, parse, print_module
from warpglass.ptx.tree import (
    Address,
    AddressList,
    Component,
    Displaced,
    Float,
    Function,
    Group,
    Guard,
    Instruction,
    Integer,
    Label,
    Masked,
    Module,
    Negated,
    Pair,
    Register,
    Sink,
    SourceLocation,
    Special,
    Symbol,
    Vector,
)

CASES = sorted((Path(__file__).parent / "cases").glob("*.ptx"))


@pytest.fixture(scope="module")
def module() -> Module:
    return parse((Path(__file__).parent / "cases" / "grammar.ptx").read_text(), "grammar.ptx")


@pytest.fixture(scope="module")
def kernel(module: Module) -> Function:
    return next(function for function in module.functions if function.entry)


def instructions(function: Function, opcode: str) -> list[Instruction]:
    return [item for item in function.body or () if isinstance(item, Instruction) and item.opcode == opcode]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_printed_text_parses_to_the_same_tree(path: Path) -> None:
    module = parse(path.read_text(), path.name)
    assert without_lines(parse(print_module(module), f"printed {path.name}")) == without_lines(module)


def test_header(module: Module) -> None:
    assert (module.version, module.target, module.address_size) == ((8, 7), ("sm_90a", "debug"), 64)
    assert module.files == {1: "outer.cu", 2: "inner.h"}
    assert module.aliases == {"aliased": "callee"}


def test_module_variables(module: Module) -> None:
    found = {variable.name: variable for variable in module.variables}
    assert found["counter"].initial == (Integer(7),)
    assert (found["counter"].linkage, found["counter"].align, found["counter"].line) == ("visible", 4, 11)
    assert (found["dynamic"].linkage, found["dynamic"].shape) == ("extern", (0,))
    assert found["table"].shape == (2, 3)
    assert found["table"].initial == tuple(map(Integer, (1, -2, 0, 31, 5, 15)))
    assert found["half"].initial == (Float(0x3FE0000000000000, 64),)
    assert found["minus"].initial == (Float(0xBF589374BC6A7EFA, 64),)
    assert found["tentative"].linkage == "common"
    assert found["sampler"].initial is None


def test_vector_rows_are_filled_up(module: Module) -> None:
    quad = next(variable for variable in module.variables if variable.name == "quad")
    zero = Float(0, 64)
    assert (quad.vector, quad.shape) == (4, (2,))
    assert quad.initial is not None
    assert quad.initial[:4] == (Float(0x3F800000, 32), Float(0x40000000, 32), zero, zero)
    assert len(quad.initial) == 8


def test_addresses_in_initialisers(module: Module) -> None:
    found = {variable.name: variable for variable in module.variables}
    assert found["pointers"].shape == (5,)
    assert found["pointers"].initial == (
        Symbol("counter"),
        Address(Symbol("table", generic=True), 4),
        Symbol("counter", generic=True),
        Address(Symbol("table"), 16),
        Symbol("callee"),
    )
    assert found["packed"].initial is not None
    assert found["packed"].initial[:2] == (
        Masked(0xFF, Symbol("counter")),
        Masked(0xFF00, Address(Symbol("table", generic=True), 2)),
    )


def test_kernel_header(kernel: Function) -> None:
    first, second, third = kernel.parameters
    assert (first.pointer_space, first.pointer_align, first.align) == ("global", 16, 0)
    assert (second.pointer_space, second.pointer_align) == ("generic", 1)
    assert (third.type, third.shape, third.align) == ("b8", (80,), 4)
    assert kernel.directives == (("maxntid", (512, 1, 1)), ("minnctapersm", (2,)))


def test_declarations_in_the_body(kernel: Function) -> None:
    assert kernel.registers["%r11"] == "b32"
    assert kernel.registers["plain"] == "b64"
    assert [kernel.registers[f"%v${part}"] for part in "xyzw"] == ["f32"] * 4
    assert "%r12" not in kernel.registers
    assert kernel.branch_targets == {"targets": ("L1", "L2")}
    assert kernel.call_targets == {"candidates": ("indirect_a",)}
    prototype = kernel.prototypes["proto"]
    assert prototype.noreturn
    assert [variable.shape for variable in prototype.parameters] == [(), (16,)]


def test_scopes_are_renamed(kernel: Function) -> None:
    labels = [item.name for item in kernel.body or () if isinstance(item, Label)]
    assert labels == ["L1", "L1$1", "L2"]
    assert [variable.name for variable in kernel.variables if variable.space == "param"] == [
        "param0",
        "param0$1",
        "param1",
        "retval0",
    ]
    assert kernel.registers["%r1$1"] == kernel.registers["%r1$2"] == "b32"
    branches = instructions(kernel, "bra")
    assert branches[0].guard == Guard("%p", negated=False)
    assert [branch.operands for branch in branches] == [(Symbol("L1$1"),), (Symbol("L2"),)]


def test_a_line_that_is_taken_up_again_stays_inlined() -> None:
    """As NVVM writes it: no line in between, and the call of the second half left out."""
    body = """
    .loc 1 7 3, function_name $L1, inlined_at 1 20 5
    mov.u32 %r1, 1;
    .loc 1 0 3
    mov.u32 %r1, 2;
    .loc 1 7 3
    mov.u32 %r1, 3;
    .loc 1 7 3
    mov.u32 %r1, 4;
    ret;
    """
    text = ptx_kernel(body).replace(".address_size 64", '.address_size 64\n.file 1 "k.cu"')
    items = parse(text, "k").functions[0].body or ()
    found = [item.source for item in items if isinstance(item, Instruction)][-5:-1]
    inlined = SourceLocation("k.cu", 7, 3, SourceLocation("k.cu", 20, 5))
    assert found == [inlined, inlined, inlined, SourceLocation("k.cu", 7, 3)]


def test_source_lines(kernel: Function) -> None:
    body = [item for item in kernel.body or () if isinstance(item, Instruction)]
    outer = SourceLocation("outer.cu", 10, 3)
    inner = SourceLocation("inner.h", 5, 7, inlined_at=outer)
    assert [item.source for item in body[:6]] == [
        None,
        outer,
        outer,
        inner,
        SourceLocation("inner.h", 6, 1, inlined_at=inner),
        SourceLocation("outer.cu", 11, 1),
    ]
    assert body[0].line == 45


def test_operands(kernel: Function) -> None:
    move = instructions(kernel, "mov")
    assert move[0].operands == (Register("%r1"), Special("%tid.x"))
    assert move[1].operands[1] == Special("WARP_SZ")
    assert move[3].operands[1] == Displaced(Symbol("counter"), 8)
    assert move[4].operands == (Register("plain"), Vector((Register("%r1"), Register("%r2"))))
    assert move[5].operands[1] == Register("%v$x")
    assert move[6].operands[1] == Integer(19)
    assert instructions(kernel, "fma")[0].operands[2:] == (Float(0xBF800000, 32), Float(0xBF800000, 32))
    assert instructions(kernel, "vadd")[0].operands[1] == Component(Register("%r2"), "b0")
    compare = instructions(kernel, "setp")[0].operands
    assert compare == (
        Pair(Register("%p1"), Register("%p2")),
        Register("%r1"),
        Integer(0),
        Negated(Register("%p3")),
    )
    assert instructions(kernel, "elect")[0].operands[0] == Pair(Sink(), Register("%p1"))


def test_addresses(kernel: Function) -> None:
    vector, spaced, absolute = instructions(kernel, "ld")
    assert vector.modifiers == ("global", "L1::no_allocate", "L2::128B", "v4", "f32")
    assert vector.operands[1] == Address(Register("%rd1"), -8)
    assert (spaced.modifiers, spaced.operands[1]) == (("global", "u32"), Address(Register("%rd1"), 11))
    assert absolute.operands[1] == Address(Integer(4096))
    assert instructions(kernel, "st")[0].operands == (Address(Symbol("buffer"), 4), Integer(-1))
    coordinates = Vector((Register("%f1"), Register("%f2")))
    assert instructions(kernel, "tex")[0].operands[1] == AddressList(
        (Symbol("tex"), Symbol("sampler"), coordinates)
    )


def test_calls(kernel: Function) -> None:
    direct, indirect = instructions(kernel, "call")
    assert direct.operands == (Symbol("callee"), Group((Symbol("param0"),)))
    assert indirect.operands == (
        Group((Symbol("retval0"),)),
        Register("%rd1"),
        Group((Symbol("param0$1"), Symbol("param1"))),
        Symbol("proto"),
    )


def test_a_definition_replaces_its_declarations() -> None:
    text = """.version 8.0
        .target sm_80
        .extern .global .u32 x;
        .func f (.param .b32 a);
        .entry k() { call f, (1); ret; }
        .func f (.param .b32 a) { ret; }
        .global .u32 x = 3;
    """
    module = parse(text)
    assert [(function.name, function.body is None) for function in module.functions] == [
        ("k", False),
        ("f", False),
    ]
    assert [(variable.name, variable.linkage) for variable in module.variables] == [("x", "")]


@pytest.mark.parametrize("end", ["// end", "// one\n// two", "/* end */", "/* one */ // two\n", " \n\n"])
def test_comments_may_end_a_file(end: str) -> None:
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"
    assert parse(text + end) == parse(text)


def test_large_files_parse_in_time() -> None:
    line = "\tld.global.f32 %f1, [%rd1+8];\n\tfma.rn.f32 %f2, %f1, %f3, 0f3F800000;\n\t.loc 1 5 3\n$L{0}:\n"
    body = "".join(line.replace("{0}", str(number)) for number in range(25_000))
    text = (
        '.version 8.0\n.target sm_80\n.file 1 "a.cu"\n.entry k()\n{\n.reg .f32 %f<4>;\n.reg .b64 %rd<2>;\n'
        + body
        + "ret;\n}\n"
    )
    start = time.process_time()
    parse(text)
    assert time.process_time() - start < 5  # about 0.6 s on an idle core; 100,000 lines


def test_bodies_of_other_entries_are_passed_over() -> None:
    one = ".visible .entry one(.param .u32 n)\n{\n.reg .b32 %r<2>;\n{ ld.param.u32 %r1, [n]; }\nret;\n}\n"
    other = one.replace("one", "other").replace("%r1", "%r7")  # not declared
    helper = ".func (.param .b32 r) helper()\n{\nst.param.b32 [r], 1;\nret;\n}\n"
    head = ".version 8.5\n.target sm_90\n.address_size 64\n"
    module = parse(head + other + helper + one, "two", "one")
    whole = parse(head + helper + one)
    assert [function.name for function in module.functions] == ["other", "helper", "one"]
    skipped, *rest = module.functions
    assert skipped.entry
    assert skipped.body is None
    assert len(skipped.parameters) == 1
    assert without_lines(replace(module, functions=tuple(rest))) == without_lines(whole)
    with pytest.raises(PtxSyntaxError, match="%r7"):
        parse(head + other + helper + one, "two")
