"""Measure the launches of a bundle on the GPU that is present.

    python bench/kernel_time/measure.py BUNDLE.json ... --json FILE

A bundle has PTX and launches as validate.py writes them, on a machine that can compile: this one needs a GPU
and NumPy only. With `--cubins FOLDER` machine code is taken from KEY.cubin there, KEY being that of the PTX,
which saves the time that a driver compiles. Each launch is made with its inputs as they were, with cold
caches, and alone between two events; the median of several counts, less nothing. What an empty kernel takes
that way is calibrate.py's `launch_after_kernel_us`.
"""

from __future__ import annotations

import argparse
import base64
import ctypes
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.kernel_time.cuda_driver import Gpu, median_of

_KEPT_BYTES = 30 << 30  # of inputs on the device


class Memories:
    """Inputs by their descriptions, made once."""

    def __init__(self, gpu: Gpu):
        self.gpu = gpu
        self.kept: dict[str, int] = {}
        self.size = 0

    def original(self, what: dict[str, Any]) -> int:
        """The address of what an array holds at first."""
        key = json.dumps(what, sort_keys=True)
        if key not in self.kept:
            if self.size > _KEPT_BYTES:
                for address in self.kept.values():
                    self.gpu.free(address)
                self.kept.clear()
                self.size = 0
            self.kept[key] = self.gpu.upload(made(what))
            self.size += what["bytes"]
        return self.kept[key]


def made(what: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The bytes that a description stands for."""
    size = what["bytes"]
    if what["kind"] == "zero":
        return np.zeros(size, np.uint8)
    if what["kind"] == "verbatim":
        return np.frombuffer(base64.b64decode(what["data"]), np.uint8)
    form = np.dtype(what["dtype"])
    n, low, high = size // form.itemsize, what["low"], what["high"]
    random = np.random.default_rng(size)
    if what["kind"] == "arange":
        values = (int(low) + what["step"] * np.arange(n)).astype(form)
    elif form.kind == "f":
        values = (low + (high - low) * random.random(n, np.float32)).astype(form)
    else:
        values = random.integers(int(low), int(high), n, form, endpoint=True)
    run = what.get("run", 1)
    if run > 1:
        whole = n // run * run
        values[:whole].reshape(-1, run).sort(axis=1)
        values[whole:].sort()
    found = np.zeros(size, np.uint8)
    found[: n * form.itemsize] = values.view(np.uint8)
    return found


Modules = dict[str, ctypes.c_void_p]


class Launch:
    """One launch of a bundle, ready to be made again and again."""

    def __init__(self, gpu: Gpu, modules: Modules, entry: dict[str, Any], inputs: Memories):
        self.gpu, self.entry = gpu, entry
        self.originals = [inputs.original(what) for what in entry["memory"]]
        self.sizes = [what["bytes"] for what in entry["memory"]]
        self.places = [gpu.allocate(size) for size in self.sizes]
        self.function = gpu.function(modules[entry["ptx"]], entry["entry"], entry["shared"])
        params = bytearray(base64.b64decode(entry["params"]))
        for offset, memory, within in entry["relocs"]:
            params[offset : offset + 8] = (self.places[memory] + within).to_bytes(8, "little")
        self.params = bytes(params)

    def restore(self) -> None:
        """Put the inputs back."""
        for place, original, size in zip(self.places, self.originals, self.sizes, strict=True):
            self.gpu.copy(place, original, size)

    def go(self) -> None:
        """Launch once."""
        e = self.entry
        self.gpu.launch(
            self.function, e["grid"], e["block"], self.params, e["offsets"], e["shared"], e["cooperative"]
        )

    def cold(self) -> float:
        """Seconds of one launch that finds nothing in the caches."""
        self.restore()
        self.gpu.flush()
        self.gpu.start()
        self.go()
        return self.gpu.stop()

    def free(self) -> None:
        """Give back the memory."""
        for place in self.places:
            self.gpu.free(place)


def measure(gpu: Gpu, entry: dict[str, Any], modules: Modules, inputs: Memories) -> dict[str, Any]:
    """Seconds of a launch. Inputs are put back before each: with its own results it may do anything."""
    launch = Launch(gpu, modules, entry, inputs)
    first = launch.cold()
    times = 15 if first < 2e-3 else 5 if first < 50e-3 else 2
    seconds = [launch.cold() for _ in range(times)]
    launch.free()
    return {"seconds": median_of(seconds), "least": min(seconds)}


def _module(gpu: Gpu, texts: Mapping[str, str], key: str, cubins: Path | None) -> ctypes.c_void_p:
    """A loaded module: of machine code where there is some, else of PTX."""
    made = cubins and cubins / f"{key}.cubin"
    return gpu.loaded(made.read_bytes()) if made and made.is_file() else gpu.module(texts[key])


def main() -> None:
    """Measure all launches of all bundles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundles", nargs="+", type=Path)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which no launch is begun")
    parser.add_argument("--cubins", type=Path, help="folder of machine code by the keys of the PTX")
    given = parser.parse_args()
    began = time.monotonic()
    gpu = Gpu()
    found: dict[str, Any] = {}
    for path in given.bundles:
        bundle = json.loads(path.read_text(encoding="utf-8"))
        modules = {}
        inputs = Memories(gpu)
        for entry in bundle["entries"]:
            if time.monotonic() - began > given.limit:
                break
            try:
                if entry["ptx"] not in modules:
                    modules[entry["ptx"]] = _module(gpu, bundle["ptx"], entry["ptx"], given.cubins)
                found[entry["id"]] = measure(gpu, entry, modules, inputs)
                print(f"{entry['id']:60} {1e6 * found[entry['id']]['seconds']:10.2f} us", flush=True)
            except RuntimeError as problem:
                found[entry["id"]] = {"failure": str(problem)}
                print(f"{entry['id']:60} {problem}", flush=True)
        result = {"gpu": gpu.name, "driver": gpu.driver, **gpu.attributes, "times": found}
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
