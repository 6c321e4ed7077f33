"""Occupancy and bandwidth against the GPU that is present: `pytest -m gpu tests/models`.

Kernels of many register counts, shared arrays and barriers are made as PTX and assembled by the driver; its
answer for a thousand random launches, carve-outs among them, is compared with ours.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from warpglass.devices.device import limits_of
from warpglass.engine.gpu.backend import GpuBackend
from warpglass.engine.gpu.detection import problem
from warpglass.engine.gpu.driver import Driver
from warpglass.models.occupancy import Demand, best_block, occupancy

pytestmark = pytest.mark.gpu

LAUNCHES = 1000


@dataclass(frozen=True)
class Made:
    """A kernel that the driver has assembled, and what it takes."""

    function: Any
    registers: int
    static_shared: int
    barriers: int


class Gpu:
    """The driver's calls that these tests need, in the primary context."""

    def __init__(self) -> None:
        import cuda.bindings.driver as api

        self.api: Any = api
        self.driver = Driver(api)
        self.driver.call("cuInit", 0)
        self.device = self.driver.call("cuDeviceGet", 0)
        self.context = self.driver.call("cuDevicePrimaryCtxRetain", self.device)
        self.driver.call("cuCtxSetCurrent", self.context)
        kind = api.CUdevice_attribute
        self.capability = (
            self.attribute(kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            self.attribute(kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        )
        self.multiprocessors = self.attribute(kind.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)

    def attribute(self, which: Any) -> int:
        return int(self.driver.call("cuDeviceGetAttribute", which, self.device))

    def make(self, live: int, shared: int, barriers: int, most: int | None) -> Made:
        """Assemble a kernel that keeps `live` numbers alive at once, with at most `most` registers."""
        module = self.driver.call("cuModuleLoadData", kernel(live, shared, barriers, most).encode() + b"\0")
        function = self.driver.call("cuModuleGetFunction", module, b"k")
        kind = self.api.CUfunction_attribute
        registers = int(self.driver.call("cuFuncGetAttribute", kind.CU_FUNC_ATTRIBUTE_NUM_REGS, function))
        static = int(
            self.driver.call("cuFuncGetAttribute", kind.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
        )
        return Made(function, registers, static, barriers)

    def set(self, function: Any, name: str, value: int) -> None:
        which = getattr(self.api.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        self.driver.call("cuFuncSetAttribute", function, which, value)

    def active_blocks(self, function: Any, threads: int, dynamic: int) -> int:
        return int(
            self.driver.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, dynamic)
        )


def kernel(live: int, shared: int, barriers: int, most: int | None) -> str:
    """PTX that loads `live` numbers, waits at its barriers, and stores them: all are alive in between."""
    names = range(live)
    array = f".shared .align 4 .b8 s[{shared}];" if shared else ""
    touch = "st.volatile.shared.u32 [s], %t;" if shared else ""
    return "\n".join(
        [
            ".version 7.0\n.target sm_70\n.address_size 64",
            f".visible .entry k(.param .u64 p) {'' if most is None else f'.maxnreg {most}'} {{",
            f".reg .u64 %a; .reg .u32 %t; .reg .f32 %f<{live + 1}>; {array}",
            "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;",
            *(f"ld.volatile.global.f32 %f{index}, [%a+{4 * index}];" for index in names),
            touch,
            *(f"barrier.sync {index};" for index in range(barriers)),
            *(f"st.volatile.global.f32 [%a+{4 * index}], %f{index};" for index in names),
            "ret; }",
        ]
    )


@pytest.fixture(scope="module")
def gpu() -> Gpu:
    reason = problem()
    if reason is not None:
        pytest.skip(reason)
    return Gpu()


@pytest.fixture(scope="module")
def kernels(gpu: Gpu) -> list[Made]:
    rng = random.Random(11)
    # Left to itself ptxas prefers register counts at which occupancy changes; .maxnreg gives the others.
    made = [gpu.make(live, 0, 1, None) for live in range(0, 240, 16)]
    made += [gpu.make(220, 0, 1, most) for most in range(24, 256, 7)]
    made += [gpu.make(live, 4 * rng.randint(1, 12000), 1, None) for live in range(0, 200, 16)]
    return made


def launches(gpu: Gpu, kernels: list[Made], seed: int) -> Iterator[tuple[Made, Demand]]:
    """Random launches of the kernels, each set up in the driver as its demand says."""
    rng = random.Random(seed)
    limits = limits_of(gpu.capability)
    for _ in range(LAUNCHES):
        made = rng.choice(kernels)
        room = limits.shared_per_block_optin - made.static_shared
        dynamic = rng.choice([0, rng.randint(0, 8192), rng.randint(0, room)])
        carveout = rng.choice([None, None, rng.randint(0, 100)])
        gpu.set(made.function, "PREFERRED_SHARED_MEMORY_CARVEOUT", -1 if carveout is None else carveout)
        gpu.set(made.function, "MAX_DYNAMIC_SHARED_SIZE_BYTES", dynamic)
        yield (
            made,
            Demand(
                threads=rng.choice([rng.randint(1, 1024), 32 * rng.randint(1, 32)]),
                registers=made.registers,
                static_shared=made.static_shared,
                dynamic_shared=dynamic,
                barriers=made.barriers,
                carveout=carveout,
            ),
        )


def test_kernels_have_many_register_counts(kernels: list[Made]):
    assert len({made.registers for made in kernels}) >= 25
    assert max(made.registers for made in kernels) > 200


def test_active_blocks_are_the_drivers(gpu: Gpu, kernels: list[Made]):
    limits = limits_of(gpu.capability)
    wrong = [
        (demand, said, ours)
        for made, demand in launches(gpu, kernels, seed=1)
        if (said := gpu.active_blocks(made.function, demand.threads, demand.dynamic_shared))
        != (ours := occupancy(demand, limits).blocks)
    ]
    assert not wrong, f"{len(wrong)} of {LAUNCHES}, as {wrong[:5]}"


def test_barriers_limit_blocks_as_the_driver_says(gpu: Gpu):
    limits = limits_of(gpu.capability)
    for barriers in (1, 2, 3, 4, 6, 8, 12, 16):
        made = gpu.make(4, 0, barriers, None)
        ours = occupancy(Demand(32, made.registers, barriers=barriers), limits).blocks
        assert gpu.active_blocks(made.function, 32, 0) == ours, barriers


def test_best_block_is_the_drivers(gpu: Gpu, kernels: list[Made]):
    limits = limits_of(gpu.capability)
    no_callback = gpu.api.CUoccupancyB2DSize(0)
    for made in kernels:
        gpu.set(made.function, "PREFERRED_SHARED_MEMORY_CARVEOUT", -1)
        gpu.set(made.function, "MAX_DYNAMIC_SHARED_SIZE_BYTES", 0)
        grid, threads = gpu.driver.call("cuOccupancyMaxPotentialBlockSize", made.function, no_callback, 0, 0)
        demand = Demand(32, made.registers, made.static_shared, barriers=made.barriers)
        best = best_block(demand, limits, gpu.multiprocessors)
        assert (best.threads, best.grid) == (threads, grid), made


def test_a_copy_reaches_much_of_the_theoretical_bandwidth():
    reason = problem()
    if reason is not None:
        pytest.skip(reason)
    found = GpuBackend().bandwidth()
    assert found.measured > 1e10
    if found.theoretical is not None:
        assert 0.5 < found.measured / found.theoretical < 1.02
