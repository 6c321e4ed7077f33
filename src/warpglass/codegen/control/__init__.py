"""Where warps go: divergence, barriers, turns, and the loop over a block's warps and a worker's blocks."""
