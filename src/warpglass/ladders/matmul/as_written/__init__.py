"""Rungs of the matrix-multiplication ladder with the defects of the course notes."""
