"""The 2-D convolution ladder: from global memory, from blocks larger than their tiles, by rolling sums."""
