"""Read and check what users pass: X, y, weights and Dask collections."""
