"""Rungs of the image ladder with the defects of the course notes."""
