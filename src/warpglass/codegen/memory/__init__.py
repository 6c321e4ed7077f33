"""Loads, stores and atomic operations: their checks, their forms and the helpers that serve them."""
