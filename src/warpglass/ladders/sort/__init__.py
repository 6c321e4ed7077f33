"""The sort ladder: bitonic networks in one block and over many, merge sorts and radix sorts."""
