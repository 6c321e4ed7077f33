"""Run by every Python process that a program under `warpglass run` starts: its folder is on PYTHONPATH.

It lets warpglass take the GPU's place there as well, as soon as a package that asks for one is imported, and
then gives way to the sitecustomize that would have been found without it.
"""

import contextlib
import importlib
import sys
from pathlib import Path

_here = str(Path(__file__).parent)
sys.path[:] = [entry for entry in sys.path if entry != _here]
_own = sys.modules.pop(__name__)
with contextlib.suppress(ImportError):
    importlib.import_module("sitecustomize")
sys.modules.setdefault(__name__, _own)  # whoever imports us looks for us there
importlib.import_module("warpglass.numba_device.hook").install()
