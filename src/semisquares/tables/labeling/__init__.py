"""Label the rows of a table: read it, show its rows on a page, and write the labels into a copy."""
