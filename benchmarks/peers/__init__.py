"""semisquares compared with its alternatives on the same splits and machine; see `__main__`."""
