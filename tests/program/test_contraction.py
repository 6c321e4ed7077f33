"""Which products and sums are fused: those that are one operation in ptxas's machine code.

Expressions that a rule decides stand in a table; random ones are made of the same operations. Each becomes a
kernel that is assembled, and every sum of it is looked up in the machine code.
"""

from __future__ import annotations

import random
import re

import pytest

from tests.levels import FULL
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import build_program
from warpglass.sass.translate import translate
from warpglass.source.compiled import Compiled

_SUM = re.compile(r"(@%p1 )?(add|sub)(\.rn|\.ftz|\.sat)*\.b?f(16|32|64)")
FUSED = ("FFMA", "DFMA", "HFMA2")
PLAIN = ("FADD", "DADD", "HADD2")
RANDOM = 1000 if FULL else 40

# Registers 1 to 8 are loaded, 9 is a parameter; what a body stores in OUT places counts.
PRODUCT = "mul.f32 %f10, %f1, %f2;"
OTHER = "mul.f32 %f11, %f3, %f4;"
SUM = "add.f32 %f20, %f10, %f3;"
LOOP = "LOOP:\n{} add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r2;\n@%p3 bra LOOP;"
AROUND = "@%p1 bra AROUND; {} AROUND:"

CASES = {
    # operands
    "sum": (f"{PRODUCT} {SUM}", "20"),
    "sum, product second": (f"{PRODUCT} add.f32 %f20, %f3, %f10;", "20"),
    "difference": (f"{PRODUCT} sub.f32 %f20, %f10, %f3;", "20"),
    "difference, product second": (f"{PRODUCT} sub.f32 %f20, %f3, %f10;", "20"),
    "two products": (f"{PRODUCT} {OTHER}\nadd.f32 %f20, %f10, %f11;", "20"),
    "product twice": (f"{PRODUCT} add.f32 %f20, %f10, %f10;", "20"),
    "equal products": (f"{PRODUCT} mul.f32 %f11, %f2, %f1;\nadd.f32 %f20, %f10, %f11;", "20"),
    "equal products apart": (f"{PRODUCT} mul.f32 %f11, %f2, %f1;\nsub.f32 %f20, %f10, %f11;", "20"),
    "product of products": (f"{PRODUCT} mul.f32 %f11, %f10, %f4;\nadd.f32 %f20, %f11, %f3;", "20"),
    "factor overwritten": (f"{PRODUCT} mov.f32 %f1, %f7; add.f32 %f20, %f10, %f1;", "20"),
    "in place": ("mul.f32 %f1, %f1, %f2;\nadd.f32 %f20, %f1, %f3;", "20"),
    # modifiers
    "rounded sum": (f"{PRODUCT} add.rn.f32 %f20, %f10, %f3;", "20"),
    "rounded product": (f"mul.rn.f32 %f10, %f1, %f2;\n{SUM}", "20"),
    "cut product": (f"mul.rz.f32 %f10, %f1, %f2;\n{SUM}", "20"),
    "flushed product": (f"mul.ftz.f32 %f10, %f1, %f2;\n{SUM}", "20"),
    "flushed sum": (f"{PRODUCT} add.ftz.f32 %f20, %f10, %f3;", "20"),
    "both flushed": ("mul.ftz.f32 %f10, %f1, %f2;\nadd.ftz.f32 %f20, %f10, %f3;", "20"),
    "saturated product": (f"mul.sat.f32 %f10, %f1, %f2;\n{SUM}", "20"),
    "saturated sum": (f"{PRODUCT} add.sat.f32 %f20, %f10, %f3;", "20"),
    # constants
    "constant": (f"mul.f32 %f10, %f1, 0f40490FDB;\n{SUM}", "20"),
    "zero": (f"mul.f32 %f10, %f1, 0f00000000;\n{SUM}", "20"),
    "one": (f"mul.f32 %f10, %f1, 0f3F800000;\n{SUM}", "20"),
    "minus one": (f"mul.f32 %f10, %f1, 0fBF800000;\n{SUM}", "20"),
    "one and a product": (f"mul.f32 %f10, %f1, 0f3F800000; {OTHER}\nadd.f32 %f20, %f10, %f11;", "20"),
    "plus constant": (f"{PRODUCT} add.f32 %f20, %f10, 0f40490FDB;", "20"),
    # ways
    "negated": (f"{PRODUCT} neg.f32 %f12, %f10;\nadd.f32 %f20, %f12, %f3;", "20"),
    "negated and not": (
        f"{PRODUCT} neg.f32 %f12, %f10;\nadd.f32 %f20, %f12, %f3;\nadd.f32 %f21, %f10, %f4;",
        "20 21",
    ),
    "flushed negation": (f"{PRODUCT} neg.ftz.f32 %f12, %f10;\nadd.f32 %f20, %f12, %f3;", "20"),
    "magnitude": (f"{PRODUCT} abs.f32 %f12, %f10;\nadd.f32 %f20, %f12, %f3;", "20"),
    "moved": (f"{PRODUCT} mov.b32 %r12, %f10; mov.b32 %f12, %r12;\nadd.f32 %f20, %f12, %f3;", "20"),
    "by shared memory": (
        f"{PRODUCT} st.shared.f32 [s], %f10; ld.shared.f32 %f12, [s];\nadd.f32 %f20, %f12, %f3;",
        "20",
    ),
    "selected": (f"{PRODUCT} selp.f32 %f12, %f10, %f5, %p1;\nadd.f32 %f20, %f12, %f3;", "20"),
    # uses
    "two sums": (f"{PRODUCT} {SUM}\nadd.f32 %f21, %f10, %f4;", "20 21"),
    "stored too": (f"{PRODUCT} {SUM}", "20 10"),
    "one sum rounded": (f"{PRODUCT} {SUM}\nadd.rn.f32 %f21, %f10, %f4;", "20 21"),
    "use without effect": (f"{PRODUCT} {SUM}\nmul.f32 %f22, %f10, %f4;", "20"),
    "rival used once": (f"{PRODUCT} {OTHER}\nadd.f32 %f21, %f10, %f5;\nadd.f32 %f20, %f10, %f11;", "20 21"),
    "rival stored": (f"{PRODUCT} {OTHER}\nadd.f32 %f20, %f10, %f11;\nadd.f32 %f21, %f11, %f5;", "20 21 10"),
    "rivals used twice, sum first": (
        f"{PRODUCT} {OTHER}\nadd.f32 %f20, %f10, %f11;\nadd.f32 %f21, %f10, %f5;\nadd.f32 %f22, %f11, %f6;",
        "20 21 22",
    ),
    "rivals used twice, sum last": (
        f"{PRODUCT} {OTHER}\nadd.f32 %f21, %f10, %f5;\nadd.f32 %f22, %f11, %f6;\nadd.f32 %f20, %f10, %f11;",
        "20 21 22",
    ),
    "three rivals": (
        f"{PRODUCT} {OTHER} mul.f32 %f12, %f5, %f6;\nadd.f32 %f20, %f10, %f11;\nadd.f32 %f21, %f11, %f12;\n"
        "add.f32 %f22, %f12, %f10;",
        "20 21 22",
    ),
    # basic blocks
    "barrier": (f"{PRODUCT} bar.sync 0;\n{SUM}", "20"),
    "label": (f"{PRODUCT} NEXT:\n{SUM}", "20"),
    "exit": (f"{PRODUCT} @%p1 exit;\n{SUM}", "20"),
    "branch": (
        f"{PRODUCT} mov.f32 %f20, %f5;\n" + AROUND.format(f"{SUM} st.volatile.global.f32 [%rd1], %f20;"),
        "20",
    ),
    "fence": (f"{PRODUCT} membar.gl;\n{SUM}", "20"),
    "division": (f"{PRODUCT} div.rn.f32 %f21, %f5, %f6;\n{SUM}", "20 21"),
    "fast division": (f"{PRODUCT} div.full.f32 %f21, %f5, %f6;\n{SUM}", "20 21"),
    "integer division": (f"{PRODUCT} div.s32 %r4, %r1, %r2; cvt.rn.f32.s32 %f21, %r4;\n{SUM}", "20 21"),
    "guarded load": (f"{PRODUCT} mov.f32 %f21, %f5; @%p1 ld.global.f32 %f21, [%rd1+64];\n{SUM}", "20 21"),
    "guarded addition": (f"{PRODUCT} mov.f32 %f21, %f5; @%p1 add.f32 %f21, %f5, %f6;\n{SUM}", "20 21"),
    "guarded sum": (f"{PRODUCT} mov.f32 %f20, %f5;\n@%p1 {SUM}", "20"),
    "guarded product": (f"mov.f32 %f10, %f5; @%p1 {PRODUCT}\n{SUM}", "20"),
    "shuffle": (f"{PRODUCT} shfl.sync.bfly.b32 %f21, %f5, 1, 31, -1;\n{SUM}", "20 21"),
    "constant, exit": (f"mul.f32 %f10, %f1, 0f40490FDB; @%p1 exit;\n{SUM}", "20"),
    "parameter, exit": (f"mul.f32 %f10, %f1, %f9; @%p1 exit;\n{SUM}", "20"),
    "negated parameter, exit": (f"neg.f32 %f12, %f9; mul.f32 %f10, %f1, %f12; @%p1 exit;\n{SUM}", "20"),
    "square, exit": (f"mul.f32 %f10, %f1, %f1; @%p1 exit;\n{SUM}", "20"),
    "loop": (f"mov.f32 %f20, %f5;\n{PRODUCT}\n" + LOOP.format("add.f32 %f20, %f20, %f10;"), "20"),
    "loop with a product": (
        "mov.f32 %f20, %f5;\n"
        + LOOP.format(f"ld.volatile.global.f32 %f1, [%rd1+4]; {PRODUCT}\nadd.f32 %f20, %f20, %f10;"),
        "20",
    ),
    "loop, constant": (
        "mov.f32 %f20, %f5;\nmul.f32 %f10, %f1, 0f40490FDB;\n" + LOOP.format("add.f32 %f20, %f20, %f10;"),
        "20",
    ),
    "constant, after the loop": (
        LOOP.format("ld.volatile.global.f32 %f1, [%rd1+4]; mul.f32 %f10, %f1, 0f40490FDB;") + f"\n{SUM}",
        "20",
    ),
}
WIDE = {"sum", "difference", "difference, product second", "two products", "stored too", "exit"}
WIDE |= {"rounded sum", "rounded product", "negated", "barrier", "product twice"}


