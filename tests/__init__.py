"""A package of its own, so that Dask workers find our tests if another package is named `tests`."""
