"""Synchronisation: the clocks that it moves (clocks.py), and where it goes wrong (synchronisation.py)."""
