"""The 1-D convolution ladder: mask in constant memory, tiles with halo cells, windows in registers."""
