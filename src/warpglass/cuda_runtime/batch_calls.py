"""Functions of the runtime API that do to many stretches of memory at once what others do to one."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from ..numba_device.calls import Address, Handle, Size
from .calls import call, release_12, still
from .runtime import Runtime


def _words(place: Address, count: int) -> list[int]:
    return list((ctypes.c_uint64 * count).from_address(place)) if count else []


def _pairs(addresses: Address, sizes: Address, count: int) -> Iterator[tuple[int, int]]:
    return zip(_words(addresses, count), _words(sizes, count), strict=True)


@still
@call
def cudaMemcpyBatchAsync(
    runtime: Runtime,
    targets: Address,
    sources: Address,
    sizes: Address,
    count: Size,
    attributes: Address,
    indices: Address,
    kinds: Size,
    stream: Handle,
) -> None:
    stretches = zip(_words(targets, count), _words(sources, count), _words(sizes, count), strict=True)
    for target, source, size in stretches:
        runtime.driver("cuMemcpyAsync", target, source, size, stream)


@release_12
@still
@call
def cudaMemcpyBatchAsync_12(
    runtime: Runtime,
    targets: Address,
    sources: Address,
    sizes: Address,
    count: Size,
    attributes: Address,
    indices: Address,
    kinds: Size,
    failed: Address,
    stream: Handle,
) -> None:
    cudaMemcpyBatchAsync(runtime, targets, sources, sizes, count, attributes, indices, kinds, stream)


@call
def cudaMemPrefetchBatchAsync(
    runtime: Runtime,
    addresses: Address,
    sizes: Address,
    count: Size,
    locations: Address,
    indices: Address,
    kinds: Size,
    flags: Size,
    stream: Handle,
) -> None:
    for address, size in _pairs(addresses, sizes, count):
        runtime.driver("cuMemPrefetchAsync", address, size, 0, 0, stream)


@call
def cudaMemDiscardBatchAsync(
    runtime: Runtime, addresses: Address, sizes: Address, count: Size, flags: Size, stream: Handle
) -> None:
    for address, size in _pairs(addresses, sizes, count):
        runtime.driver("cuMemPrefetchAsync", address, size, 0, 0, stream)


@call
def cudaMemDiscardAndPrefetchBatchAsync(
    runtime: Runtime,
    addresses: Address,
    sizes: Address,
    count: Size,
    locations: Address,
    indices: Address,
    kinds: Size,
    flags: Size,
    stream: Handle,
) -> None:
    cudaMemDiscardBatchAsync(runtime, addresses, sizes, count, flags, stream)
