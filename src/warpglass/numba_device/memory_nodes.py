"""Work of a graph that allocates and frees memory.

The address of an allocation is known when its node is made: the memory is there from then on, and is there
again whenever the graph is launched after it was freed.
"""

from __future__ import annotations

from dataclasses import dataclass

from .device import VirtualDevice
from .graphs import Kind
from .memory import Block


@dataclass(frozen=True, slots=True)
class Allocation:
    """The work of a node that allocates."""

    block: Block

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        return Kind.MEM_ALLOC

    def run(self, device: VirtualDevice) -> None:
        """Allocate."""
        if device.memory.find(self.block.base) is not self.block:
            device.memory.restore(self.block)


@dataclass(frozen=True, slots=True)
class Freeing:
    """The work of a node that frees memory."""

    address: int

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        return Kind.MEM_FREE

    def run(self, device: VirtualDevice) -> None:
        """Free it."""
        device.memory.release(self.address, ("device",))
