"""The reduction kernels with the defects of the course notes, kept so that the checker can show them.

They are right for arrays that are a multiple of what a block covers, and are no part of the default table.
"""
