"""Random kernels in which a thread computes a point of a grid: `attempt(number)` is what watched.py tries.

Threads load from around their point, along tables of rows and columns, behind guards or clamped to the
border, and store to arrays that nobody loads. Blocks have rows of 4 to 64 threads, and grids may end within
one: optimised code mostly runs rows of several blocks together. Arrays may be too short, or a thread be led
astray: then the first block that faults is the same, and those before it have stored what they should.
"""

from __future__ import annotations

import random

import numpy as np

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, run_ptx
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

_BLOCKS = [(16, 16, 1), (16, 4, 1), (32, 8, 1), (8, 8, 1), (32, 4, 2), (4, 8, 4), (64, 2, 1), (16, 3, 2)]
_TYPES = {"float": np.float32, "int": np.int32, "unsigned char": np.uint8, "double": np.float64}
_HEAD = """
extern "C" __global__ void k({type}* out, int* more, const {type}* in, const int* rows, const int* columns,
                             int nx, int ny, int nz) {{
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) return;
  const int i = (z * ny + y) * nx + x;
  {type} sum = in[i];
"""
_LOADS = [
    "x > 0 ? in[i - 1] : sum",
    "x < nx - 1 ? in[i + 1] : sum",
    "y > 0 ? in[i - nx] : sum",
    "y == ny - 1 ? sum : in[i + nx]",
    "in[(z * ny + max(y - 1, 0)) * nx + min(x + 1, nx - 1)]",
    "in[(z * ny + rows[y]) * nx + x]",
    "in[(z * ny + y) * nx + columns[x]]",
    "in[x]",
    "in[y * nx]",
    "({type})(x + 3 * y - z + blockIdx.x)",
]
_STORES = ["out[i] = sum;", "more[i] = x + (int)sum;", "if (sum > 20) more[i] = 7;", "if (x > y) out[i] = 3;"]


def text_of(one: random.Random, type_: str) -> str:
    """A kernel's source."""
    lines = [_HEAD.format(type=type_)]
    if one.random() < 0.4:
        lines.append(one.choice(["if (x < 1 || x >= nx - 1) return;", "if (y < 1 || y + 1 == ny) return;"]))
    for _ in range(one.randrange(1, 8)):
        load = one.choice(_LOADS).format(type=type_)
        lines.append(f"sum {one.choice(['+=', '-=', '+= 2 *'])} ({load});")
    return "\n".join([*lines, *one.sample(_STORES, one.randrange(1, 4)), "}"])


def attempt(number: int) -> str:
    """Run a kernel on both engines: the same bytes, or a fault in the same block behind the same blocks."""
    one = random.Random(number)
    type_ = one.choice(list(_TYPES))
    text = text_of(one, type_)
    ptx = wg.compile(text, "k").compile().ptx
    block = one.choice(_BLOCKS)
    grid = one.randrange(1, 10), one.randrange(1, 4), one.randrange(1, 3) if block[2] > 1 else 1
    size = [max(2, g * b - one.choice([0, 0, 1, 5, b])) for g, b in zip(grid, block, strict=True)]
    size[2] = grid[2] * block[2]
    wrong = one.random() < 0.4
    reference, fast = (
        _ending(number, ptx, type_, grid, block, size, engine, wrong) for engine in CPU_ENGINES
    )
    assert reference[0] == fast[0], f"{reference[0]} and {fast[0]}\n{text}"
    for known, found in zip(reference[1:], fast[1:], strict=True):
        np.testing.assert_array_equal(known, found, err_msg=text)
    return "fault" if reference[0] is not None else "agree"


def _ending(
    number: int,
    ptx: str,
    type_: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    size: list[int],
    engine: str,
    wrong: bool,
) -> tuple[tuple[int, int, int] | None, np.ndarray, np.ndarray]:
    """The block that faults, if one does, and what those before it have stored."""
    random_ = np.random.default_rng(number)
    nx, ny, nz = size
    inputs = random_.integers(0, 30, nx * ny * nz).astype(_TYPES[type_])
    rows, columns = (random_.integers(0, extent, extent).astype(np.int32) for extent in (ny, nx))
    if wrong:
        inputs = inputs[: inputs.size - int(random_.choice([0, 1, nx, nx * ny // 2]))]
        columns[random_.integers(nx, size=2)] += int(random_.choice([0, 1 << 22]))
        rows[random_.integers(ny)] += int(random_.choice([0, 1 << 22]))
    out, more = np.zeros(nx * ny * nz, _TYPES[type_]), np.zeros(nx * ny * nz, np.int32)
    args = (out, more, inputs, rows, columns, *(np.int32(extent) for extent in size))
    faulty = None
    with engine_mode(engine):
        prepare.cache_clear()
        try:
            run_ptx(ptx, grid, block, args, engine=engine)
        except KernelFault as error:
            wg.reset("cpu")
            faulty = error.place.block
    if faulty is not None:
        z, y, x = np.indices((nz, ny, nx)).reshape(3, -1)
        numbers = (z // block[2] * grid[1] + y // block[1]) * grid[0] + x // block[0]
        before = numbers < (faulty[2] * grid[1] + faulty[1]) * grid[0] + faulty[0]
        out, more = out[before], more[before]
    return faulty, out, more
