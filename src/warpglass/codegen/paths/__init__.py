"""What is known of integers along a thread's possible paths, for launches that repeat theirs."""
