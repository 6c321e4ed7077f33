"""What a program of a collection is: how it is built, what it gets, and what it is not built without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """What is run: the words after `warpglass run`, in a folder.

    `needs` is what it is not built without, in words; `prepared` are kernels that its build compiles apart,
    by the files that the program looks for, relative to the folder; `headers` are CUDA's that it wants there.
    """

    name: str
    folder: Path
    words: tuple[str, ...]
    needs: tuple[str, ...] = ()
    prepared: tuple[tuple[str, str], ...] = ()
    headers: tuple[str, ...] = ()
