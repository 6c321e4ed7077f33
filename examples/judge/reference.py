"""What the task's submissions are to compute: an array for each of the kernel's, None for those it reads."""


def add(x, y, _out, _n):
    return None, None, x + y
