"""What a program compiled by nvcc has registered: fat binaries, kernels and variables, by host address.

Constructors register before main() begins, so nothing is read then: a fat binary becomes a module when a
kernel or a variable of it is asked for, and again after the device was reset.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

from ..errors import CompileError
from ..numba_device.calls import put, word
from ..numba_device.device import VirtualDevice
from ..numba_device.images import Image, read_image
from ..numba_device.merging import merge
from ..numba_device.module_calls import architecture, handle_of, unload
from ..numba_device.modules import LoadedKernel, LoadedModule
from ..numba_device.results import Refusal, Result
from .results import Status


@dataclass(eq=False)
class FatBinary:
    """Device code: the addresses of its wrappers, one for each unit, and its module once it is loaded."""

    wrappers: list[int]
    managed: dict[str, int] = field(default_factory=dict)  # where the program keeps the variable's address
    module: int | None = None  # its handle


@dataclass(frozen=True, slots=True)
class Named:
    """A kernel or a variable of a fat binary."""

    binary: FatBinary
    name: str


class Registered:
    """All that is registered in the process."""

    def __init__(self, device: VirtualDevice):
        self._device = device
        self._binaries: dict[int, FatBinary] = {}  # by the handle that the program has
        self._kernels: dict[int, Named] = {}
        self._variables: dict[int, Named] = {}
        self._handles: dict[int, ctypes.Array[ctypes.c_uint64]] = {}
        self._linking: int | None = None  # the handle of what separately compiled units are linked to

    # ------------------------------------------------------------------------------------ registering
    def add_binary(self, wrapper: int) -> int:
        """Register a fat binary; returns its handle, an address that the program gives back."""
        cell = (ctypes.c_uint64 * 1)(wrapper)
        handle = ctypes.addressof(cell)
        self._handles[handle] = cell
        self.adopt_binary(handle)
        return handle

    def adopt_binary(self, handle: int) -> None:
        """Register a fat binary by the handle that the program has: the address of its wrapper's address."""
        self._binaries[handle] = FatBinary([word(handle)])

    def add_unit(self, wrapper: int) -> int:
        """Register a separately compiled unit; those before the first use are linked to one module."""
        binary = self._binaries.get(self._linking or 0)
        if self._linking is None or binary is None or binary.module is not None:
            self._linking = self.add_binary(wrapper)
        else:
            binary.wrappers.append(wrapper)
        return self._linking

    def remove_binary(self, handle: int) -> None:
        """Forget a fat binary with all its kernels and variables; the program's library is unloaded."""
        binary = self._binaries.pop(handle, None)
        self._handles.pop(handle, None)
        if binary is None:
            return
        for table in (self._kernels, self._variables):
            for address in [address for address, one in table.items() if one.binary is binary]:
                del table[address]
        if binary.module is not None and self._device.has(binary.module, LoadedModule):
            unload(self._device, binary.module)

    def add_kernel(self, handle: int, host: int, name: str) -> None:
        """Register a kernel by the address of its host function."""
        self._kernels[host] = Named(self._binaries[handle], name)

    def add_variable(self, handle: int, host: int, name: str) -> None:
        """Register a variable by the address of its shadow."""
        self._variables[host] = Named(self._binaries[handle], name)

    def add_managed(self, handle: int, host: int, name: str) -> None:
        """Register a managed variable; `host` is where the program looks up its address."""
        self._variables[host] = Named(self._binaries[handle], name)
        self._binaries[handle].managed[name] = host

    # ------------------------------------------------------------------------------------ finding
    def load(self, handle: int) -> None:
        """Load a fat binary. Raises Refusal."""
        self._module(self._binaries[handle])

    def kernel(self, function: int) -> LoadedKernel:
        """The kernel of a host function, or of a handle. Raises Refusal."""
        named = self._kernels.get(function)
        if named is not None:
            return self._module(named.binary).kernel(named.name)
        if self._device.has(function, LoadedKernel):
            return self._device.get(function, LoadedKernel)
        raise Refusal(Status.INVALID_DEVICE_FUNCTION, f"{function:#x} is no kernel of the program's")

    def kernel_handle(self, function: int) -> int:
        """Likewise, the kernel's handle."""
        return handle_of(self._device, self.kernel(function))

    def host_function(self, handle: int) -> int:
        """The host function of a kernel's handle; the handle itself for one of a library's or a module's."""
        wanted = self._device.get(handle, LoadedKernel)
        for host, named in self._kernels.items():
            loaded = named.binary.module is not None and self._module(named.binary) is wanted.module
            if loaded and named.name == wanted.entry.name:
                return host
        return handle

    def variable(self, shadow: int, *, lent: bool = False) -> tuple[int, int]:
        """Address and size of a variable, which the program may be `lent` for any kernel. Raises Refusal."""
        named = self._variables.get(shadow)
        if named is None:
            raise Refusal(Status.INVALID_SYMBOL, f"{shadow:#x} is no variable of the program's")
        module = self._module(named.binary)
        return module.lent(named.name) if lent else module.variable(named.name)

    def _image(self, binary: FatBinary) -> Image:
        """The device code of a fat binary, linked. Raises Refusal."""
        images = [read_image(wrapper, architecture(self._device)) for wrapper in binary.wrappers]
        if len(images) == 1:
            return images[0]
        try:
            return Image(merge([image.ptx for image in images]))
        except CompileError as error:
            raise Refusal(Result.INVALID_PTX, str(error)) from None

    def _module(self, binary: FatBinary) -> LoadedModule:
        device = self._device
        if binary.module is None or not device.has(binary.module, LoadedModule):
            module = LoadedModule(device, self._image(binary))
            binary.module = device.add(module)
            for name, place in binary.managed.items():
                address, _ = module.variable(name)
                put(place, address)
                self._variables[address] = Named(binary, name)  # what &name is from now on
        return device.get(binary.module, LoadedModule)
