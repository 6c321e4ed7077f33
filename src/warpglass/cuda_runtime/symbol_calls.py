"""Functions of the runtime API about variables of a program's device code, by the address of their shadow."""

from __future__ import annotations

from ..numba_device.calls import Address, Handle, Int, Size, put
from ..numba_device.results import Refusal, Result
from .calls import call, still
from .memory_calls import copy_of
from .results import Status
from .runtime import Runtime

TO, FROM = (1, 3, 4), (2, 3, 4)  # the directions that a copy to or from a variable may have


@still
@call
def cudaGetSymbolAddress(runtime: Runtime, address: Address, symbol: Address) -> None:
    put(address, runtime.registered.variable(symbol, lent=True)[0])


@still
@call
def cudaGetSymbolSize(runtime: Runtime, size: Address, symbol: Address) -> None:
    put(size, runtime.registered.variable(symbol)[1])


def place_of_symbol(
    runtime: Runtime, symbol: int, offset: int, size: int, kind: int, allowed: tuple[int, ...]
) -> int:
    """The address of bytes of a variable that are copied. Raises Refusal."""
    if kind not in allowed:
        raise Refusal(Status.INVALID_COPY_DIRECTION, f"cudaMemcpyKind {kind}; it may be one of {allowed}")
    address, extent = runtime.registered.variable(symbol)
    if offset + size > extent:
        text = f"{size} bytes at byte {offset} leave a variable of {extent} bytes"
        raise Refusal(Result.INVALID_VALUE, text)
    return address + offset


@still
@call
def cudaMemcpyToSymbol(
    runtime: Runtime, symbol: Address, source: Address, size: Size, offset: Size, kind: Int
) -> None:
    target = place_of_symbol(runtime, symbol, offset, size, kind, TO)
    runtime.driver(copy_of(kind), target, source, size)


@still
@call
def cudaMemcpyToSymbolAsync(
    runtime: Runtime, symbol: Address, source: Address, size: Size, offset: Size, kind: Int, stream: Handle
) -> None:
    target = place_of_symbol(runtime, symbol, offset, size, kind, TO)
    runtime.driver(f"{copy_of(kind)}Async", target, source, size, stream)


@still
@call
def cudaMemcpyFromSymbol(
    runtime: Runtime, target: Address, symbol: Address, size: Size, offset: Size, kind: Int
) -> None:
    source = place_of_symbol(runtime, symbol, offset, size, kind, FROM)
    runtime.driver(copy_of(kind), target, source, size)


@still
@call
def cudaMemcpyFromSymbolAsync(
    runtime: Runtime, target: Address, symbol: Address, size: Size, offset: Size, kind: Int, stream: Handle
) -> None:
    source = place_of_symbol(runtime, symbol, offset, size, kind, FROM)
    runtime.driver(f"{copy_of(kind)}Async", target, source, size, stream)
