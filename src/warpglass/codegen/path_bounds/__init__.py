"""Path-sensitive bounds: an abstract interpretation of a thread's integers, where launches repeat them."""
