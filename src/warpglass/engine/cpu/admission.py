"""Whether a GPU of the launch's model would begin it: all that the engine refuses as that GPU does.

Belongs here: what of a launch is compared with the model's limits, and where the numbers come from. Grid,
block, shared memory and parameters are known (engine/launch/limits.py). Registers are the machine code's, and
making it takes ptxas, some 20 ms for a small kernel that the disk does not know yet. So the machine code is
asked only where the most registers that a thread can have would be too many: never for blocks of up to 256
threads, nor for kernels that are compiled for a block's size. Where the program ptxas is not installed, or
does not know the GPU or the PTX, registers refuse nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

from ...devices import Device
from ...errors import CompileError, LaunchError, UnsupportedError
from ...models.occupancy import Demand, occupancy
from ...source.compiled import Compiled
from ...source.cubin import OLDEST, ptxas_program, resources, retargeted
from ..launch.backend import Dim3, Launch
from ..launch.limits import FEW_PARAMETERS, check_launch, cluster_of, registers_needed
from .prepared import Prepared

# From this version on PTX may have more parameters than before.
_WIDE_PARAMETERS = (8, 1)
_VERSION = re.compile(r"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)


def admit(launch: Launch, prepared: Prepared, model: Device) -> Dim3 | None:
    """The clusters of a launch, in blocks, None for none; raises LaunchError if the model refuses it."""
    facts, limits, threads = prepared.facts, model.limits, prod(launch.block)
    static, parameters = facts.shared.static, prepared.binder.layout.size
    given = [values[0] for name, values in facts.directives if name == "maxnreg"]
    most = min([limits.registers_per_thread, *given])
    bounded = any(name in ("maxntid", "reqntid") for name, _ in facts.directives)
    undecided = not bounded and registers_needed(limits, threads, most) > limits.registers_per_block
    check_launch(
        model,
        launch.grid,
        launch.block,
        static,
        launch.shared,
        registers=registers_of(launch, model) if undecided and threads <= limits.threads_per_block else None,
        directives=facts.directives,
        parameters=parameters,
        wide_parameters=parameters <= FEW_PARAMETERS or _version(launch.compiled.ptx) >= _WIDE_PARAMETERS,
    )
    cluster = cluster_of(model, launch.grid, launch.cluster, facts.directives)
    if prepared.cooperative and facts.clustered and prod(cluster or (1,)) < prod(launch.grid):
        raise UnsupportedError(
            f"{launch.compiled.name} waits for its whole grid and for its cluster; the engine runs as many "
            "clusters at once as it has threads"
        )
    if prepared.cooperative or launch.cooperative:
        _check_cooperative(launch, Demand(threads, most, static, launch.shared), model)
    return cluster


def _check_cooperative(launch: Launch, most: Demand, model: Device) -> None:
    """Raise LaunchError if a cooperative grid has more blocks than the device can hold at once."""
    blocks = prod(launch.grid)
    if blocks <= model.multiprocessors * max(1, occupancy(most, model.limits).blocks):
        return
    registers = registers_of(launch, model)
    demand = Demand(most.threads, registers or 0, most.static_shared, most.dynamic_shared)
    fit = occupancy(demand, model.limits)
    if blocks <= model.multiprocessors * fit.blocks:
        return
    each = [] if registers is None else [f"{registers} registers a thread"]
    each += [f"{most.shared} bytes of shared memory"] if most.shared else []
    what = f"{most.threads} threads" + (f" ({', '.join(each)})" if each else "")
    raise LaunchError(
        f"cudaErrorCooperativeLaunchTooLarge: {launch.compiled.name} is launched cooperatively: its {blocks} "
        f"blocks of {what} must run at once; {model.name} holds at most {model.multiprocessors * fit.blocks} "
        f"of them ({fit.blocks} on each of {model.multiprocessors} multiprocessors; "
        f"{' and '.join(fit.limiting)} allow no more)",
        cuda_name="cudaErrorCooperativeLaunchTooLarge",
        synchronous=True,
        sticky=False,
    )


def registers_of(launch: Launch, model: Device) -> int | None:
    """The registers of a thread on the model; None if they cannot be known here."""
    if launch.resident is not None:
        return launch.resident.registers
    return _assembled_registers(launch.compiled, model.capability)


@lru_cache(maxsize=1024)
def _assembled_registers(compiled: Compiled, capability: tuple[int, int]) -> int | None:
    if capability < OLDEST or ptxas_program() is None:  # nvJitLink runs in this process, without limits
        return None
    target = "sm_{}{}".format(*capability)
    try:
        return resources(retargeted(compiled, target), target).registers
    except CompileError:
        return None


def _version(ptx: str) -> tuple[int, int]:
    found = _VERSION.search(ptx)
    return (int(found[1]), int(found[2])) if found else (0, 0)
