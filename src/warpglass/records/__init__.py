"""Plain data that stages hand on and files keep: what a launch was given, and what was found of it."""
