"""Values of a warp's lanes: the two implementations of isa/lanes.py and what they know of values."""
