"""Shadow memory by lines: whatever form a line takes, each place has its stamp, and few bytes hold them."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.observe.detectors import Checker, layout
from warpglass.observe.detectors.races import shadow_lines

WORDS = 1 << 17  # of an array: more than a page of lines' words

KERNELS = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void add(float* out, const float* x, const float* y) { out[I] = x[I] + y[I]; }
extern "C" __global__ void scale(float* x) { x[I] *= 2.0f; }
extern "C" __global__ void member(float4* x) { x[I].x *= 2.0f; }
extern "C" __global__ void bytes(unsigned char* x) { x[I] += 1; }
extern "C" __global__ void neighbours(float* x) { if (threadIdx.x % 2 == 0) x[I] += x[I + 1]; }
extern "C" __global__ void stencil(float* out, const float* x) {
    if (0 < I && I < gridDim.x * blockDim.x - 1) out[I] = x[I - 1] + x[I] + x[I + 1];
}
extern "C" __global__ void rows(float* out, const float* x) {
    unsigned side = blockDim.x, row = blockIdx.x % side + blockIdx.x / side * side * side;
    out[row + threadIdx.x * side] = x[I];
}
extern "C" __global__ void tree(float* x) {
    float* data = x + blockIdx.x * blockDim.x;
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (threadIdx.x % (2 * step) == 0) data[threadIdx.x] += data[threadIdx.x + step];
        __syncthreads();
    }
}
"""


def floats() -> np.ndarray:
    return np.ones(WORDS, np.float32)


def shadow_bytes(name: str, block: int, threads: int, *arrays: np.ndarray) -> float:
    """Bytes of shadow memory per byte of the arrays, for a kernel that is clean."""
    compiled = wg.compile(KERNELS, name).compile(arrays)
    checker = Checker()
    launch = Launch(compiled, (threads // block, 1, 1), (block, 1, 1), arrays, 0, 60.0)
    CpuBackend().observe(launch, checker, checker.begin)
    assert checker.findings(complete=True) == ()
    return checker.shadow_bytes / sum(array.nbytes for array in arrays)


@pytest.mark.parametrize(
    ("name", "block", "count", "most"),
    [
        ("add", 256, 3, 0.07),  # 8 bytes for 32 words
        ("scale", 256, 1, 0.13),  # the same for readers and for writers
        ("neighbours", 128, 1, 1.7),  # two palettes
        ("tree", 128, 1, 1.7),
        ("stencil", 256, 2, 1.3),  # readers, others of their warps and of other warps
        ("rows", 32, 2, 1.1),  # each place of a line has another writer
    ],
)
def test_shadow_memory_per_byte(name: str, block: int, count: int, most: float) -> None:
    assert 0 < shadow_bytes(name, block, WORDS, *(floats() for _ in range(count))) <= most


def test_strided_and_narrow_accesses() -> None:
    assert shadow_bytes("member", 128, WORDS // 4, floats()) <= 1.7
    assert shadow_bytes("bytes", 128, WORDS, np.ones(WORDS, np.uint8)) <= 0.51


@pytest.mark.parametrize(
    "store",
    [
        "if (i % 2 == 0) out[i] = 1.0f;",  # parts of lines
        "if (i / 32 % 2 == 0) out[i] = 1.0f;",  # whole lines
        "if (i < n / 2) out[i * 64 % n + i / (n / 64)] = 1.0f;",  # scattered
        "if (i < n / 8) ((float4*)out)[i] = make_float4(1, 1, 1, 1);",  # several places a lane
    ],
)
def test_every_form_tells_what_was_written(store: str) -> None:
    text = f"""extern "C" __global__ void half(float* out, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        {store}
    }}"""
    n = 4096
    args = wg.out(floats()[:n].copy()), np.int32(n)
    found = wg.check(wg.compile(text, "half"), n // 128, 128, args).findings
    assert [(one.kind, one.count) for one in found] == [("unwritten-output", n // 2)]


class Shadow:
    """One region of a few lines, with what every place should have beside it."""

    count = 4

    def __init__(self) -> None:
        self.state = np.zeros(layout.STATE_WORDS, np.int64)
        self.room = np.zeros(1 << 16, np.uint8)
        self.words = np.zeros(self.count, np.int64)
        self.region = np.zeros(layout.REGION_WORDS, np.int64)
        self.region[layout.WRITES] = self.words.ctypes.data
        self.state[layout.ROOM] = self.room.ctypes.data
        self.state[layout.ROOM_END] = self.room.ctypes.data + self.room.nbytes
        self.expected = np.zeros(self.count * layout.LINE, np.int64)

    def fill(self, line: int, bare: int, log: int, part: int) -> None:
        """A warp whose lanes access 2**log places each stores a whole line, its part of that number."""
        if self.words[line] >= 0:
            self.words[line] = bare | ((1 << log) + part) << layout.LANE_SHIFT
            places = np.arange(layout.LINE)
            lanes = (part * layout.LINE + places) >> log
            self.expected[line * layout.LINE + places] = bare | lanes << layout.LANE_SHIFT

    def put(self, place: int, stamp: int) -> None:
        shadow_lines.put(self.state.ctypes.data, self.region.ctypes.data, layout.WRITES, place, stamp)
        self.expected[place] = stamp

    def spread(self, line: int) -> None:
        shadow_lines.spread(self.state.ctypes.data, self.words.ctypes.data + 8 * line)

    def stamps(self) -> list[int]:
        at = self.region.ctypes.data
        return [int(shadow_lines.stamp_at(at, layout.WRITES, place)) for place in range(self.expected.size)]


@pytest.mark.parametrize("seed", range(8))
def test_lines_hold_the_stamps_of_their_places(seed: int) -> None:
    random = np.random.default_rng(seed)
    shadow = Shadow()
    bare = [time << layout.TIME_SHIFT | 1 << layout.PLACE_SHIFT for time in range(1, 13)]
    for _ in range(200):
        line, who = int(random.integers(shadow.count)), bare[random.integers(4 + seed)]
        kind = random.random()
        if kind < 0.1:
            log = int(random.integers(5))
            shadow.fill(line, who, log, int(random.integers(1 << log)))
        elif kind < 0.11:
            shadow.spread(line)
        else:
            place = line * layout.LINE + int(random.integers(layout.LINE))
            lane = int(random.integers(layout.LANES)) << layout.LANE_SHIFT
            shadow.put(place, who | lane if kind > 0.2 else 0)
    assert shadow.stamps() == shadow.expected.tolist()


def test_a_full_palette_becomes_stamps_and_is_used_again() -> None:
    shadow = Shadow()
    for place in range(layout.ENTRIES - 1):
        shadow.put(place, (place + 1) << layout.TIME_SHIFT)
    assert shadow.words[0] & layout.PALETTE
    shadow.put(0, 2 << layout.TIME_SHIFT)  # nobody has the first stamp now
    shadow.put(8, 9 << layout.TIME_SHIFT)
    assert shadow.words[0] & layout.PALETTE
    shadow.put(9, 10 << layout.TIME_SHIFT)
    assert not shadow.words[0] & layout.PALETTE
    used = shadow.state[layout.ROOM]
    shadow.put(layout.LINE, 1 << layout.TIME_SHIFT)
    assert shadow.words[1] & layout.PALETTE
    assert shadow.state[layout.ROOM] == used
    assert shadow.stamps() == shadow.expected.tolist()
