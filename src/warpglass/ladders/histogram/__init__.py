"""The histogram ladder: counting keys with global atomics, with copies in shared memory, and by warps."""
