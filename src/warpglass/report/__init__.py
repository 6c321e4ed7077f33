"""Words and pictures for people: reads records, computes nothing."""
