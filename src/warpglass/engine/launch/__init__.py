"""A launch before it has a back end: arguments, limits, the interface of back ends, and what both share."""
