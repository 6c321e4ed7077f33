"""The transpose ladder: strided stores, a tile in shared memory, one without bank conflicts, and words."""
