"""The reduction ladder: adding up an array, from neighboured pairs to a kernel specialised on its block
size.

problem.py knows the inputs, the reference and the error bound; trial.py runs one rung; every other module
is a rung.
"""
