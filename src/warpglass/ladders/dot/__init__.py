"""The dot-product ladder: from products that the host adds to a tree in shared memory."""
