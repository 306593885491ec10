"""Do unlabeled rows help on the breast-cancer table? Run ``python -m benchmarks.breast_cancer``."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifierCV
from sklearn.preprocessing import scale

from semisquares import (
    HardLabelClassifier,
    LeastSquaresClassifier,
    SoftLabelClassifier,
    SoftLabelClassifierCV,
)

Array = NDArray[Any]

LABELS = 40
SPLITS = 20
ALPHAS = np.logspace(-2, 4, 13)


def main() -> None:
    """Compare the classifiers over random choices of the labeled rows, and print a table."""
    X, truth = load_breast_cancer(return_X_y=True)
    X = scale(X)
    print(
        f"Breast-cancer table: {len(X)} rows, {X.shape[1]} columns. {LABELS} labels are kept, the "
        f"others hidden;\naccuracy on the hidden rows, mean of {SPLITS} random choices of the "
        "labels.\n"
    )
    models = {
        "supervised least squares, alpha=0": LeastSquaresClassifier(alpha=0.0),
        "tuned ridge (RidgeClassifierCV)": RidgeClassifierCV(ALPHAS),
        "soft labels, alpha=0": SoftLabelClassifier(alpha=0.0),
        "soft labels, alpha=1": SoftLabelClassifier(alpha=1.0),
        "hard labels, alpha=0": HardLabelClassifier(alpha=0.0, certify=True),
        "hard labels, alpha=1": HardLabelClassifier(alpha=1.0, certify=True),
        "soft labels, chosen by the labels (CV)": SoftLabelClassifierCV(),
    }
    print(f"{'':40s}{'accuracy':>17s}{'certificate':>14s}{'ms a fit':>10s}")
    for name, model in models.items():
        print(f"{name:40s}{_row(model, X, truth)}", flush=True)
    print(
        "\nThe certificate is a proven bound on the distance to the optimum of the classifier's own"
        "\nobjective, relative to that of a constant. For hard labels it bounds the distance to the"
        "\nbest of all labelings, which is why it is large: nobody knows that labeling."
    )


def _row(model: Any, X: Array, truth: Array) -> str:
    accuracy, certificates, seconds = [], [], []
    for seed in range(SPLITS):
        y = _hide(truth, seed)
        hidden = y == -1
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a lost class shows in the accuracy
            if isinstance(model, RidgeClassifierCV):
                model.fit(X[~hidden], y[~hidden])
            else:
                model.fit(X, y)
        seconds.append(time.perf_counter() - start)
        accuracy.append(np.mean(model.predict(X[hidden]) == truth[hidden]))
        certificates.append(getattr(model, "certificate_", np.nan))
    error = np.std(accuracy, ddof=1) / np.sqrt(SPLITS)
    worst = max(certificates)
    shown = "—" if np.isnan(worst) else f"{worst:.1e}"
    return f"{np.mean(accuracy):9.3f} ± {error:.3f}{shown:>14s}{1e3 * np.median(seconds):10.1f}"


def _hide(truth: Array, seed: int) -> Array:
    """Keep the labels of random rows, as many of each class; -1 for the rest."""
    rng = np.random.default_rng(seed)
    kept = np.concatenate(
        [rng.choice(np.flatnonzero(truth == c), LABELS // 2, replace=False) for c in (0, 1)]
    )
    y = np.full(len(truth), -1)
    y[kept] = truth[kept]
    return y


if __name__ == "__main__":
    main()
