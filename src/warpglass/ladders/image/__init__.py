"""The image ladder: a colour picture made grey, and blurred."""
