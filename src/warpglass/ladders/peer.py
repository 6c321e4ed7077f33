"""Peers: what well-known libraries take for a ladder's problem, in the same table and the same run.

Belongs here: the libraries (how arrays get there and back, how their time is taken) and the trial that runs
one of their functions. Which functions answer a ladder's question is for its problem.py to say. NumPy and
SciPy compute on the host; CuPy (CUB, cuBLAS) and PyTorch (cuBLAS, cuDNN) on the GPU, so they run only where
the bench does. A library that is not installed is left out.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.launch.backend import DeviceBackend
from ..errors import LaunchError, WarpglassError
from .device_arrays import DeviceArrays
from .problem import Array, Expected, Peer
from .run import Setting, make_card
from .trial import Timing, Verdict


@dataclass(frozen=True, slots=True)
class Library:
    """A library by the name that it is imported under."""

    module: str
    on_gpu: bool
    put: Callable[[Any, Array], Any]
    share: Callable[[Any, Any], Any]  # a device array of ours as one of the library's, without a copy
    shares: str  # the kinds of element types that it takes so
    get: Callable[[Any, Any], Array]
    seconds: Callable[[Any, Callable[[], Any]], tuple[float, Any]]
    prepare: Callable[[Any], None]

    @property
    def installed(self) -> bool:
        """Whether it can be imported."""
        return importlib.util.find_spec(self.module) is not None

    def load(self) -> Any:
        """Import it, set to IEEE arithmetic."""
        loaded = importlib.import_module(self.module)
        self.prepare(loaded)
        return loaded


def _wall(library: Any, call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    with np.errstate(all="ignore"):
        result = call()
    return time.perf_counter() - start, result


def _events_of_cupy(cupy: Any, call: Callable[[], Any]) -> tuple[float, Any]:
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    result = call()
    stop.record()
    stop.synchronize()
    return cupy.cuda.get_elapsed_time(start, stop) / 1e3, result


def _events_of_torch(torch: Any, call: Callable[[], Any]) -> tuple[float, Any]:
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    result = call()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / 1e3, result


def _full_precision(torch: Any) -> None:
    """TF32 would round the factors of a float32 product to 10 bits."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def _nothing(library: Any) -> None:
    pass


def _same(library: Any, array: Any) -> Any:
    return array


LIBRARIES = {
    library.module: library
    for library in (
        Library("numpy", False, _same, _same, "", lambda _, array: np.asarray(array), _wall, _nothing),
        Library("scipy", False, _same, _same, "", lambda _, array: np.asarray(array), _wall, _nothing),
        Library(
            "cupy",
            True,
            lambda cupy, array: cupy.asarray(array),
            lambda cupy, array: cupy.asarray(array),
            "fiu",
            lambda cupy, array: cupy.asnumpy(array),
            _events_of_cupy,
            _nothing,
        ),
        Library(
            "torch",
            True,
            lambda torch, array: torch.from_numpy(np.ascontiguousarray(array)).cuda(),
            lambda torch, array: torch.as_tensor(array, device="cuda"),
            "fi",
            lambda torch, array: array.cpu().numpy(),
            _events_of_torch,
            _full_precision,
        ),
    )
}


def contiguous(result: Any) -> bool:
    """Whether a library's result is an array in one piece."""
    interface = getattr(result, "__cuda_array_interface__", None)
    if interface is None or not math.prod(interface["shape"]):
        return False
    strides = interface.get("strides")
    steps = np.cumprod((np.dtype(interface["typestr"]).itemsize, *interface["shape"][:0:-1]))[::-1]
    return strides is None or tuple(strides) == tuple(steps)


class PeerTrial:
    """One function of a library on the arrays of a case."""

    def __init__(self, peer: Peer, arrays: DeviceArrays, setting: Setting):
        self._peer = peer
        self._arrays = arrays
        self._library = LIBRARIES[peer.library]
        self._module: Any = None
        self._inputs: dict[str, Any] = {}
        self._results: Mapping[str, Any] = {}
        self.card = make_card(
            setting, arrays.case, rung=peer.library, language=peer.library, kernel=peer.name, peer=True
        )

    def restore(self) -> None:
        """Hand the library fresh arrays; on a GPU those that the rungs have, restored."""
        case, device = self._arrays.case, self._on_device
        if device is not None:
            self._arrays.restore()
        with self._excused():
            if self._module is None:
                self._module = self._library.load()
            for name, array in case.arrays.items():
                if device is not None and name in case.outputs:
                    continue
                if device is not None or name in case.written or name not in self._inputs:
                    self._inputs[name] = self._put(name, array)

    @contextmanager
    def _excused(self) -> Iterator[None]:
        """What a library refuses, or has no memory for, is its failure and nobody else's."""
        try:
            yield
        except WarpglassError:
            raise
        except Exception as problem:
            said = f"{self._peer.library}: {type(problem).__name__}: {problem}"
            raise LaunchError(said, cuda_name="", synchronous=True, sticky=False) from problem

    def _put(self, name: str, array: Array) -> Any:
        if self._on_device is not None and name in self._inputs:
            return self._inputs[name]
        if self._on_device is not None and array.dtype.kind in self._library.shares and array.size:
            return self._library.share(self._module, self._arrays[name])
        return self._library.put(self._module, array.copy() if name in self._arrays.case.written else array)

    @property
    def _on_device(self) -> DeviceBackend | None:
        return self._arrays.device if self._library.on_gpu else None

    def _compute(self) -> Mapping[str, Any]:
        with self._excused():
            self._results = self._peer.compute(self._module, self._arrays.case, self._inputs)
        return self._results

    def run(self) -> Timing:
        """Call the function once."""
        with self._excused():
            seconds, _ = self._library.seconds(self._module, self._compute)
        return Timing(seconds, "gpu" if self._library.on_gpu else "host")

    def start(self, device: DeviceBackend) -> tuple[Timing, Callable[[], object] | None]:
        """Call the function once; on the GPU it can be called again without waiting for it."""
        timing = self.run()
        return timing, self._compute if self._library.on_gpu else None

    @property
    def destroys(self) -> bool:
        """Never: functions of libraries return new arrays."""
        return False

    def rewind(self) -> None:
        """Nothing to put back."""

    def release(self) -> None:
        """Drop the library's arrays."""
        self._inputs.clear()
        self._results = {}

    def judge(self) -> Verdict:
        """Compare; the order of a library's roundings is unknown, so the bound is that of any order."""
        depth = max(1, self._peer.depth(self._arrays.case))
        found = {name: self._result(name, truth) for name, truth in self._arrays.expected(depth).items()}
        return self._arrays.judge(found, depth)

    def _result(self, name: str, truth: Expected) -> Any:
        """A result where it lies, if the device judges; else on the host."""
        result = self._results[name]
        if self._on_device is not None and contiguous(result):
            return result
        return self._library.get(self._module, result).reshape(np.shape(truth.value))

    def transfer(self) -> float | None:
        """Not measured: the kernels' rows have it."""
        return None

    def copied(self) -> tuple[int, int] | None:
        """Not said: the kernels' rows have it."""
        return None

    def recover(self) -> None:
        """Forget the library's arrays."""
        self._inputs.clear()


def peers_that_run(peers: Sequence[Peer], table: str, on_gpu: bool) -> tuple[Peer, ...]:
    """Those peers of a table whose library is installed and computes where the bench does, or on the host."""
    return tuple(
        peer
        for peer in peers
        if peer.table in (table, "")
        and LIBRARIES[peer.library].installed
        and (on_gpu or not LIBRARIES[peer.library].on_gpu)
    )
