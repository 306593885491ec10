"""From what a user passes (X, y, weights, Dask collections) to checked rows and labels."""
