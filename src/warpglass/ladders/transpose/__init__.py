"""The transpose ladder: strided stores, a tile in shared memory, and a tile without bank conflicts."""
