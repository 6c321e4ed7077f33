"""uninitialised-read: shared or local memory or an array marked as output, read before it is written.

The stamps of shadow memory tell which places that threads share were never written, a byte each which of
local memory (unwritten.py). Copying an undefined value is no use of it: where a kernel copies within shared
or local memory, undefined bytes are followed through memory (propagation.py) and registers
(shadow_registers.py) to where they are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ....codegen import Emission, WorkerWords
from ....codegen.memory.sites import Site
from ....codegen.values.value import Value
from ....program import Program, Step
from .. import layout
from ..detector import Detector, Watched
from ..diagnostics.recorded import Recorded, Words
from ..emit import where
from ..value_uses import uses_of_loads
from .propagation import follow
from .shadow_registers import ShadowRegisters
from .unwritten import access_local


def _uninitialised_read(found: Recorded) -> Words:
    uses = f"uses {found.element} {found.one.where}"
    if found.other is not None:
        uses = f"uses {found.other.where} what it has loaded from {found.element} {found.one.where}"
    return Words(
        f"{found.one} {uses}, which nobody has written before",
        f"write {found.array or 'it'} first: GPU memory does not start as zeros",
    )


class UndefinedValues(Detector):
    """Loads, and what becomes of the values."""

    kinds: ClassVar = {"uninitialised-read": _uninitialised_read}

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._uses = uses_of_loads(program)
        self._registers = ShadowRegisters(self.code, self._uses, words)
        self._local = program.local.size
        self._follows = any(self._uses.stored(step) for step in self.code.steps.values())

    def access_bits(self, at: Emission, site: Site, step: Step) -> int:
        return (
            int(not site.write and bool(self._uses.loaded(step))) << layout.NOTE_FIELD
            | (0xFF if site.write else self._uses.elements(site.step)) << layout.USED_FIELD
            | (self._element(at, site).bit_length() - 1) << layout.ELEMENT_FIELD
        )

    def _element(self, at: Emission, site: Site) -> int:
        """The bytes of an element of an access."""
        if at.values:
            return max(1, site.size // len(at.values))
        return self._uses.element(site.step, site.size)

    def begin(self, watched: Watched) -> None:
        memory, warps = watched.memory, watched.begun.scene.executable.shape.warps
        local, shared = -(-self._local // 8) * 8, watched.begun.shared
        for worker, state in zip(watched.begun.workers, memory.states, strict=True):
            state[layout.NOTES] = worker.words[self._registers.notes :].ctypes.data
            state[layout.LOCAL] = memory.take(layout.LANES * warps * local + 8, np.uint8)  # read by words
            state[layout.LOCAL_SIZE] = local
            if self._follows:
                state[layout.SHARED_BYTES] = memory.take(shared + 8, np.uint8)
                state[layout.SHARED_SIZE] = shared

    def access(self, at: Emission, site: Site, address: Value) -> None:
        if site.space not in layout.SPACES:
            return
        info, step = self.code.access_word(at, site), self.code.steps[site.step]
        if site.space != "global":
            with self.code.only_read.skipped(at, site, info):
                self._follow(at, site, address, info)
        if info >> layout.NOTE_FIELD & 1:
            place = info >> layout.PLACE_FIELD & layout.PLACES - 1
            addresses = at.lanes.as_vector(address).ir
            self._registers.loaded(at, step, addresses, place, self._element(at, site))

    def step(self, at: Emission, step: Step, sources: Sequence[Value | tuple[Value, ...]]) -> None:
        self._registers.step(at, step, sources)

    def _follow(self, at: Emission, site: Site, address: Value, info: int) -> None:
        """Keep which bytes of shared and local memory are undefined."""
        b, code = at.builder, self.code
        local = site.space == "local" or (site.space == "generic" and self._local > 0)
        if not (self._follows or local):
            return
        found = None
        if site.write:
            found = self._registers.stored(at, code.steps[site.step], self._element(at, site))

        def tell() -> None:
            given = str(info), code.wide(at, at.mask), code.warp(at), code.keep_addresses(at, address)
            if local:
                code.call(at, access_local, *given)
            if self._follows:
                kept = "0" if found is None else code.keep(at, code.values, found)
                code.call(at, follow, *given, kept)

        if not (code.journals and site.space == "shared"):
            tell()
            return
        # Only once undefined bytes were copied to shared memory.
        some = b.load("i64", b.offset(code.pointer(at), 8 * layout.FOLLOWING))
        if found is not None:
            undefined = b.mask_bits(b.value(f"icmp ne <32 x i64> {found}, zeroinitializer"))
            some = b.value(f"or i64 {some}, {code.wide(at, b.value(f'and i32 {undefined}, {at.mask}'))}")
        with where(b, b.value(f"icmp ne i64 {some}, 0"), unlikely=True):
            tell()
