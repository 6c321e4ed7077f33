"""The CPU engine: launches run by machine code on the cores of the host."""