def text(body: str, stored: str, type_: str = "f32") -> str:
    """A kernel that loads eight numbers for a body and stores its results; %r2 and predicates are unknown."""
    registers = {"f32": "%f", "f64": "%fd", "f16": "%rs", "bf16": "%rs", "f16x2": "%r", "bf16x2": "%r"}[type_]
    size = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "f16x2": 4, "bf16x2": 4}[type_]
    name = registers if registers != "%r" else "%r1"
    memory = type_ if type_ in ("f32", "f64") else f"b{8 * size}"
    lines = [
        "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 512; add.s64 %rd1, %rd1, %rd2;",
        "ld.global.u32 %r2, [%rd1+256]; setp.ne.u32 %p1, %r2, 0; mov.u32 %r3, 0;",
        *(f"ld.global.{memory} {name}{k}, [%rd1+{k * size}];" for k in range(1, 9)),
        f"ld.param.{memory} {name}9, [q];",
        body.replace(".f32", f".{type_}").replace("%f", name).replace("; ", ";\n"),
        *(
            f"st.global.{memory} [%rd1+{264 + k * size}], {name}{one};"
            for k, one in enumerate(stored.split())
        ),
        "ret;",
    ]
    return kernel("\n".join(lines), f"u64 p, {memory} q", shared=".align 4 .b8 s[64]")


