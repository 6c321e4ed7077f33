"""Raw memory and function pointers for numba: what native functions need and Python has no words for."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)


def _loader(bits: int, *, signed: bool = False) -> Any:
    """Loads an integer of so many bits at an address, as a word."""

    def load(typing: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = builder.load(builder.inttoptr(args[0], ir.IntType(bits).as_pointer()))
            return value if bits == 64 else (builder.sext if signed else builder.zext)(value, _WORD)

        return types.int64(types.int64), emit

    return intrinsic(load)


def _storer(bits: int) -> Any:
    """Puts the lowest bits of a word at an address."""

    def store(typing: Any, address: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            narrow = args[1] if bits == 64 else builder.trunc(args[1], ir.IntType(bits))
            builder.store(narrow, builder.inttoptr(args[0], ir.IntType(bits).as_pointer()))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), emit

    return intrinsic(store)


def _ask(typing: Any, function: Any, worker: Any, stamp: Any, other: Any) -> Any:
    """Call a host function of three words that returns one."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_WORD] * 3).as_pointer()
        return builder.call(builder.inttoptr(args[0], kind), args[1:])

    return types.int64(types.int64, types.int64, types.int64, types.int64), emit


# numba's own types say nothing about how intrinsics are called.
load, store = _loader(64), _storer(64)
load_byte, store_byte = _loader(8), _storer(8)
load_half, store_half = _loader(32, signed=True), _storer(32)
ask: Any = intrinsic(_ask)
