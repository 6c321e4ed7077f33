"""The matrix-multiplication ladder: from one element a thread to tiles in shared memory and in registers."""
