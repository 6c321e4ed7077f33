"""cuda.core on the virtual device: compile CUDA C++, launch it, copy. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

core: Any = importlib.import_module("cuda.core")
driver: Any = importlib.import_module("cuda.bindings.driver")

SOURCE = """
template <typename T>
__global__ void scale(T* data, T factor, size_t count)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count) data[i] *= factor;
}
"""


@pytest.mark.parametrize("form", ["ptx", "cubin"])
def test_a_program_is_compiled_and_launched(form: str) -> None:
    device = core.Device()
    device.set_current()
    assert device.name.startswith("NVIDIA H100")
    stream = device.create_stream()
    program = core.Program(SOURCE, "c++", core.ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
    kernel = program.compile(form, name_expressions=("scale<float>",)).get_kernel("scale<float>")
    buffer = device.allocate(4000, stream=stream)
    data = np.arange(1000, dtype=np.float32)
    driver.cuMemcpyHtoD(int(buffer.handle), data.ctypes.data, data.nbytes)
    config = core.LaunchConfig(grid=8, block=128)
    core.launch(stream, config, kernel, buffer, np.float32(3), np.uint64(1000))
    stream.sync()
    back = np.zeros_like(data)
    driver.cuMemcpyDtoH(back.ctypes.data, int(buffer.handle), data.nbytes)
    np.testing.assert_array_equal(back, 3 * data)
    buffer.close(stream)
