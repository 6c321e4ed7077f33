"""A program for `warpglass check`: undefined texels, a race on a surface, coordinates outside, no object."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np

from warpglass.numba_device import activate

from . import cases, surfaces
from . import driver as d


def main() -> None:
    """Ask for what is wrong, one thing after another."""
    activate()
    array, size = ctypes.c_uint64(), d.ArrayDescriptor(64, 64, 0, 32, 1, d.SURFACE)
    d.call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(size))
    resource = d.ResourceDescriptor(type=0)
    resource.of.array = array.value
    case = cases.Case("checked", size=(64, 64, 0), linear=True, coordinates="inside")
    texture = d.texture(resource, d.TextureDescriptor())
    d.run(cases.instruction_of(case), texture, cases.inputs_of(case))
    store = surfaces.Surface("store", "sust.b.2d.b32.zero", "2d")
    rows = np.zeros((256, d.ROW), np.uint32)
    rows[:, 0] = np.arange(256) // 2 % 64 * 4
    rows[:, 4] = np.arange(256)
    d.run(surfaces.instruction(store), d.surface(array.value), rows)
    rows[:, 0] = 64 * 4
    for instruction, handle in (
        ("sust.b.2d.b32.trap", d.surface(array.value)),
        ("sust.b.2d.b32.zero", 0x3039),
    ):
        try:
            d.run(surfaces.instruction(replace(store, instruction=instruction)), handle, rows)
        except d.DriverError as error:
            print(error.args)  # noqa: T201
            d.start_again()


if __name__ == "__main__":
    main()
