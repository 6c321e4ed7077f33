"""The bench's part of the wiring in lab.py: options in, a bench on a chosen device out."""

from __future__ import annotations

from . import __version__, lab, source
from .errors import ArgumentError
from .ladders.trial import Final, Language, Options, Toolchain
from .measure import Bench, Progress, run_bench

LANGUAGES: dict[str, tuple[Language, ...]] = {
    "cuda": ("cuda",),
    "python": ("python",),
    "both": ("cuda", "python"),
}
FINALS: dict[str, Final] = {"host": "host", "launch": "launch"}


def bench(
    ladder: str = "reduction",
    *,
    size: int | None = None,
    dtype: str | None = None,
    block: int | None = None,
    language: str = "both",
    device: str = "auto",
    repeat: int = 5,
    rungs: tuple[str, ...] = (),
    final: str = "host",
    as_written: bool = False,
    data: str = "random",
    seed: int = 0,
    timeout: float = 60.0,
    model: str = "h100",
    progress: Progress | None = None,
) -> Bench:
    """Run every rung of a ladder, verify each, and return rows, tables and JSON.

    `size` (elements), `dtype` and `block` (threads) replace the sizes of the course notes in all tables.
    `language` is "cuda", "python" or "both". Seconds are the median of `repeat` runs. `final` says where the
    partial results are combined: on the "host" or by a further "launch". Raises ArgumentError for what the
    ladder does not take; a rung that fails is a row that is not verified.
    """
    if language not in LANGUAGES:
        raise ArgumentError(f"language {language!r}: one of {', '.join(LANGUAGES)}")
    if final not in FINALS:
        raise ArgumentError(f"final {final!r}: one of {', '.join(FINALS)}")
    options = Options(
        size=size,
        dtype=dtype,
        block=block,
        languages=LANGUAGES[language],
        rungs=tuple(rungs),
        final=FINALS[final],
        as_written=as_written,
        data=data,
        seed=seed,
        timeout=timeout,
    )
    return run_bench(
        ladder,
        options,
        backend=lab.backend(device, model),
        toolchain=Toolchain(open_cuda=source.load, open_python=source.from_numba),
        version=__version__,
        repeat=repeat,
        progress=progress,
    )
