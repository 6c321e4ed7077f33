"""The sort ladder: bitonic networks in one block and over many, and merge sorts."""
