"""Tries many inputs: `python -m tests.fuzz.campaign MODULE FIRST COUNT [PROCESSES]`.

MODULE has `attempt(number)`, as tests.fuzz.broken_ptx has. Progress goes to the standard output, a line for
some hundred inputs and one for each input that ended badly; the status is 1 if there was one.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from .watched import Outcomes, try_all

_CHUNK = 50  # inputs of a process before a new one takes over


def main() -> None:
    """Run the campaign that the arguments name."""
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: python -m tests.fuzz.campaign MODULE FIRST COUNT [PROCESSES]")
    module, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    processes = int(sys.argv[4]) if len(sys.argv) == 5 else 1
    started, total = time.monotonic(), Outcomes()
    chunks = [range(k, min(k + _CHUNK, first + count)) for k in range(first, first + count, _CHUNK)]
    with ThreadPoolExecutor(processes) as pool:
        for found in pool.map(lambda numbers: try_all(module, numbers), chunks):
            total.good.update(found.good)
            total.bad.update(found.bad)
            for number, text in found.bad.items():
                _say(f"BAD {number} {json.dumps(text[-2000:])}")
            done = total.good.total() + len(total.bad)
            ends = ", ".join(f"{word} {times}" for word, times in total.good.most_common())
            seconds = time.monotonic() - started
            _say(f"{done} of {count} from {first}: {ends}; {len(total.bad)} bad; {seconds:.0f} s")
    sys.exit(1 if total.bad else 0)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
