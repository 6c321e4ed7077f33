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


def test_work_is_captured_into_a_graph() -> None:
    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    program = core.Program(SOURCE, "c++", core.ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
    kernel = program.compile("ptx", name_expressions=("scale<float>",)).get_kernel("scale<float>")
    buffer, other = (device.allocate(400, stream=stream) for _ in range(2))
    data = np.arange(100, dtype=np.float32)
    driver.cuMemcpyHtoD(int(buffer.handle), data.ctypes.data, data.nbytes)
    builder = device.create_graph_builder().begin_building()
    for factor in (2, 3):
        values = buffer, np.float32(factor), np.uint64(100)
        core.launch(builder, core.LaunchConfig(grid=1, block=128), kernel, *values)
    left, right = builder.split(2)  # by events
    left_values, right_values = (
        (buffer, np.float32(-1), np.uint64(50)),
        (other, np.float32(7), np.uint64(100)),
    )
    core.launch(left, core.LaunchConfig(grid=1, block=128), kernel, *left_values)
    core.launch(right, core.LaunchConfig(grid=1, block=128), kernel, *right_values)
    builder = core.graph.GraphBuilder.join(left, right)
    graph = builder.end_building().complete()
    back = np.zeros_like(data)

    def contents(of: Any) -> Any:
        driver.cuMemcpyDtoH(back.ctypes.data, int(of.handle), data.nbytes)
        return back.copy()

    np.testing.assert_array_equal(contents(buffer), data)  # nothing has been done yet
    driver.cuMemcpyHtoD(int(other.handle), data.ctypes.data, data.nbytes)
    sign = np.where(np.arange(100) < 50, -1, 1)
    for repeat in (1, 2):
        graph.launch(stream)
        stream.sync()
        np.testing.assert_array_equal(contents(buffer), data * 6**repeat * sign**repeat)
        np.testing.assert_array_equal(contents(other), data * 7**repeat)
