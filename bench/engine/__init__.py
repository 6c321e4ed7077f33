"""The engine's speed: the same kernels on it, on PoCL, in NumPy and in numba's simulator. See __main__.py."""
