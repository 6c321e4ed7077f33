"""The vector ladder: adding two arrays, from one thread to a loop over the grid."""
