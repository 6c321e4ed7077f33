"""Loops that lanes run one after the other, in scalars, in front of the same loop for all lanes."""
