"""Run main() of a program that was compiled to a shared object: `python child.py PROGRAM WORD...`."""

from __future__ import annotations

import ctypes
import os
import sys

from warpglass.cuda_runtime import activate


def main() -> int:
    activate(os.environ.get("WARPGLASS_MODEL", "h100"))
    program = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    words = [word.encode() for word in sys.argv[1:]]
    status = program.main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))
    ctypes.CDLL(None).fflush(None)
    return status


if __name__ == "__main__":
    sys.exit(main())
