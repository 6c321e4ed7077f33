"""The command `warpglass`, also as `python -m warpglass`."""

from __future__ import annotations

import os
import signal

_INTERRUPTED = 130  # the status that shells give to what Ctrl-C has ended


def main() -> None:
    """Run the command line; Ctrl-C while that is imported and made ready ends the process without a word."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from .cli import main as run

    signal.signal(signal.SIGINT, usual)
    try:
        run()
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None


if __name__ == "__main__":
    main()
