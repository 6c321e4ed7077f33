"""What the real assembler made of a kernel: machine instructions, and the counters that depend on them."""
