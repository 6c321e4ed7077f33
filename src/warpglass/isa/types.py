"""PTX types: width, signedness, and the LLVM type that holds a lane of each."""

from __future__ import annotations

import numpy as np

LLVM_TYPE = {
    "pred": "i1",
    **dict.fromkeys(("b8", "u8", "s8"), "i8"),
    # Formats narrower than f32 are patterns: half.py and rounding.py say what they mean.
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2"), "i16"),
    **dict.fromkeys(("b32", "u32", "s32", "u16x2", "s16x2", "f16x2", "bf16x2", "tf32"), "i32"),
    **dict.fromkeys(("b64", "u64", "s64"), "i64"),
    "b128": "i128",
    "f32": "float",
    "f64": "double",
}
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128}
BITS |= {"half": 16, "bfloat": 16, "float": 32, "double": 64}

SIGNED = "s16 s32 s64"
UNSIGNED = "u16 u32 u64"
INTEGERS = f"{UNSIGNED} {SIGNED}"
BITWISE = "b16 b32 b64"
MEMORY = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"


def bits(type_: str) -> int:
    """Width in bits of an LLVM scalar type."""
    return BITS[type_]


def is_float(type_: str) -> bool:
    """Whether an LLVM scalar type is a floating-point type."""
    return type_[0] != "i"


def is_signed(ptx_type: str | None) -> bool:
    """Whether a PTX type is a signed integer."""
    return ptx_type is not None and ptx_type[0] == "s"


def integer_of(type_: str) -> str:
    """The LLVM integer type as wide as an LLVM scalar type."""
    return f"i{BITS[type_]}"


def convert_float(pattern: int, width: int, want: int) -> int:
    """A floating literal's bits at another width, rounded to nearest; decimal literals come as doubles."""
    if width == want:
        return pattern
    whole = np.array(pattern, dtype=f"u{width // 8}").view(f"f{width // 8}")
    return int(whole.astype(f"f{want // 8}").view(f"u{want // 8}"))
