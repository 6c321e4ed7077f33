"""Rungs of the 1-D convolution ladder with the defects of the course notes."""
