"""Random CUDA C++ whose threads load until they store: `attempt(number)` is what watched.py tries.

Warps run together there, 64 or 128 lanes at a time, however long their loops are. An index that is out of
bounds now and then shows whether the first fault is that of warps one by one, after the same stores.
"""

from __future__ import annotations

from unittest import mock

from tests.engines import CPU_ENGINES, worker_threads

from .private_programs import Writer, ending, short

# Threads of a block.
_BLOCKS = (64, 128, 192, 256, 100)


class _Chains(Writer):
    """Writes one program: nothing but registers and what it loads."""

    def __init__(self, number: int):
        super().__init__(number)
        self.strays = 0.2 if number % 2 else 0.0
        self.arrays, self.shared, self.changes, self.looks = [], False, [], False

    def _index(self, left: str, right: str) -> str:
        """Seldom beyond the end, so that it is not always the first thread that faults."""
        stray = f" + ((({right}) & 255) / 255 << 10)" if self.random.random() < self.strays else ""
        return f"(({left}) & 1023){stray}"


def attempt(number: int) -> str:
    """Run a program on both engines: the same bytes, or the same fault after the same stores."""
    text = _Chains(number).program()
    with (
        worker_threads(1),
        mock.patch("warpglass.codegen.parting_warps._LONGEST", 1000),
        mock.patch("warpglass.codegen.parting_warps.gathers_quickly", return_value=True),
    ):
        reference, fast = (ending(number, text, engine, _BLOCKS[number % 5], -2) for engine in CPU_ENGINES)
    assert reference == fast, f"{short(reference)} and {short(fast)}\n{text}"
    return "fault" if isinstance(reference, str) else "agree"
