"""The odd-even sort ladder: bubble sort made parallel, from the host to many blocks."""
