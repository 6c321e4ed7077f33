"""The grey picture is passed where the coloured one belongs, which has three times as many bytes.

warpglass check examples/notes_defects/swapped_arguments.py
"""

import numpy as np

import warpglass as wg

KERNEL = """
extern "C" __global__ void colour_to_grey(unsigned char *grey, const unsigned char *colour, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char *p = colour + 3 * i;
    grey[i] = (unsigned char)(0.21f * p[0] + 0.71f * p[1] + 0.07f * p[2]);
}
"""

n = 100
colour, grey = np.arange(3 * n).astype(np.uint8), np.zeros(n, np.uint8)
wg.compile(KERNEL, "colour_to_grey")[4, 32](colour, grey, n)  # out-of-bounds
