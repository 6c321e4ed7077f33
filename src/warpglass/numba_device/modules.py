"""Modules on the virtual device: their variables, their kernels, and a launch of one.

A module is PTX. Its variables get memory when it is loaded and keep it until it is unloaded; all its kernels
and the host see the same. A kernel is parsed when it is asked for, with the functions that it reaches and
without the module's other kernels, and made ready when something is first asked of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ptx
from ..codegen.context import MODULE_BASE
from ..engine.cpu.address_space import Laid, ModuleMemory
from ..engine.cpu.prepared import Prepared
from ..engine.cpu.thread_pool import thread_count
from ..engine.launch.arguments import BoundArray
from ..engine.launch.backend import Dim3, Launch, Lines
from ..engine.launch.parameters import Layout
from ..errors import CompileError, UnsupportedError, WarpglassError
from ..program import all_variables
from ..ptx import tree
from ..ptx.parts import Parts
from ..source.compiled import Argument, Compiled
from ..source.cubin import read_resources, resources, retargeted
from .device_runtime import completed
from .images import Image
from .numba_names import arguments_of, plain_name
from .results import Refusal, Result
from .shortcut_tables import BEGUN
from .shortcuts import Repeatable
from .source_arguments import source_arguments
from .views import views_of

if TYPE_CHECKING:
    from .device import VirtualDevice
    from .memory import DeviceMemory

_GUARD = 1 << 24
_WARP = 32
LONG = 300e-6  # seconds: some times what it takes to hand a launch to a thread
_BOUNDS = ("maxntid", "reqntid")


class LoadedModule:
    """A module, or library, of the device."""

    def __init__(self, device: VirtualDevice, image: Image):
        self.device = device
        self.image = image
        self._parts = Parts(completed(image.ptx, device.model))
        self._outside = _parse(self._parts.outside)
        variables = all_variables(self._outside)
        self._managed = {
            one.name: device.memory.allocate(one.size, "managed").base for one in variables if one.managed
        }
        self.memory = ModuleMemory(variables, {}, MODULE_BASE + device.next_module, self._managed)
        end = max((variable.offset + variable.size for variable in variables), default=0)
        device.next_module += -(-(end + _GUARD) // _GUARD) * _GUARD if variables else 0
        self._kernels: dict[str, LoadedKernel] = {}

    @cached_property
    def language(self) -> str:
        """What its kernels were written in, as far as the PTX says: "cuda" or "ptx"."""
        return "cuda" if _FROM_CUDA.search(self.image.ptx) else "ptx"

    def unload(self) -> None:
        """Give back the memory that the program can reach."""
        for base in self._managed.values():
            self.device.memory.release(base, ("managed",))
        self.device.memory.take_back(self.memory.addresses.values())

    @property
    def entries(self) -> list[str]:
        """The names of its kernels."""
        return list(self._parts.entries)

    @property
    def launches(self) -> bool:
        """Whether its kernels launch kernels."""
        return "warpglass_noted" in self.memory.addresses

    @property
    def architecture(self) -> int:
        """The architecture that its PTX was compiled for, such as 90."""
        return int(re.sub(r"\D", "", self._outside.target[0]))

    def kernel(self, name: str) -> LoadedKernel:
        """The kernel of a name; raises Refusal if there is none."""
        if name not in self._kernels:
            if name not in self._parts.entries:
                raise Refusal(Result.NOT_FOUND, f"the module has no kernel {name!r}")
            self._kernels[name] = LoadedKernel(self, name, self._parts.of(name))
        return self._kernels[name]

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size of a variable; raises Refusal if there is none."""
        for variable in self.memory.variables:
            if variable.name == name:
                return self.memory.addresses[name], variable.size
        raise Refusal(Result.NOT_FOUND, f"the module has no variable {name!r}")

    def lent(self, name: str) -> tuple[int, int]:
        """Address and size of a variable for the host, which may pass it to kernels of other modules, too."""
        address, size = self.variable(name)
        host = self.host(address, size)
        if host is not None:
            self.device.shortcuts.change()
            self.device.memory.lend(address, size, host)
        return address, size

    def host(self, address: int, size: int) -> int | None:
        """Where bytes of its variables lie on the host; None for an address of none of them."""
        words = self.memory.words
        for base, extent, delta in zip(words[::4], words[1::4], words[2::4], strict=True):
            if base <= address and address + size <= base + extent:
                return address + delta
        return None


# The line table of what was compiled from CUDA C++.
_FROM_CUDA = re.compile(r'\n\s*\.file\s+\d+\s+"[^"]*\.cuh?"')


