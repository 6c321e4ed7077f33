"""A program for cuda.core: compile CUDA C++, launch it, copy the result. Nothing in it knows of warpglass.

python saxpy.py                 # on a machine with a GPU
warpglass run saxpy.py          # on any machine
warpglass check saxpy.py
"""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
template <typename T>
__global__ void saxpy(T a, const T* x, T* y, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i];
}
"""


def main() -> None:
    """Run the kernel and compare."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE, "c++", ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin", name_expressions=("saxpy<float>",)).get_kernel("saxpy<float>")

    n = 10_000
    buffers = [LegacyPinnedMemoryResource().allocate(4 * n) for _ in range(2)]
    x, y = (np.from_dlpack(buffer).view(np.float32) for buffer in buffers)
    x[:], y[:] = np.arange(n), 1
    launch(stream, LaunchConfig(grid=40, block=256), kernel, np.float32(2), *buffers, np.uint64(n))
    stream.sync()
    print(f"{device.name}: {bool((y == 2 * x + 1).all())}")


if __name__ == "__main__":
    main()
