"""Raw memory and function pointers for numba: what compiled detectors need and Python has no words for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)


def _pointer(builder: Any, address: Any, bits: int = 64) -> Any:
    return builder.inttoptr(address, ir.IntType(bits).as_pointer())


def _load(typing: Any, address: Any) -> Any:
    """The 64-bit word at an address."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(builder, args[0]))

    return types.int64(types.int64), emit


def _store(typing: Any, address: Any, value: Any) -> Any:
    """Put a 64-bit word at an address."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[1], _pointer(builder, args[0]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def _load_byte(typing: Any, address: Any) -> Any:
    """The byte at an address."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.load(_pointer(builder, args[0], 8)), _WORD)

    return types.int64(types.int64), emit


def _store_byte(typing: Any, address: Any, value: Any) -> Any:
    """Put a byte at an address."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(builder.trunc(args[1], ir.IntType(8)), _pointer(builder, args[0], 8))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def _load_half(typing: Any, address: Any) -> Any:
    """The signed 32-bit word at an address."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sext(builder.load(_pointer(builder, args[0], 32)), _WORD)

    return types.int64(types.int64), emit


def _store_half(typing: Any, address: Any, value: Any) -> Any:
    """Put a 32-bit word at an address."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(builder.trunc(args[1], ir.IntType(32)), _pointer(builder, args[0], 32))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def _ask(typing: Any, function: Any, worker: Any, stamp: Any, other: Any) -> Any:
    """Call a host function of three words that returns one."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_WORD] * 3).as_pointer()
        return builder.call(builder.inttoptr(args[0], kind), args[1:])

    return types.int64(types.int64, types.int64, types.int64, types.int64), emit


# numba's own types say nothing about how intrinsics are called.
load: Any = intrinsic(_load)
store: Any = intrinsic(_store)
load_byte: Any = intrinsic(_load_byte)
store_byte: Any = intrinsic(_store_byte)
load_half: Any = intrinsic(_load_half)
store_half: Any = intrinsic(_store_half)
ask: Any = intrinsic(_ask)