def compare(source: str) -> tuple[int, int]:
    """Look every sum of a kernel up in the machine code; returns their number and how many are fused."""
    program = build_program(ptx.parse(source, "k"), "k")
    made = {
        step.instruction.line: step.instruction.opcode for block in program.blocks for step in block.steps
    }
    machine = translate(Compiled(source, "k", "k", "ptx"), "sm_90")
    assert machine is not None
    found: list[bool] = []
    for number, line in enumerate(source.splitlines(), 1):
        names = {item.name for item in machine.instructions(number)} & {*FUSED, *PLAIN}
        if _SUM.match(line) and len(names) == 1:
            found.append(names <= set(FUSED))
            assert (made[number] == "fma") == found[-1], f"{line} is {names} in machine code\n{source}"
    return len(found), sum(found)


@pytest.mark.parametrize("case", CASES)
def test_rules_are_ptxas_rules(case: str):
    assert compare(text(*CASES[case]))[0]


@pytest.mark.parametrize("type_", ["f64", "f16", "bf16", "f16x2", "bf16x2"])
@pytest.mark.parametrize("case", sorted(WIDE))
def test_rules_are_those_of_every_type(case: str, type_: str):
    assert compare(text(*CASES[case], type_))[0]


def expressions(rng: random.Random) -> tuple[str, str]:
    """A random body and the registers to store; as of a compiler, nothing is computed twice."""
    lines: list[str] = []
    values, products, done = [f"%f{k}" for k in range(1, 10)], [], set[tuple[str, ...]]()
    for number in range(20, rng.randint(32, 50)):
        opcode = rng.choice(
            ["mul", "mul", "mul", "add", "add", "sub", "sub", "neg", "max", "mul.rn", "add.rn"]
        )
        a, b = rng.sample(values[-8:], 2)
        a = products.pop() if products and rng.random() < 0.6 else a
        if opcode == "mul" and rng.random() < 0.2:
            b = rng.choice(["0f40490FDB", "0f3E99999A"])
        key = (opcode.partition(".")[0], *sorted((a, b)))
        if a == b or key in done or (opcode == "neg" and a in products):
            continue
        done.add(key)
        target = f"%f{number}"
        lines.append(f"{opcode}.f32 {target}, {a}{'' if opcode == 'neg' else f', {b}'};")
        values.append(target)
        if opcode == "mul":
            products.append(target)
        if rng.random() < 0.08:
            lines.append(rng.choice(["bar.sync 0;", "@%p1 exit;", "membar.gl;"]))
    return "\n".join(lines), " ".join(value[2:] for value in values[-8:])