def _parse(text: str) -> tree.Module:
    try:
        return ptx.parse(text, "PTX")
    except CompileError as error:
        raise Refusal(Result.INVALID_PTX, str(error)) from None


class LoadedKernel:
    """A kernel of a module."""

    def __init__(self, module: LoadedModule, name: str, text: str):
        self.module = module
        self._text = text
        self._tree = _parse(text)
        self.entry = next(one for one in self._tree.functions if one.entry and one.name == name)
        self.allowed_shared: int | None = None  # dynamic, as the program has set it
        self.carveout = -1
        self.handle: int | None = None  # once the program has asked for it
        self._by_compiled: dict[Compiled, Prepared] = {}
        self._seconds: dict[tuple[Dim3, Dim3], float] = {}  # of the last launches, by grid and block

    @cached_property
    def compiled(self) -> Compiled:
        """The kernel as the engine takes it."""
        arguments = arguments_of(self.entry, self._text)
        return Compiled(
            ptx=self._text,
            entry=self.entry.name,
            name=plain_name(self.entry.name),
            language=self.module.language if arguments is None else "python",
            arguments=arguments,
        )

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """Its arguments as its author knows them, for messages and observers."""
        return self.compiled.arguments or source_arguments(self.entry, self._text)

    def prepare(self, compiled: Compiled) -> Prepared:
        """The engine's kernel; raises Refusal for what the engine cannot run."""
        found = self._by_compiled.get(compiled)
        if found is None:
            try:
                found = self._by_compiled[compiled] = self._prepare(compiled)
            except UnsupportedError as error:
                raise Refusal(Result.NOT_SUPPORTED, str(error)) from None
            except WarpglassError as error:
                raise Refusal(Result.INVALID_PTX, str(error)) from None
        return found

    def _prepare(self, compiled: Compiled) -> Prepared:
        own = compiled.ptx == self._text
        return Prepared(compiled, self.module.memory, self._tree if own else None)

    @cached_property
    def prepared(self) -> Prepared:
        """Ready to run."""
        return self.prepare(self.compiled)

    @cached_property
    def layout(self) -> Layout:
        """Its parameters."""
        return self.prepared.binder.layout

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Offset and size of each parameter."""
        return [(one.offset, one.size) for one in self.layout.parameters]

    @cached_property
    def no_arguments(self) -> tuple[int, ...]:
        """Something for each argument: only the parameters count."""
        return (0,) * len(self.prepared.binder.names)

    @property
    def max_dynamic_shared(self) -> int:
        """The most dynamic shared memory of a launch, in bytes; without opting in, what is left of 48 KiB."""
        if self.allowed_shared is not None:
            return self.allowed_shared
        return max(0, self.module.device.model.limits.shared_per_block - self.static_shared)

    @cached_property
    def static_shared(self) -> int:
        """Bytes of shared memory that it declares."""
        return self.prepared.facts.shared.static

    @cached_property
    def bounds(self) -> int:
        """The most threads of a block, as the kernel's author and the GPU have it."""
        given = [math.prod(values) for name, values in self.entry.directives if name in _BOUNDS]
        return min([self.module.device.model.limits.threads_per_block, *given])

    def check(self, grid: Dim3, block: Dim3, shared: int) -> None:
        """Raise Refusal for what no kernel is launched with; the rest is the engine's to say."""
        if 0 in grid or 0 in block:
            raise Refusal(Result.INVALID_VALUE, f"an extent of the grid {grid} or the block {block} is 0")
        if math.prod(block) > self.bounds:
            text = f"a block of {block}, but the kernel was compiled for at most {self.bounds} threads"
            raise Refusal(Result.INVALID_VALUE, text)
        if shared and shared > self.max_dynamic_shared:
            raise Refusal(
                Result.INVALID_VALUE,
                f"{shared} bytes of dynamic shared memory, but the kernel allows {self.max_dynamic_shared}",
            )

    @cached_property
    def attributes(self) -> dict[str, int]:
        """What the driver says of a kernel: registers, and bytes of shared, local and constant memory."""
        limits = self.module.device.model.limits
        major, minor = limits.capability
        cubin, target = self.module.image.cubin, f"sm_{major}{minor}"
        try:
            if cubin is not None:
                found = read_resources(cubin, self.entry.name, target, limits.shared_reserved)
            else:
                newer = self.module.architecture > 10 * limits.capability[0] + limits.capability[1]
                found = resources(retargeted(self.compiled, target) if newer else self.compiled, target)
        except CompileError as error:
            raise Refusal(Result.INVALID_PTX, str(error)) from None
        allocated = -(-max(1, found.registers) * _WARP // limits.register_unit) * limits.register_unit
        threads = min(self.bounds, limits.registers_per_block // allocated * _WARP)
        constants = [one for one in self.module.memory.variables if not one.writable]
        return {
            "registers": found.registers,
            "shared": found.static_shared,
            "local": found.local,
            "const": sum(one.size for one in constants),
            "threads": threads,
        }

    def launch(
        self,
        grid: Dim3,
        block: Dim3,
        shared: int,
        parameters: bytes,
        *,
        cooperative: bool = False,
        cluster: Dim3 | None = None,
    ) -> Launch:
        """A launch with these bytes of parameters."""
        return Launch(
            self.compiled,
            grid,
            block,
            self.no_arguments,
            shared,
            math.inf,
            resident=_Invocation(self, parameters),
            cooperative=cooperative,
            cluster=cluster,
        )

    def seconds_of(self, grid: Dim3, block: Dim3) -> float | None:
        """How long the last launch with this grid and block has taken; None if that is not known."""
        return self._seconds.get((grid, block))

    def note_seconds(self, launch: Launch, seconds: float) -> None:
        """A launch has taken so long, which is remembered of grids that may leave cores free."""
        if math.prod(launch.grid) < thread_count():
            self._seconds[launch.grid, launch.block] = seconds

    def repeatable(self, launch: Launch) -> Repeatable | None:
        """A launch of it for the table of those that machine code makes; None if it is too long for that."""
        device = self.module.device
        replay = device.replay(launch)
        if replay is None:
            return None

        def failed(code: int, parameters: bytes) -> int:
            again = self.launch(launch.grid, launch.block, launch.shared, parameters)
            if code >= BEGUN:
                self.note_seconds(again, device.launch(replace(again, begun=code - BEGUN)))
            else:
                device.failed(replay.explain(code, again))
            return Result.SUCCESS

        return Repeatable(replay, self.places, self.layout.size, failed)


@dataclass(frozen=True, slots=True)
class _Invocation:
    """What a launch is of: a kernel of the device, with its parameters."""

    kernel: LoadedKernel
    parameters: bytes

    @property
    def registers(self) -> int | None:
        """The registers of a thread in the kernel's machine code."""
        try:
            return self.kernel.attributes["registers"]
        except Refusal:  # there is no assembler, or it does not take the PTX
            return None

    def prepare(self, compiled: Compiled) -> Prepared:
        """The kernel, or another form of it, with the variables of its module."""
        kernel = self.kernel
        return kernel.prepared if compiled is kernel.compiled else kernel.prepare(compiled)

    def bind(self, prepared: Prepared) -> PackedArguments:
        """The parameters' values."""
        return PackedArguments(self, prepared)

    @property
    def _memory(self) -> DeviceMemory:
        return self.kernel.module.device.memory

    def lay_out(self) -> Laid:
        """The device's memory."""
        return self._memory.lay_out(self.parameters)

    @property
    def layout(self) -> Hashable:
        """The state of the memory's layout."""
        return self._memory.layout

    def written(self) -> Mapping[int, np.ndarray[Any, Any]]:
        """What of the device's memory was written before the launch."""
        return self._memory.written()

    def add_written(self, touched: Mapping[int, Lines]) -> None:
        """Note what it has written itself."""
        self._memory.add_written(touched)

    def freed(self, address: int) -> str | None:
        """Memory of the device that the program has freed."""
        block = self._memory.freed(address)
        if block is None:
            return None
        return f"byte {address - block.base} of allocation {block.number} ({block.size} bytes)"


class PackedArguments:
    """The arguments of a launch, of which there are packed parameters only (engine/launch/arguments.py)."""

    def __init__(self, invocation: _Invocation, prepared: Prepared):
        self._invocation = invocation
        self.layout = prepared.binder.layout

    @cached_property
    def values(self) -> tuple[object, ...]:
        """The value of each parameter."""
        return self.layout.format.unpack(self._invocation.parameters)

    @property
    def parameters(self) -> Sequence[object]:
        """The parameters."""
        return self.layout.parameters

    @property
    def allocations(self) -> tuple[object, ...]:
        """All memory of the device."""
        return tuple(one.allocation for one in self._invocation.lay_out().placed)

    @cached_property
    def arrays(self) -> tuple[BoundArray, ...]:
        """What parameters point to."""
        return views_of(self._invocation.kernel.arguments, self.values, self._invocation.lay_out().placed)
