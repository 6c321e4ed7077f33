"""The scan ladder: prefix sums, in the blocks' shared memory, by shuffles, over many blocks, in a single
pass."""
