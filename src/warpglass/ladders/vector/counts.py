"""Launch arithmetic: how many blocks cover an array, and how many threads that leaves without an element."""

from __future__ import annotations


def blocks_for(n: int, block: int) -> int:
    """Blocks of so many threads that cover n elements: a division that rounds up."""
    return -(-n // block)


def idle_threads(n: int, block: int) -> int:
    """Threads of these blocks beyond the end of the array: 28 for 100 elements and blocks of 32."""
    return blocks_for(n, block) * block - n
