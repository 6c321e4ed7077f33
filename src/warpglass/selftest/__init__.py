"""The checker's positive control: one small bug of every kind, and the same kernel without it.

One file a kind: the kernel `planted` has the bug, at the line that ends in PLANTED, and `sound` has not.
`plants.py` says how they are launched. Their PTX ships with the package (ladders/ship.py).
"""
