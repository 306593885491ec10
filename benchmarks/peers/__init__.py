"""semisquares and what a user would pick instead: same splits, same machine; see `__main__`."""
