"""The 1-D convolution ladder: mask in constant memory, tiles with halo cells, halo cells left to the L2."""
