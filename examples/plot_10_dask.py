r"""
10. More rows than memory: a Dask fit
=====================================

Pass a Dask array instead of a NumPy array, and the rows stay where they are: in each pass over the
rows, every block only sends a small matrix of sums, and the few rows with a decision value near 0
or 1. The result is that of the fit in memory. Here the "cluster" consists of threads on this
machine and the table is small, so that the example runs quickly; nothing else would change for a
large one.
"""

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from semisquares import SoftLabelClassifier, plotting

GREEN, SKY, VERMILION = "#009E73", "#56B4E9", "#D55E00"

# %%
# The table has 120,000 rows and 20 columns, in 30 blocks; 200 rows have a label. Blocks are
# computed when they are needed, and not kept.

N, D, BLOCK = 120_000, 20, 4_000


def make_block(number):
    """Make the rows of one block, their classes in an extra column."""
    rng = np.random.default_rng(number)
    truth = rng.integers(2, size=BLOCK)
    X = rng.normal(size=(BLOCK, D)) + 0.4 * truth[:, None]
    return np.column_stack((X, truth))


table = da.concatenate(
    [
        da.from_delayed(dask.delayed(make_block)(number), shape=(BLOCK, D + 1), dtype=float)
        for number in range(N // BLOCK)
    ]
)
X, truth = table[:, :D], table[:, D]
y = da.where(da.arange(N, chunks=BLOCK) % 600 == 0, truth, -1).astype(int)

with dask.config.set(scheduler="threads"):
    model = SoftLabelClassifier().fit(X, y)
print(f"{model.n_iter_} steps, certificate {model.certificate_:.1e}")

# %%
# What travelled
# --------------
# ``solution_.passes`` lists every pass over the rows: its seconds, and the bytes that the blocks
# sent.

passes = model.solution_.passes
sent = np.array([one.bytes_sent for one in passes])
seconds = np.array([one.seconds for one in passes])
whole = N * D * 8

with plotting.style():
    figure, (bytes_panel, time_panel) = plt.subplots(1, 2, figsize=(7.6, 3.0), layout="constrained")
    number = np.arange(1, len(passes) + 1)
    bytes_panel.bar(number, sent / 1e6, color=SKY)
    bytes_panel.axhline(whole / 1e6, color=VERMILION)
    bytes_panel.text(0.6, 1.15 * whole / 1e6, "the whole table", color=VERMILION)
    bytes_panel.set(yscale="log", ylim=(None, 4 * whole / 1e6), xlabel="pass", ylabel="MB sent")
    time_panel.bar(number, seconds, color=GREEN)
    time_panel.set(xlabel="pass", ylabel="seconds (making the rows included)")
    bytes_panel.set_title("Bytes")
    time_panel.set_title("Time")
plt.show()

# %%
# The same answer
# ---------------
# This table fits into memory, so we can compare.

with dask.config.set(scheduler="threads"):
    X_here, y_here, truth_here = dask.compute(X, y, truth)
    predicted = model.predict(X).compute()  # predictions are lazy, too
here = SoftLabelClassifier().fit(X_here, y_here)
print(f"largest difference of weights: {np.abs(model.coef_ - here.coef_).max():.1e}")
print(
    f"accuracy: {np.mean(predicted == truth_here):.4f}, "
    f"supervised {here.supervised_.score(X_here, truth_here.astype(int)):.4f}"
)

# %%
# The chunks of the array should be neither tiny (each block has a cost in each pass) nor too large
# for memory. There should be few columns: the sums grow with their square. And before you fit a
# hundred million unlabeled rows, fit a sample: as in the fifth example, the error often stops
# decreasing long before all rows are used.
