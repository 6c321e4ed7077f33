"""Measure what the model of kernel times asks of a GPU, on the GPU that is present.

    python bench/kernel_time/calibrate.py [--ptx FILE] [--json FILE]

Needs a GPU, NumPy and nvcc (or the PTX of calibration.cu, compiled elsewhere). Prints every measurement, and
then the section [kernel_time] of the GPU's table in devices/gpus/; `--json` saves all measurements.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.kernel_time.cuda_driver import Gpu, arguments, median_of

_PIPES = (
    *("ffma", "fadd", "dfma", "dadd", "iadd", "lop", "shf", "imad", "imadwide", "popc", "mufu", "rsqrt"),
    *("i2f", "f2i", "f2d", "hfma", "shfl", "ballot", "match", "redux", "div"),
)
_TENSOR = ("mma_f16", "mma_f16_8", "mma_f16_half", "mma_tf32", "mma_s8", "mma_f64")
_LARGE = 1 << 30  # bytes of the arrays that lie in DRAM


class Calibration:
    """The measurements of one GPU; `found` has them by name, in units that the name ends with."""

    def __init__(self, gpu: Gpu, ptx: str):
        self.gpu = gpu
        self.module = gpu.module(ptx)
        self.found: dict[str, float] = {}
        self.sms = gpu.attributes["multiprocessors"]
        self.clocks = gpu.allocate(16 << 20)
        self.x, self.y = gpu.allocate(_LARGE), gpu.allocate(_LARGE)

    def note(self, name: str, value: float) -> None:
        """Keep and print a number."""
        self.found[name] = value
        print(f"{name:40} {value:.6g}", flush=True)

    def timed(
        self,
        name: str,
        grid: int,
        block: int,
        *values: tuple[str, int | float],
        shared: int = 0,
        times: int = 7,
        batch: int = 1,
        cold: bool = True,
    ) -> float:
        """Median seconds of a launch, with cold caches or not."""
        function = self.gpu.function(self.module, name, shared)
        params, offsets = arguments(*values)
        seconds = []
        for _ in range(times + 2):
            if cold:
                self.gpu.flush()
            self.gpu.start()
            for _ in range(batch):
                self.gpu.launch(function, [grid], [block], params, offsets, shared)
            seconds.append(self.gpu.stop() / batch)
        return median_of(seconds[2:])

    def cycles(
        self, name: str, grid: int, block: int, *rest: tuple[str, int | float], shared: int = 0
    ) -> float:
        """Clocks between a block's first start and its last end; the median of all blocks."""
        for _ in range(2):
            self.timed(name, grid, block, ("Q", self.clocks), *rest, shared=shared, times=1, cold=False)
        warps = -(-block // 32)
        pairs = self.gpu.read(self.clocks, np.zeros((grid, warps, 2), np.int64))
        return float(np.median(pairs[:, :, 1].max(1) - pairs[:, :, 0].min(1)))

    @property
    def _hertz(self) -> float:
        return 1e6 * self.found["clock_mhz"]

    # -------------------------------------------------------------------------------- what is measured
    def launches(self) -> None:
        """Empty kernels: one between two events, many in a row, and many blocks."""
        self.note("launch_us", 1e6 * self.timed("empty", 1, 32, times=31, cold=False))
        self.note("launch_after_kernel_us", 1e6 * self.timed("empty", 1, 32, times=31))
        self.note("launch_in_a_row_us", 1e6 * self.timed("empty", 1, 32, batch=200, cold=False))
        for threads in (32, 64, 128, 256, 512, 1024):
            few, many = (
                self.timed("short_block", blocks, threads, ("Q", self.x), cold=False)
                for blocks in (2 * self.sms, 1 << 17)
            )
            self.note(f"blocks_{threads}_per_us", 1e-6 * ((1 << 17) - 2 * self.sms) / (many - few))

    def clock(self) -> None:
        """The clock under load."""
        self.timed("clock_rate", self.sms, 256, ("Q", self.clocks), ("I", 20_000_000 // 4), times=1)
        cycles, nanoseconds = self.gpu.read(self.clocks, np.zeros(2, np.int64))
        self.note("clock_mhz", 1e3 * cycles / nanoseconds)

    def streams(self) -> None:
        """Reading, copying, writing arrays of several sizes by several elements."""
        for form, size in (("f4", 4), ("f8", 8), ("f16", 16)):
            for megabytes in (1, 4, 16, 64, 256, 1024):
                n = (megabytes << 20) // size
                places = ("Q", self.x), ("Q", self.y), ("I", n)
                for kind in ("read", "read4", "copy", "write"):
                    one = self.timed(
                        f"{kind}_{form}", -(-n // 256 // (4 if kind == "read4" else 1)), 256, *places
                    )
                    self.note(f"{kind}_{form}_{megabytes}mb_us", 1e6 * one)
                    if megabytes == 256:
                        few = self.timed(f"{kind}_{form}", 8 * self.sms, 256, *places)
                        self.note(f"{kind}_{form}_{megabytes}mb_grid_us", 1e6 * few)
                    if megabytes in (4, 16):
                        warm = self.timed(f"{kind}_{form}", -(-n // 256), 256, *places, cold=False, batch=10)
                        self.note(f"{kind}_{form}_{megabytes}mb_warm_us", 1e6 * warm)
        n = (256 << 20) // 8
        places = ("Q", self.x), ("Q", self.y), ("I", n)
        for warps in (1, 2, 4, 8, 16, 32, 64):
            for kind in ("read", "read4"):
                block = 32 * min(warps, 8)
                grid = self.sms * warps // min(warps, 8)
                seconds = self.timed(f"{kind}_f8", grid, block, *places, times=3)
                self.note(f"{kind}_f8_{warps}_warps_us", 1e6 * seconds)

    def second_level(self) -> None:
        """Rates of the second level and of scattered sectors."""
        n, trips, grid = (8 << 20) // 16, 64, 8 * self.sms
        for kind in ("l2_read", "l2_write"):
            values = ("Q", self.x), ("Q", self.y), ("I", n), ("I", trips)
            seconds = self.timed(kind, grid, 256, *values, cold=False)
            self.note(f"{kind}_gb_s", 1e-9 * grid * 256 * trips * 16 / seconds)
        for stride in (1, 2, 4, 8, 16, 32):
            values = ("Q", self.x), ("Q", self.y), ("I", (8 << 20) // 4), ("I", trips), ("I", stride)
            seconds = self.timed("sectors_read", grid, 256, *values, cold=False)
            self.note(
                f"l2_stride{stride}_requests_per_clock",
                grid * 8 * trips / seconds * 1e-6 / self.found["clock_mhz"],
            )
        for bits in (18, 20, 22, 24, 26, 28):
            for kind in ("gather", "scatter"):
                values = ("Q", self.x), ("Q", self.y), ("I", (1 << bits) - 1), ("I", 32)
                seconds = self.timed(kind, grid, 256, *values)
                self.note(f"{kind}_{4 * 2**bits >> 20}mb_gsectors_s", 1e-9 * grid * 256 * 32 / seconds)

    def parts_of_sectors(self) -> None:
        """Stores of some bytes of every so many, in clocks of a warp's store for the whole GPU."""
        trips, grid = 64, 8 * self.sms
        for width in (4, 8, 16):
            for stride in (4, 8, 16, 32, 64, 128):
                for parts in {1, min(4, stride // width)} if stride >= width else ():
                    places = ("Q", self.x), ("Q", self.y), ("I", (8 << 20) - 1)
                    values = *places, ("I", trips // parts), ("I", stride), ("I", parts)
                    seconds = self.timed(f"parts_f{width}", grid, 256, *values, cold=False)
                    stores = grid * 8 * (trips // parts) * parts
                    self.note(
                        f"store{width}_every{stride}_times{parts}_clocks", seconds * self._hertz / stores
                    )

    def whole_sectors(self) -> None:
        """As parts_of_sectors(), of ordinary stores one behind the other."""
        trips, grid = 16, 8 * self.sms
        for width, parts in ((4, 1), (4, 2), (4, 4), (4, 8), (8, 1), (8, 2), (8, 4)):
            for stride in {width * parts, 32, 64, 128}:
                places = ("Q", self.x), ("Q", self.y), ("I", (8 << 20) - 1)
                values = *places, ("I", trips), ("I", stride)
                seconds = self.timed(f"whole_f{width}_{parts}", grid, 256, *values, cold=False)
                self.note(
                    f"whole{width}_every{stride}_times{parts}_clocks",
                    seconds * self._hertz / (grid * 8 * trips * parts),
                )

    def few(self) -> None:
        """What few multiprocessors get of the second level, in bytes or lines a clock of each."""
        n, trips = (8 << 20) // 16, 64
        for blocks in (1, 4, 16, 33, 66, self.sms):
            values = ("Q", self.x), ("Q", self.y), ("I", n), ("I", trips)
            for kind in ("l2_read", "l2_write"):
                seconds = self.timed(kind, blocks, 1024, *values, cold=False)
                clocks = seconds * self._hertz - self.found.get("launch_us", 2.5) * 1e-6 * self._hertz
                self.note(f"{kind}_of_{blocks}_bytes_per_clock", 1024 * trips * 16 / clocks)
            values = ("Q", self.x), ("Q", self.y), ("I", (8 << 20) // 4), ("I", trips), ("I", 32)
            seconds = self.timed("sectors_read", blocks, 1024, *values, cold=False)
            self.note(f"lines_read_of_{blocks}_per_clock", 1024 * trips / (seconds * self._hertz))
            values = ("Q", self.x), ("Q", self.y), ("I", (8 << 20) - 1), ("I", trips), ("I", 128), ("I", 1)
            seconds = self.timed("parts_f4", blocks, 1024, *values, cold=False)
            self.note(f"lines_written_of_{blocks}_per_clock", 1024 * trips / (seconds * self._hertz))

    def halves(self) -> None:
        """Gigasectors a second from and to memory, where halves of 64 bytes move so many blocks apart."""
        blocks = 1 << 14
        for kind in ("read", "write"):
            for distance in (0, 1, 32, 256, 1024, 2048, 4096, 8192):
                values = ("Q", self.x), ("Q", self.y), ("I", distance)
                seconds = self.timed(f"halves_{kind}", blocks, 256, *values)
                self.note(f"halves_{kind}_{distance}_gsectors_s", 1e-9 * blocks * 1024 / seconds)

    def latencies(self) -> None:
        """Chains of loads, by the level that has the data; cycles a load."""
        for name, level, size in (
            *(("l1", "l1", 1 << 13), ("l1_64k", "l1", 1 << 16), ("l2_1mb", "l2", 1 << 20)),
            *(("l2_8mb", "l2", 1 << 23), ("l2_20mb", "l2", 20 << 20), ("dram_256mb", "l2", 1 << 28)),
            ("dram_1gb", "l2", 1 << 30),
        ):
            places = size // 128
            order = np.random.default_rng(1).permutation(places)
            chain = np.zeros(size // 8, np.uint64)
            chain[order * 16] = np.roll(order, -1) * 16
            self.gpu.write(self.x, chain)
            trips = min(places, 4096)
            if "dram" not in name:
                for _ in range(3):  # into the second level
                    self.timed(
                        "read_f8", self.sms, 256, ("Q", self.x), ("Q", self.y), ("I", size // 8), cold=False
                    )
            else:
                self.gpu.flush()
            function = self.gpu.function(self.module, f"chase_{level}")
            params, offsets = arguments(("Q", self.x), ("Q", self.clocks), ("I", trips))
            self.gpu.launch(function, [1], [1], params, offsets)
            start, end = self.gpu.read(self.clocks, np.zeros(2, np.int64))
            self.note(f"latency_{name}_cycles", (end - start) / trips)
        self.note("latency_shared_cycles", self._shared_chase())

    def _shared_chase(self) -> float:
        function = self.gpu.function(self.module, "chase_shared")
        params, offsets = arguments(("Q", self.x), ("Q", self.clocks), ("I", 1024))
        self.gpu.launch(function, [1], [32], params, offsets)
        start, end = self.gpu.read(self.clocks, np.zeros(2, np.int64))
        return float(end - start) / 1024

    def pipelines(self) -> None:
        """Cycles that a dependent instruction waits, and warp instructions a multiprocessor does a clock."""
        trips = 64
        for name in _PIPES:
            chain = self.cycles(f"one_{name}", 1, 32, ("I", trips), ("I", 3))
            self.note(f"{name}_latency_cycles", chain / trips / 16)
            full = self.cycles(f"many_{name}", self.sms, 1024, ("I", trips), ("I", 3))
            self.note(f"{name}_per_clock", 32 * trips * 32 / full)
        for threads in (32, 64, 128, 256, 512, 1024):
            chain = self.cycles("one_bar", 1, threads, ("I", trips), ("I", 3))
            self.note(f"barrier_{threads}_cycles", chain / trips / 16)
        chain = self.cycles("one_bar", 2 * self.sms, 1024, ("I", trips), ("I", 3))
        self.note("barrier_2x1024_cycles", chain / trips / 16)

    def tensor(self) -> None:
        """As pipelines(), for products of the tensor cores."""
        trips = 64
        for name in _TENSOR:
            chain = self.cycles(f"one_{name}", 1, 32, ("I", trips), ("I", 3))
            self.note(f"{name}_latency_cycles", chain / trips / 16)
            full = self.cycles(f"many_{name}", self.sms, 512, ("I", trips), ("I", 3))
            self.note(f"{name}_per_clock", 16 * trips * 16 / full)

    def branches(self) -> None:
        """Clocks of a trip of short loops, for one warp and for each of many."""
        trips = 4
        for name in ("short_loop", "split_loop"):
            for threads in (32, 128, 256, 512, 1024):
                clocks = self.cycles(name, self.sms, threads, ("I", trips), ("I", 3))
                self.note(f"{name}_{threads}_clocks", clocks / trips / 64)

    def shared(self) -> None:
        """Clocks that a multiprocessor takes for a warp's access to shared memory, by the lanes' distance."""
        trips = 32
        for name in ("load4", "load8", "store4", "atomic", "atomic_used", "atomic_float"):
            for stride in (0, 1, 2, 4, 8, 16, 32):
                values = ("I", trips), ("I", stride)
                full = self.cycles(f"shared_{name}", self.sms, 512, *values, shared=8192)
                self.note(f"shared_{name}_stride{stride}_clocks", full / (16 * trips * 16))
            one = self.cycles(f"shared_{name}", 1, 32, ("I", trips), ("I", 1), shared=8192)
            self.note(f"shared_{name}_one_warp_clocks", one / (trips * 16))
        for stride in (0, 1, 2, 4, 8, 16, 32):
            function = self.gpu.function(self.module, "l1_read")
            params, offsets = arguments(("Q", self.x), ("Q", self.clocks), ("I", trips), ("I", stride))
            for _ in range(2):
                self.gpu.launch(function, [self.sms], [512], params, offsets)
            pairs = self.gpu.read(self.clocks, np.zeros((self.sms, 16, 2), np.int64))
            full = float(np.median(pairs[:, :, 1].max(1) - pairs[:, :, 0].min(1)))
            self.note(f"l1_read_stride{stride}_clocks", full / (16 * trips * 16))

    def together(self) -> None:
        """Clocks of a warp's load from shared memory of which lanes want the same places, by their number."""
        trips = 32
        for width in (4, 8, 16):
            for distinct in (1, 2, 4, 8, 16, 32):
                for same in {1, 32 // distinct}:
                    values = ("I", trips), ("I", same), ("I", distinct)
                    full = self.cycles(f"together_{width}", self.sms, 512, *values)
                    self.note(
                        f"together{width}_{distinct}_places_{same}_lanes_clocks", full / (16 * trips * 16)
                    )

    def atomics(self) -> None:
        """Global atomics per clock of the whole GPU, by type and by how many places they meet at."""
        grid, trips = 4 * self.sms, 16
        for form in ("add_i4", "take_i4", "add_i8", "add_f4", "take_f4", "add_f8", "cas_i4"):
            for places, spread in (
                (1, 1),
                (2, 1),
                (32, 1),
                (256, 1),
                (4096, 1),
                (1 << 20, 1),
                (1 << 20, 977),
            ):
                values = ("Q", self.x), ("I", places), ("I", spread), ("I", trips)
                seconds = self.timed(form, grid, 256, *values, times=3, cold=False)
                rate = grid * 256 * trips / seconds / self._hertz
                self.note(f"{form}_{places}_{spread}_per_clock", rate)

    def host(self) -> None:
        """Copies between host and device, in GB/s, and what a small one takes."""
        pinned = self.gpu.pinned(1 << 28)
        plain = np.ones(1 << 28, np.uint8)
        for name, memory in (("pinned", pinned), ("pageable", plain)):
            for size in (1 << 12, 1 << 20, 1 << 24, 1 << 28):
                part = memory[:size]
                for way, act in (("to", self.gpu.write), ("from", self.gpu.read)):
                    self.note(f"copy_{way}_{name}_{size}_us", 1e6 * self._clocked(act, part))

    def _clocked(self, act: Callable[[int, np.ndarray], object], part: np.ndarray) -> float:
        seconds = []
        for _ in range(4):
            self.gpu.start()
            act(self.x, part)
            seconds.append(self.gpu.stop())
        return median_of(seconds[1:])


# Numbers of the section by name: what they are of the measurements, times a factor.
_SAME = {
    **{"clock_mhz": ("clock_mhz", 1.0), "l2_read_gb_s": ("l2_read_gb_s", 1.0)},
    **{"l2_write_gb_s": ("l2_write_gb_s", 1.0), "l2_read_lines": ("l2_stride32_requests_per_clock", 32.0)},
    **{"l1": ("latency_l1_cycles", 0.91), "shared": ("latency_shared_cycles", 0.96)},  # without the addition
    **{"l2": ("latency_l2_8mb_cycles", 1.0), "dram": ("latency_dram_256mb_cycles", 1.0)},
    "launch_us": ("launch_after_kernel_us", 1.0),
}
_MORE_BYTES = (1024 - 256) << 20


def section(found: dict[str, float], source: str) -> str:
    """The section of a device table that these measurements make."""
    numbers = {name: factor * found[key] for name, (key, factor) in _SAME.items() if key in found}
    # Slopes between two sizes of a stream leave the launch out.
    for name, kind in (("dram_read_gb_s", "read4_f16"), ("dram_write_gb_s", "write_f16")):
        if f"{kind}_1024mb_us" in found:
            longer = found[f"{kind}_1024mb_us"] - found[f"{kind}_256mb_us"]
            numbers[name] = 1e-3 * _MORE_BYTES / longer
    lines = [f'{name} = {{ value = {value:.4g}, source = "{source}" }}' for name, value in numbers.items()]
    return "\n".join(["[kernel_time]", *lines])


def compiled(given: str | None, gpu: Gpu) -> str:
    """The PTX of calibration.cu."""
    if given is not None:
        return Path(given).read_text(encoding="utf-8")
    source = Path(__file__).with_name("calibration.cu")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "calibration.ptx")
        arch = "-arch=compute_{}{}".format(*gpu.capability)
        subprocess.run(["nvcc", "-ptx", arch, "-std=c++17", str(source), "-o", str(target)], check=True)
        return target.read_text(encoding="utf-8")


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ptx")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", nargs="+", help="parts by name, as branches; the clock is always measured")
    given = parser.parse_args()
    gpu = Gpu()
    one = Calibration(gpu, compiled(given.ptx, gpu))
    parts = (
        *(one.clock, one.launches, one.streams, one.second_level, one.latencies, one.pipelines, one.shared),
        *(
            one.atomics,
            one.host,
            one.parts_of_sectors,
            one.whole_sectors,
            one.few,
            one.halves,
            one.tensor,
            one.branches,
            one.together,
        ),
    )
    if given.only:
        parts = (one.clock, *(part for part in parts if part.__name__ in given.only))
    failures: list[str] = []
    for part in parts:
        try:
            part()
        except RuntimeError as problem:
            failures.append(f"{part.__name__}: {problem}")
    print(section(one.found, f"calibration-{gpu.name.split()[-1].lower()}"))
    if given.json:
        found = {"gpu": gpu.name, "driver": gpu.driver, **gpu.attributes, "failures": failures}
        given.json.write_text(json.dumps({**found, "measured": one.found}, indent=1) + "\n", encoding="utf-8")
    for failure in failures:
        print(failure, file=sys.stderr)


if __name__ == "__main__":
    main()
