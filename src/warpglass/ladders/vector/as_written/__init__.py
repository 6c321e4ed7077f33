"""Rungs of the vector ladder with the defects of the course notes."""
