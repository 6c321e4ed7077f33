"""Races: accesses that nothing orders, by happens-before over stamps in shadow memory (races.py)."""
