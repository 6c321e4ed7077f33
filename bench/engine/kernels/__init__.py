"""The kernels that are timed. A theme is a .cu, a .py and a .cl file; the .py file lists its cases."""
