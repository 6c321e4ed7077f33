"""The host as every stage asks for it: environment variables, what one kernel may take of it, its cores."""
