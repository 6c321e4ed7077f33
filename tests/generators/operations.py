"""The register pools of random kernels, and the operations on them as templates."""

from __future__ import annotations

# type class -> register prefix, registers in the pool, bytes
POOLS = {
    "u16": ("rs", 4, 2),
    "u32": ("r", 7, 4),
    "u64": ("rd", 5, 8),
    "f32": ("f", 3, 4),
    "f64": ("fd", 3, 8),
}
PREDICATES = 5
CONSTANTS = {"f32": ("0f3F800000", "0fC0200000"), "f64": ("0d3FF0000000000000", "0d0000000000000000")}
INPUTS = {"u16": "in16", "u32": "in32", "u64": "in64", "f32": "inf", "f64": "ind"}

INTEGER_OPS = (
    "add.{t} {d}, {a}, {b};",
    "sub.{t} {d}, {a}, {b};",
    "mul.lo.{t} {d}, {a}, {b};",
    "mul.hi.{t} {d}, {a}, {b};",
    "mad.lo.{t} {d}, {a}, {b}, {c};",
    "min.{t} {d}, {a}, {b};",
    "max.{t} {d}, {a}, {b};",
    "div.{t} {d}, {a}, {b};",
    "rem.{t} {d}, {a}, {b};",
    "and.{bt} {d}, {a}, {b};",
    "or.{bt} {d}, {a}, {b};",
    "xor.{bt} {d}, {a}, {b};",
    "not.{bt} {d}, {a};",
    "shl.{bt} {d}, {a}, {s};",
    "shr.{t} {d}, {a}, {s};",
    "neg.{st} {d}, {a};",
    "abs.{st} {d}, {a};",
    "mov.{bt} {d}, {a};",
    "selp.{bt} {d}, {a}, {b}, {p};",
)
# Operations after which the lanes of an affine or uniform variable still are.
REGULAR_OPS = (
    "add.{t} {d}, {a}, {k};",
    "sub.{t} {d}, {a}, {k};",
    "add.{t} {d}, {a}, {d};",
    "sub.{t} {d}, {d}, {a};",
    "mul.lo.{t} {d}, {a}, {k};",
    "mad.lo.{t} {d}, {a}, {k}, {d};",
    "shl.{bt} {d}, {a}, {s1};",
    "neg.{st} {d}, {a};",
    "mov.{bt} {d}, {a};",
    "selp.{bt} {d}, {a}, {d}, {p};",
    "min.{t} {d}, {a}, {k};",
    "and.{bt} {d}, {a}, {k};",
)
# Rounded explicitly: what an assembler fuses of the rest depends on what it does to a kernel before.
FLOAT_OPS = (
    "add.rn.{t} {d}, {a}, {b};",
    "sub.rn.{t} {d}, {a}, {b};",
    "mul.rn.{t} {d}, {a}, {b};",
    "fma.rn.{t} {d}, {a}, {b}, {c};",
    "div.rn.{t} {d}, {a}, {b};",
    "min.{t} {d}, {a}, {b};",
    "max.{t} {d}, {a}, {b};",
    "neg.{t} {d}, {a};",
    "abs.{t} {d}, {a};",
    "mov.{t} {d}, {a};",
    "selp.{t} {d}, {a}, {b}, {p};",
)
