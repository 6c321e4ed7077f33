"""What a sweep's kernels are to leave in their arrays: one for each, None for those that they only read."""

import numpy as np


def partial_sums(x, partial, _n):
    """The sums of equal parts."""
    return None, x.reshape(partial.size, -1).sum(axis=1, dtype=np.float64)
