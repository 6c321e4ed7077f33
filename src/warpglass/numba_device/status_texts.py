"""What CUDA says of each status, in the words of its documentation: of the runtime, and of the driver.

errors.txt has a line for each of the runtime's: number, name, text. Where the driver has a status of the same
meaning the number is the same.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def statuses() -> dict[int, tuple[str, str]]:
    """The runtime's name and the text of each status."""
    lines = Path(__file__).with_name("errors.txt").read_text("utf-8").splitlines()
    rows = (line.split(maxsplit=2) for line in lines)
    return {int(number): (name, text) for number, name, text in rows}
