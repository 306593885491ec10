"""The HTML page of a comparison, and its pictures."""
