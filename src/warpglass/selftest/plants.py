"""How the kernels of the positive control are launched: one row a kind of finding, which names the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PLANTED, SOUND = "planted", "sound"
_MARK = "// PLANTED"


@dataclass(frozen=True, slots=True)
class Plant:
    """A planted bug: its kind, the launch of both kernels, with arguments as on the command line."""

    kind: str
    grid: int
    block: int
    args: tuple[str, ...]
    timeout: float = 30.0

    @property
    def file(self) -> Path:
        """The file with both kernels."""
        return FOLDER / f"{self.kind.replace('-', '_')}.cu"

    @property
    def line(self) -> int:
        """The line that is to blame."""
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return next(number for number, line in enumerate(lines, 1) if line.endswith(_MARK))


PLANTS = (
    Plant("shared-race", 1, 64, ("f4[64]:rand", "f4[64]")),
    Plant("warp-race", 1, 32, ("f4[32]:rand", "f4[32]")),
    Plant("cluster-memory", 2, 64, ("f4[128]",)),
    Plant("global-race", 2, 64, ("f4[128]:rand", "f4[128]")),
    Plant("barrier-divergence", 1, 64, ("f4[64]",)),
    Plant("sync-mask", 1, 32, ("f4[32]:rand", "f4[32]")),
    Plant("out-of-bounds", 2, 64, ("f4[100]", "i4=100")),
    Plant("misaligned", 1, 32, ("f4[80]:rand", "f4[32]")),
    Plant("read-only-write", 1, 32, ("ro:f4[32]:rand", "f4[32]")),
    Plant("use-after-free", 1, 1, ("i4[1]",)),
    Plant("uninitialised-read", 1, 32, ("f4[32]:rand", "f4[32]")),
    Plant("unwritten-output", 2, 64, ("out:f4[100]", "i4=100")),
    Plant("unread-input", 1, 64, ("all:f4[100]:rand", "f4[64]", "i4=100")),
    Plant("trap", 1, 1, ("i4=100",)),
    Plant("deadlock", 1, 64, ("f4[64]",)),
    Plant("timeout", 1, 1, ("i4[1]", "i4[1]"), timeout=0.3),
)
