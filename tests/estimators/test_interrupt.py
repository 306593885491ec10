"""Ctrl-C in the middle of a fit: it stops at once, and nothing is lost."""

import signal
import subprocess
import sys
import textwrap

from support.command_line import PATIENCE
from support.systems import posix_only

SCRIPT = textwrap.dedent(
    """
    import threading, time
    import numpy as np
    from threadpoolctl import threadpool_info
    from semisquares import SoftLabelClassifier

    def blas():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 30))
    y = np.where(np.arange(len(X)) < 500, X[:, 0] > 0, -1)
    model = SoftLabelClassifier(solver="block", tol=1e-30).fit(X[:2000], y[:2000])
    before, threads = model.coef_.copy(), blas()
    try:
        model.set_params(verbose=True).fit(X, y)
    except KeyboardInterrupt:
        same = np.array_equal(model.coef_, before) and blas() == threads
        while threading.active_count() > 1:  # until those that sum rows have heard of it
            time.sleep(0.01)
        print("interrupted", same, len(model.predict(X[:5])))
    else:
        print("finished")
    """
)


@posix_only
def test_an_interrupted_fit_leaves_the_model_and_the_threads_as_they_were():
    process = subprocess.Popen(
        [sys.executable, "-u", "-W", "ignore", "-c", SCRIPT], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(3):  # steps of thousands
        assert "rows changed" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE)
    assert said.splitlines()[-1] == "interrupted True 5"
