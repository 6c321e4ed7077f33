"""What is told of findings: places and names, and one finding for each cause."""
