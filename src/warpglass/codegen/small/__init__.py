"""Small code: the reference's meanings, but each form of an instruction once, as a function."""
