"""stumpy's matrix profile on the virtual GPU, beside its own on the CPU.

    pip install "warpglass[numba-cuda]" stumpy
    warpglass run examples/stumpy/matrix_profile.py

stumpy.gpu_stump is a program for numba.cuda; it is not modified, and does not know that there is no GPU.
"""

import numpy as np
import stumpy

generator = np.random.default_rng(1)
series = generator.standard_normal(400)
series[50:75] = series[300:325] = np.sin(np.linspace(0, 6, 25))  # a motif, twice

on_cpu = stumpy.stump(series, m=25)
on_gpu = stumpy.gpu_stump(series, m=25)
np.testing.assert_allclose(
    on_gpu[:, 0].astype(np.float64), on_cpu[:, 0].astype(np.float64), rtol=1e-6, atol=1e-6
)
place = int(np.argmin(on_gpu[:, 0]))
print(f"the closest pair starts at {place} and {int(on_gpu[place, 1])}, on the CPU and on the virtual GPU")
