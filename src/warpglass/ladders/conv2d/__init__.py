"""The 2-D convolution ladder: from global memory, and from tiles in blocks that are larger than they."""