@pytest.mark.turns(2)
def test_random_expressions_are_fused_as_ptxas_fuses_them():
    totals = [compare(text(*expressions(random.Random(seed)))) for seed in range(RANDOM)]
    sums, fused = map(sum, zip(*totals, strict=True))
    assert sums - fused > 2 * RANDOM
    assert fused > RANDOM // 2


@pytest.mark.parametrize(
    "body",
    [
        "mov.f32 %f11, %f12; mov.f32 %f12, %f11; mul.f32 %f10, %f11, %f12; add.f32 %f20, %f10, %f1;",
        "mov.f32 %f11, %f11; neg.f32 %f12, %f12; mul.f32 %f10, %f11, %f12; add.f32 %f20, %f10, %f1;",
        f"{PRODUCT} {' '.join(f'neg.f32 %f{k + 1}, %f{k};' for k in (10, *range(30, 2030)))}"
        "mov.f32 %f30, %f11; add.f32 %f20, %f2030, %f1;",
    ],
    ids=["moves in a circle", "moves to themselves", "thousands of negations"],
)
def test_no_chain_of_moves_is_too_long(body: str):
    program = build_program(ptx.parse(text(body, "20"), "k"), "k")
    assert "fma" in [step.instruction.opcode for block in program.blocks for step in block.steps]


def test_registers_may_be_declared_by_the_type_of_their_numbers():
    source = text(f"{PRODUCT} {SUM}", "20", "f16").replace(".reg .b16", ".reg .f16")
    assert compare(source) == (1, 1)
