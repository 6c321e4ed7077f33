"""Occupancy against NVIDIA's own arithmetic: cuda_occupancy.h, compiled on this machine, on random demands.

The header comes with nvidia-cuda-runtime. Where there is no C compiler, the test is skipped.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from warpglass.devices.device import Limits, capabilities, limits_of
from warpglass.models.occupancy import (
    BARRIERS,
    BLOCKS,
    REGISTERS,
    SHARED,
    WARPS,
    Demand,
    best_block,
    occupancy,
)
from warpglass.source.nvrtc import header_folders

INT_MAX = 2**31 - 1
BITS = {WARPS: 1, REGISTERS: 2, SHARED: 4, BLOCKS: 8, BARRIERS: 16}  # OCC_LIMIT_...
MULTIPROCESSORS = 10
CACHES = {None: 0, 100: 1, 0: 2, 50: 3}  # cacheConfig of 3.x: none, shared, L1, equal
KNOWN = [capability for capability in capabilities() if capability >= (3, 0)]


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("cc")
    folders = [folder for folder in header_folders() if Path(folder, "cuda_occupancy.h").exists()]
    if compiler is None or not folders:
        pytest.skip("no C compiler" if compiler is None else "no cuda_occupancy.h")
    library = tmp_path_factory.mktemp("header") / "occupancy.so"
    source = Path(__file__).with_name("occupancy_header.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-w", f"-I{folders[0]}", source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def ints(*values: int) -> ctypes.Array[ctypes.c_int]:
    return (ctypes.c_int * len(values))(*values)


def device_of(limits: Limits) -> ctypes.Array[ctypes.c_int]:
    return ints(
        *limits.capability,
        limits.threads_per_block,
        limits.threads_per_sm,
        limits.registers_per_block,
        limits.registers_per_sm,
        limits.shared_per_block,
        limits.shared_per_sm,
        limits.shared_per_block_optin,
        limits.shared_reserved,
        MULTIPROCESSORS,
    )


def kernel_of(demand: Demand) -> ctypes.Array[ctypes.c_int]:
    return ints(
        1024,
        demand.registers,
        demand.static_shared,
        int(demand.opted_in),
        demand.dynamic_shared,
        demand.barriers,
        int(demand.partitioned),
    )


def some_demand(rng: random.Random, limits: Limits) -> Demand:
    most = limits.shared_per_block_optin
    carveouts = [None, *CACHES] if limits.capability < (7, 0) else [None, None, *range(0, 101, 4)]
    return Demand(
        threads=rng.choice([rng.randint(1, 1100), 32 * rng.randint(1, 32)]),
        registers=rng.choice([0, rng.randint(1, 63), rng.randint(1, limits.registers_per_thread)]),
        static_shared=rng.choice([0, 0, rng.randint(0, 50000)]),
        dynamic_shared=rng.choice([0, rng.randint(0, 20000), rng.randint(0, most + 2000)]),
        # The headers of CUDA 13.0 and 13.5 disagree about the barriers of 10.3; ours are the later one's.
        barriers=0 if limits.capability == (10, 3) else rng.choice([0, 1, rng.randint(0, 16)]),
        carveout=rng.choice(carveouts),
        opted_in=rng.random() < 0.7,
        partitioned=rng.random() < 0.3,
    )


@pytest.mark.parametrize("capability", KNOWN, ids=lambda one: "{}.{}".format(*one))
def test_every_limit_is_the_headers(header: ctypes.CDLL, capability: tuple[int, int]):
    limits = limits_of(capability)
    rng = random.Random(f"{capability}")
    for _ in range(3000):
        demand = some_demand(rng, limits)
        fit = occupancy(demand, limits)
        out = ints(*[0] * 9)
        cache = CACHES[demand.carveout] if capability < (7, 0) else 0
        carveout = -1 if demand.carveout is None or capability < (7, 0) else demand.carveout
        status = header.active_blocks(
            device_of(limits), kernel_of(demand), cache, carveout, demand.threads, demand.dynamic_shared, out
        )
        assert status == 0
        blocks, *allowed, factors, registers, shared = out
        ours = [INT_MAX if one is None else one for one in fit.allowed.values()]
        assert (fit.blocks, ours) == (blocks, allowed), demand
        limiting = {BITS[name] for name in fit.limiting}
        if limiting == {BITS[BARRIERS]}:  # the header notes the other factors before it looks at barriers
            factors &= BITS[BARRIERS]
        assert limiting == {bit for bit in BITS.values() if factors & bit}, demand
        assert (fit.allocated_registers, fit.allocated_shared) == (registers, shared), demand


@pytest.mark.parametrize("capability", KNOWN, ids=lambda one: "{}.{}".format(*one))
def test_the_best_block_is_the_headers(header: ctypes.CDLL, capability: tuple[int, int]):
    limits = limits_of(capability)
    rng = random.Random(f"best {capability}")
    for _ in range(40):
        demand = some_demand(rng, limits)
        carveout = -1 if demand.carveout is None or capability < (7, 0) else demand.carveout
        if capability < (7, 0) and demand.carveout is not None:
            continue  # best_block of the harness has no cache preference
        out = ints(0, 0)
        assert (
            header.best_block(device_of(limits), kernel_of(demand), carveout, demand.dynamic_shared, out) == 0
        )
        best = best_block(demand, limits, MULTIPROCESSORS)
        assert (best.threads, best.grid) == tuple(out), demand
