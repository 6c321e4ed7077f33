"""Loops in which few of a warp's lanes are left: those lanes side by side, in vectors of a few elements."""
