"""Rungs of the 2-D convolution ladder with the defects of the course notes."""
