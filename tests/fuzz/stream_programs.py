"""Random programs of several streams: `attempt(number)` is what watched.py tries.

A program launches kernels, copies, fills and graphs in blocking streams, others and the default stream,
orders what depends on each other by events and synchronisation, and leaves the rest to run at once. Whatever
runs when, all memory and all that was copied to the host is as if each thing had been done when it was asked
for, and host functions of a stream come in order.

The program is the driver's: it is asked by its functions in C. Who knows that what has ended is told by sets:
of each stream, and of the host, all operations that surely come before its next one.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tests.engines import worker_threads
from warpglass import numba_device
from warpglass.numba_device import launch_calls, memory_calls, modules

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry mix(.param .u64 out, .param .u64 other, .param .u32 seed, .param .u32 rounds)
{
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [out]; ld.param.u64 %d1, [other];
    ld.param.u32 %r0, [seed]; ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r2, %r2, 32, %r3;
    mul.wide.u32 %d2, %r2, 4; add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
    ld.global.u32 %r4, [%d0]; ld.global.u32 %r5, [%d1]; xor.b32 %r4, %r4, %r0;
    mov.u32 %r6, 0;
LOOP:
    mad.lo.u32 %r4, %r4, 1664525, %r5; add.u32 %r4, %r4, %r6;
    add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, %r1;
    @%p bra LOOP;
    st.global.u32 [%d0], %r4;
    ret;
}
.visible .entry count(.param .u64 out, .param .u32 rounds)
{
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [out]; ld.param.u32 %r1, [rounds];
    mov.u32 %r3, %tid.x; and.b32 %r3, %r3, 3;
    mul.wide.u32 %d2, %r3, 4; add.u64 %d0, %d0, %d2;
    mov.u32 %r6, 0;
LOOP:
    red.global.add.u32 [%d0], 1;
    add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, %r1;
    @%p bra LOOP;
    ret;
}
"""
SIZE, BUFFERS, STREAMS, THREADS = 96, 5, 5, 4
_ROUNDS = (1, 1, 100, 3000, 40_000)
_WORD = (1 << 32) - 1
_HOST = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Words = np.ndarray[Any, Any]


@cache
def _driver() -> ctypes.CDLL:
    numba_device.activate()
    library = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_uint64()
    assert library.cuInit(0) == 0
    assert library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert library.cuCtxSetCurrent(context) == 0
    return library


def ask(name: str, *arguments: Any) -> None:
    """Call a function of the driver that must succeed; integers are 64 bits wide."""
    wide = [ctypes.c_uint64(one) if isinstance(one, int) else one for one in arguments]
    status = getattr(_driver(), name)(*wide)
    assert status == 0, f"{name} returned {status}"


def made(name: str, *arguments: Any) -> int:
    """What a function writes to where its first argument points."""
    found = ctypes.c_uint64()
    ask(name, ctypes.byref(found), *arguments)
    return found.value


@cache
def kernels() -> tuple[int, int]:
    module = made("cuModuleLoadData", ctypes.c_char_p(PTX.encode()))
    return tuple(made("cuModuleGetFunction", module, ctypes.c_char_p(one)) for one in (b"mix", b"count"))  # type: ignore[return-value]


@cache
def _mixing(rounds: int) -> tuple[int, int, int]:
    """What a mix makes of a word x and the other's y: a * x + b * y + c."""
    a, b, c = 1, 0, 0
    for k in range(max(1, rounds)):
        a, b, c = a * 1664525 & _WORD, b * 1664525 + 1 & _WORD, c * 1664525 + k & _WORD
    return a, b, c


