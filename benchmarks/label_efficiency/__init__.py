"""How many labels a classifier needs if its rows are chosen by one strategy or another."""
