"""Values that nobody has written (undefined.py), and elements that nobody has touched (untouched.py)."""