class Program:
    """One program, which is run as it is made up; `memory` is what buffers hold if all is done in turn."""

    def __init__(self, number: int):
        self.rng = rng = random.Random(number)
        self.memory = [np.arange(SIZE, dtype=np.uint32) * (k + 3) for k in range(BUFFERS)]
        self.buffers = [made("cuMemAlloc_v2", 4 * SIZE) for _ in range(BUFFERS)]
        for address, content in zip(self.buffers, self.memory, strict=True):
            ask("cuMemcpyHtoD_v2", address, content.ctypes.data, content.nbytes)
        self.blocking = [True, *(rng.random() < 0.6 for _ in range(1, STREAMS))]
        self.streams = [0, *(made("cuStreamCreate", int(not one)) for one in self.blocking[1:])]
        self.fork = made("cuStreamCreate", 1)
        self.known: list[set[int]] = [set() for _ in range(STREAMS)]
        self.host: set[int] = set()
        self.own: dict[int, int] = {}  # the stream of each operation
        self.last: list[dict[str, set[int]]] = [
            {"write": set(), "read": set(), "count": set()} for _ in range(BUFFERS)
        ]
        self.checks: list[Callable[[], None]] = []
        self.kept: list[object] = []
        self.called: list[tuple[int, int]] = []
        self.asked: list[tuple[int, int]] = []

    # ------------------------------------------------------------------------------------ order
    def before(self, stream: int) -> set[int]:
        """What the stream's next operation comes after, by the host's knowledge and the default stream."""
        found = self.known[stream] | self.host
        if stream == 0:
            return found.union(*(self.known[k] for k in range(1, STREAMS) if self.blocking[k]))
        return found | self.known[0] if self.blocking[stream] else found

    def act(self, stream: int) -> None:
        """The stream is asked for something."""
        self.known[stream] = self.before(stream)

    def order(self, stream: int, uses: dict[int, str]) -> None:
        """Let the stream's next operation come after all that it depends on by its use of buffers."""
        needed: set[int] = set()
        for buffer, use in uses.items():
            last = self.last[buffer]
            needed |= last["write"]
            needed |= last["count"] if use != "count" else set()
            needed |= last["read"] if use != "read" else set()
        while missing := needed - self.before(stream):
            self.wait_for(stream, self.own[min(missing)])
        self.act(stream)
        number = len(self.own)
        self.own[number] = stream
        self.known[stream].add(number)
        for buffer, use in uses.items():
            if use == "write":
                self.last[buffer] = {"write": {number}, "read": set(), "count": set()}
            else:
                self.last[buffer][use].add(number)

    def wait_for(self, stream: int, other: int) -> None:
        """Let a stream wait for all that another has been asked for."""
        how = self.rng.random()
        if how < 0.6:
            event = made("cuEventCreate", 2)
            ask("cuEventRecord", event, self.streams[other])
            self.act(other)
            ask("cuStreamWaitEvent", self.streams[stream], event, 0)
            self.act(stream)
            self.known[stream] |= self.known[other]
            if self.rng.random() < 0.5:
                ask("cuEventDestroy_v2", event)
        elif how < 0.75:
            event = made("cuEventCreate", 0)
            ask("cuEventRecord", event, self.streams[other])
            self.act(other)
            ask("cuEventSynchronize", event)
            self.host |= self.known[other]
        elif how < 0.9:
            ask("cuStreamSynchronize", self.streams[other])
            self.host |= self.known[other]
        else:
            ask("cuCtxSynchronize")
            self.host |= set(self.own)

    # ------------------------------------------------------------------------------------ operations
    def mix(self, stream: int, handle: int, out: int, other: int) -> None:
        """A kernel that changes a buffer by another."""
        seed, rounds, grid = self.rng.getrandbits(32), self.rng.choice(_ROUNDS), self.rng.randrange(1, 4)
        self._launch(
            0, grid, handle, [(self.buffers[out], 8), (self.buffers[other], 8), (seed, 4), (rounds, 4)]
        )
        part = slice(0, 32 * grid)
        a, b, c = _mixing(rounds)
        x, y = self.memory[out][part].astype(np.uint64) ^ seed, self.memory[other][part].astype(np.uint64)
        self.memory[out][part] = (a * x + b * y + c) & _WORD

    def count(self, stream: int, handle: int, out: int) -> None:
        """A kernel that adds to words, as others may at the same time."""
        rounds, grid = self.rng.choice(_ROUNDS[:-1]), self.rng.randrange(1, 4)
        self._launch(1, grid, handle, [(self.buffers[out], 8), (rounds, 4)])
        self.memory[out][:4] += np.uint32(8 * grid * max(1, rounds))

    def _launch(self, which: int, grid: int, handle: int, values: list[tuple[int, int]]) -> None:
        words = [(ctypes.c_uint64 if size == 8 else ctypes.c_uint32)(value) for value, size in values]
        pointers = (ctypes.c_void_p * len(words))(*map(ctypes.addressof, words))
        shape = [ctypes.c_uint32(one) for one in (grid, 1, 1, 32, 1, 1, 0)]
        ask("cuLaunchKernel", kernels()[which], *shape, handle, pointers, 0)

    def copy(self, stream: int, handle: int, out: int, other: int) -> None:
        """A copy on the device."""
        ask("cuMemcpyDtoDAsync_v2", self.buffers[out], self.buffers[other], 4 * SIZE, handle)
        self.memory[out][:] = self.memory[other]

    def fill(self, stream: int, handle: int, out: int) -> None:
        """A fill."""
        value = self.rng.getrandbits(32)
        ask("cuMemsetD32Async", self.buffers[out], ctypes.c_uint32(value), SIZE, handle)
        self.memory[out][:] = value

    def up(self, stream: int, handle: int, out: int) -> None:
        """A copy from the host; what is pageable may change as soon as the call is back."""
        content = np.random.default_rng(self.rng.getrandbits(32)).integers(0, 1 << 32, SIZE, np.uint32)
        pinned = self.rng.random() < 0.5
        source = self._words(pinned)
        source[:] = content
        ask("cuMemcpyHtoDAsync_v2", self.buffers[out], source.ctypes.data, 4 * SIZE, handle)
        if not pinned:
            source[:] = 0
        self.memory[out][:] = content

    def down(self, stream: int, handle: int, other: int) -> None:
        """A copy to the host; pageable memory has it as soon as the call is back."""
        pinned = self.rng.random() < 0.7
        target, wanted = self._words(pinned), self.memory[other].copy()
        ask("cuMemcpyDtoHAsync_v2", target.ctypes.data, self.buffers[other], 4 * SIZE, handle)

        def check() -> None:
            assert (target == wanted).all(), "a copy to the host"

        self.checks.append(check)
        if not pinned:
            check()

    def _words(self, pinned: bool) -> Words:
        if not pinned:
            found = np.zeros(SIZE, np.uint32)
        else:
            address = made("cuMemAllocHost_v2", 4 * SIZE)
            found = np.ctypeslib.as_array((ctypes.c_uint32 * SIZE).from_address(address))
        self.kept.append(found)
        return found

    def host_function(self, stream: int, handle: int) -> None:
        """A function of the host, which says that it was called."""
        said = stream, len(self.asked)
        function = _HOST(lambda _: self.called.append(said))
        self.kept.append(function)
        self.asked.append(said)
        ask("cuLaunchHostFunc", handle, function, 0)

    def graph(self, stream: int) -> None:
        """A graph that the stream captures, with a branch, and launches."""
        handle = self.streams[stream]
        out, other, third = self.rng.sample(range(BUFFERS), 3)
        fork = self.rng.random() < 0.7
        begun, ended = made("cuEventCreate", 2), made("cuEventCreate", 2)
        # All is in order within the graph: what it does and what its model does is the same.
        self.order(stream, {out: "write", other: "write", third: "read"})
        if stream == 0:
            return self.mix(stream, handle, out, third)
        ask("cuStreamBeginCapture_v2", handle, 2)
        self.mix(stream, handle, out, third)
        if fork:
            ask("cuEventRecord", begun, handle)
            ask("cuStreamWaitEvent", self.fork, begun, 0)
        self.mix(stream, self.fork if fork else handle, other, third)
        self.mix(stream, handle, out, third)
        if fork:
            ask("cuEventRecord", ended, self.fork)
            ask("cuStreamWaitEvent", handle, ended, 0)
        self.mix(stream, handle, out, other)
        graph = self._end(handle)
        executable = made("cuGraphInstantiateWithFlags", graph, 0)
        ask("cuGraphLaunch", executable, handle)
        return None

    def _end(self, handle: int) -> int:
        graph = ctypes.c_uint64()
        ask("cuStreamEndCapture", handle, ctypes.byref(graph))
        return graph.value

    def step(self) -> None:
        """One more operation."""
        stream = self.rng.randrange(STREAMS)
        handle, kind = self.streams[stream], self.rng.random()
        out, other = self.rng.sample(range(BUFFERS), 2)
        if kind < 0.4:
            self.order(stream, {out: "write", other: "read"})
            self.mix(stream, handle, out, other)
        elif kind < 0.52:
            self.order(stream, {0: "count"})
            self.count(stream, handle, 0)
        elif kind < 0.6:
            self.order(stream, {out: "write", other: "read"})
            self.copy(stream, handle, out, other)
        elif kind < 0.66:
            self.order(stream, {out: "write"})
            self.fill(stream, handle, out)
        elif kind < 0.74:
            self.order(stream, {out: "write"})
            self.up(stream, handle, out)
        elif kind < 0.84:
            self.order(stream, {other: "read"})
            self.down(stream, handle, other)
        elif kind < 0.9:
            self.order(stream, {})
            self.host_function(stream, handle)
        elif kind < 0.96:
            self.graph(stream)
        else:
            self.wait_for(stream, self.rng.randrange(STREAMS))

    def end(self) -> None:
        """Wait for all, and compare."""
        ask("cuCtxSynchronize")
        for check in self.checks:
            check()
        for number, (address, wanted) in enumerate(zip(self.buffers, self.memory, strict=True)):
            found = np.zeros(SIZE, np.uint32)
            ask("cuMemcpyDtoH_v2", found.ctypes.data, address, found.nbytes)
            assert (found == wanted).all(), f"buffer {number} differs"
        for stream in range(STREAMS):
            order = [one for one in self.called if one[0] == stream]
            assert order == [one for one in self.asked if one[0] == stream], f"host functions of {stream}"
        for address in self.buffers:
            ask("cuMemFree_v2", address)
        for handle in (*self.streams[1:], self.fork):
            ask("cuStreamDestroy_v2", handle)


def attempt(number: int) -> str:
    """Make up a program and run it; of two programs one lets all that it can run behind."""
    eager = number % 2 == 0
    with worker_threads(THREADS):
        _driver()
        before = modules.LONG, memory_calls.LONG
        try:
            if eager:
                modules.LONG = launch_calls.LONG = 0.0
                memory_calls.LONG = 0
            program = Program(number)
            for _ in range(program.rng.randrange(10, 60)):
                program.step()
            program.end()
        finally:
            modules.LONG, memory_calls.LONG = before
            launch_calls.LONG = modules.LONG
    return "agree, behind" if eager else "agree"
