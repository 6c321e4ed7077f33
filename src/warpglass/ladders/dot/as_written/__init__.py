"""Rungs of the dot-product ladder with the defects of the course notes."""
