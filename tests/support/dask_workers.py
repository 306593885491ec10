"""Dask workers on this machine, forked from a process that has imported what they need."""

import sys

import dask
from distributed import LocalCluster
from distributed.utils import get_mp_context

IMPORTED = ["distributed", "semisquares._inputs.dask", "semisquares.tables.models._streaming"]


def cluster(n_workers, **options):
    """Start a cluster with workers that have one thread each."""
    if sys.platform == "linux":  # elsewhere, libraries may not expect forks
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        get_mp_context().set_forkserver_preload(IMPORTED)
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1",
        silence_logs=50, **options,
    )  # fmt: skip
