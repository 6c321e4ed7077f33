"""Compile the planted bugs and put the PTX into the package: `python -m warpglass.selftest.ship`.

Machines without a compiler run these. A test fails when the archive is out of date.
"""

from __future__ import annotations

import sys

from ..source import load, shipped
from .plants import FOLDER, PLANTED, PLANTS, SOUND


def compile_plants() -> None:
    """Obtain every kernel."""
    for plant in PLANTS:
        for name in (PLANTED, SOUND):
            load(plant.file, name).compile(())


def main() -> None:
    """Write the archive."""
    with shipped.record(fresh=True) as entries:
        compile_plants()
    archive = FOLDER / shipped.ARCHIVE
    shipped.write(archive, entries)
    sys.stdout.write(f"{archive}: {len(entries)} kernels, {archive.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
