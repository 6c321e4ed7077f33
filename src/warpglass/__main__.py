"""`python -m warpglass` is the command `warpglass`."""

from .cli import main

main()
