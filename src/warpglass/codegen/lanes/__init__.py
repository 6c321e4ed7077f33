"""Emission of values: the reference and the fast implementation of isa/lanes.py."""
