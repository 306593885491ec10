"""How tables are written in files: which format, which delimiter, and what went wrong in one."""
