"""Kernel times: measuring a GPU's constants (calibrate.py) and judging the model (validate.py)."""
