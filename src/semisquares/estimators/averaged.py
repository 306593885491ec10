"""The averaged classifier: simple classifiers, weighted by their out-of-sample log loss."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import joblib
import numpy as np
from sklearn import config_context
from sklearn.base import _fit_context, clone
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils._param_validation import StrOptions

from .._inputs.array_api import Place, place_of, to_numpy
from .._inputs.arrays import explain_overflow, labeled_weight, read_columns, read_table, read_weight
from .._inputs.checks import Number, is_dask, one_line, read_grid
from .._inputs.dask import (
    DaskBlocks,
    check_columns,
    lazily,
    lazy_labels,
    read_dask_blocks,
    split_column,
)
from .._inputs.labels import Labels, read_labels, user_level
from .._inputs.memory import check_memory
from .._inputs.untested import rows_to_test
from .._utils.typing import Array
from ..core.rows import HOST, Device, DeviceMatrix, on_host, single_threaded_blas
from ..families import (
    Family,
    FittedFamily,
    Forest,
    HardLabelRidges,
    LabeledRows,
    LeastSquares,
    Logistic,
)
from ..families._average import Average, Learned
from ..families.least_squares import STRENGTHS
from ..representations import GraphRepresentation, KernelRepresentation, LinearRepresentation
from ..representations._base import Representation
from ..representations._in_blocks import read_blocks
from ..representations._scaling import Scaling
from ..representations._summary import Summary, summarize
from ..representations.graph import neighbours_agree
from ._average import Scores, priors_of, score_members, usable
from ._base import DecidingClassifier, fitted_state_kept, one_hot
from ._distinct_rows import DistinctRows
from ._progress import Progress

FAMILIES: dict[str, Callable[[Any], Family]] = {
    "least_squares": lambda model: model._least_squares(),
    "forest": lambda model: Forest(),
    "logistic": lambda model: Logistic(),
    "hard_labels": lambda model: HardLabelRidges(),
}
KINDS = ("linear", "kernel", "graph")
N_GRAPHS = 3
"""Number of graph representations, which come last."""
ARRAYS = 4.0
"""A fit holds at least this many arrays with a number for each member, labeled row and class."""
MOST_COMPARED = 1000
"""Labeled rows that decide whether a graph can help."""

_showing: ContextVar[bool] = ContextVar("showing", default=False)


class AveragedClassifier(CallbackSupportMixin, DecidingClassifier):
    """Average simple classifiers, weighted by their out-of-sample log loss.

    Members come from four families: ridge classifiers on representations that are learned from
    *all* rows without labels, a random forest, logistic regressions, and ridge classifiers that
    impute hard labels. Every member predicts the labeled rows out of sample (least squares by
    leave-one-out in closed form, the forest out of bag, logistic regression by approximate
    leave-one-out, hard labels by folds) and is calibrated by a slope and an offset. The calibrated
    log loss ℓ gives its weight:

        P(y | x) = Σ v_m P_m(y | x),      v_m ∝ prior_m · exp(-sharpness · L · ℓ_m)

    with L the number of labels. The fit is deterministic and independent of the order of the rows.

    A fitted classifier holds rows: the labeled ones, which `supervised_` and `certificate_` are
    computed from, and a sample of all rows, for kernels and graphs. A pickle of it holds them, too.
    A model file of `semisquares.tables` does not: it holds at most the part of the sample that
    kernel and graph members measure distances from, and says so.

    Parameters
    ----------
    families : str or sequence, default=("least_squares", "forest", "logistic", "hard_labels")
        Which families to average: names, or objects with the interface of
        `semisquares.families.Family`.
    representations : sequence or None, default=None
        Representations for the ridge classifiers: "linear", "kernel" or "graph", or transformers
        from `semisquares.representations`. None is all of them, but without the graph if
        neighbouring labeled rows share their labels no more often than other rows.
    n_landmarks : int, default=300
        The largest number of landmarks of the kernel.
    n_graph_rows : int, default=1200
        The largest number of rows in the graph of neighbours.
    n_neighbors : int, default=7
        The number of neighbours in the graph.
    alphas : array-like or None, default=None
        Strengths of the ridge, relative to the mean eigenvalue of the labeled rows' Gram matrix;
        None is seven values from 0.001 to 30.
    prior : dict or None, default=None
        Prior weight of each family by its name; the default is 1, and 0.5 for "hard_labels".
    sharpness : float, default=0.5
        How fast weights fall with the loss: 0 keeps the prior, 1 is Bayes' rule for the loss.
    class_weight : dict, "balanced" or None, default=None
        Weights of the labeled rows by class.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.
    warm_start : bool, default=False
        Whether a fit to the same rows takes over the representations of the fit before, which no
        label changes. The result is the same, and a fit after every new label takes less time.
    n_jobs : int or None, default=None
        Number of threads for growing trees and predicting; None is one.
    verbose : int, default=0
        Whether to print the progress of the fit.

    Attributes
    ----------
    members_ : dict of arrays
        One entry for each member: "family", "representation", "setting", "log_loss" and "accuracy"
        out of sample, "slope" and "weight". ``pandas.DataFrame(model.members_)`` is a table.
    loo_proba_ : ndarray of shape (n_labeled, n_classes)
        Out-of-sample probabilities of the labeled rows, in the order of `loo_indices_`. The members
        were fitted without the row, its copies and its group, and their weights exclude its own
        loss. The calibration of each member, a slope and an offset for each class, was fitted to
        all labeled rows.
    loo_indices_ : ndarray of shape (n_labeled,)
        The labeled rows of positive weight, ascending.
    loo_score_ : float
        The accuracy of `loo_proba_`.
    transduction_ : ndarray of shape (n_samples,)
        The class of every training row, given or predicted; computed on first access.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The probabilities of every training row; computed on first access.
    supervised_ : AveragedClassifier
        The same classifier fitted to the labeled rows alone, representations included; fitted on
        first access. Compare with it to see what the unlabeled rows are worth.
    certificate_ : float
        The largest relative duality gap of a least squares member, proven independently of the
        fit; computed on first access.
    average_ : Average
        The fitted representations, families, calibration and weights.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from semisquares import AveragedClassifier
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=300)
    >>> X = rng.normal(size=(300, 5)) + truth[:, None]
    >>> y = np.where(np.arange(300) < 30, truth, -1)
    >>> model = AveragedClassifier().fit(X, y)
    >>> bool(model.score(X[30:], truth[30:]) > 0.8)
    True
    >>> sorted(set(model.members_["family"].tolist()))
    ['forest', 'hard_labels', 'least_squares', 'logistic']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "families": [str, "array-like"],
        "representations": [str, "array-like", None],
        "n_landmarks": [Number(Integral, 1, None, closed="left")],
        "n_graph_rows": [Number(Integral, 2, None, closed="left")],
        "n_neighbors": [Number(Integral, 1, None, closed="left")],
        "alphas": ["array-like", None],
        "prior": [dict, None],
        "sharpness": [Number(Real, 0, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "unlabeled": "no_validation",
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    _fitted_array = "loo_proba_"

    def __init__(
        self,
        families: Any = ("least_squares", "forest", "logistic", "hard_labels"),
        *,
        representations: Any = None,
        n_landmarks: int = 300,
        n_graph_rows: int = 1200,
        n_neighbors: int = 7,
        alphas: Any = None,
        prior: Any = None,
        sharpness: float = 0.5,
        class_weight: Any = None,
        unlabeled: Any = -1,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: Any = 0,
    ) -> None:
        self.families = families
        self.representations = representations
        self.n_landmarks = n_landmarks
        self.n_graph_rows = n_graph_rows
        self.n_neighbors = n_neighbors
        self.alphas = alphas
        self.prior = prior
        self.sharpness = sharpness
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fitting ------------------------------------------------------------------------------

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> AveragedClassifier:
        """Fit the classifier to labeled and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            All rows. With Dask they are read once, and only the labeled ones are collected. With
            `array_api_dispatch`, tensors and other arrays stay on their device; the labeled rows
            and a sample of all rows are copied to the CPU.
        y : {array-like, Dask array or series} of shape (n_samples,)
            Their labels; a missing one is `unlabeled`, NaN, None or pd.NA.
        sample_weight : {array-like, Dask array or series} of shape (n_samples,), optional
            The weight of each row: 2 stands for a repeated row, 0 for none.
        groups : {array-like, Dask array or series} of shape (n_samples,), optional
            Groups of rows that are left out together when members are scored.

        Returns
        -------
        self : AveragedClassifier
            The fitted classifier.
        """
        with fitted_state_kept(self):
            families, representations = self._read_families(), self._read_representations()
            n_sample = max(one.n_rows for one in representations)
            progress = Progress(self)
            with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
                read = self._read_blocks if is_dask(X) else self._read_rows
                summary, later = read(X, y, sample_weight, groups, n_sample)
                progress.note(f"rows: {later.n_rows} read")
                scaling = Scaling.of(summary)
                if self.representations is None and not _graph_can_help(later.distinct, scaling):
                    representations = representations[:-N_GRAPHS]
                    progress.note("graph left out: neighbours do not share labels")
                known = self._known(summary) if self.warm_start else {}
                learned = _learn(representations, summary, scaling, progress, known)
                self._average(later, learned, families, progress)
            self.classes_ = place_of(y).put(self.classes_)
            progress.end()
            self._later = later
        self._warn_of_unscored()
        return self

    def _read_rows(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, n_sample: int
    ) -> tuple[Summary, _Later]:
        """Read rows in memory."""
        X = read_table(self, X)
        labels = read_labels(y, unlabeled=self.unlabeled, n_rows=X.shape[0])
        weight = read_weight(sample_weight, X)
        counts = labeled_weight(labels, weight, self.class_weight)
        groups = _read_groups(groups, labels)
        summary = summarize(X, weight, n_sample=n_sample)
        if not np.isfinite(summary.squares).all():
            explain_overflow(self, X)
        plain = np.ones(len(counts)) if weight is None else weight[labels.labeled]
        distinct = DistinctRows.of(on_host(X[labels.labeled]), labels, plain, counts, groups)
        return summary, _Later(X, labels, distinct)

    def _read_blocks(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, n_sample: int
    ) -> tuple[Summary, _Later]:
        """Read rows that Dask holds: one pass over X gives their summary and the labeled rows."""
        table = read_dask_blocks(self, X, y, sample_weight)
        if groups is not None:
            groups = split_column("groups", groups, table.sizes, len(table.x))
        bar = bool(self.verbose)
        summary, labeled = read_blocks(table, n_sample=n_sample, groups=groups, bar=bar)
        bad = ~np.isfinite(summary.squares)
        if bad.any():
            names = list(getattr(X, "columns", range(len(bad))))
            raise ValueError(
                f"X contains NaN, infinity or numbers whose squares overflow, first in column "
                f"{names[int(bad.argmax())]!r}; fill, drop or rescale such cells, for instance "
                "with sklearn.impute.SimpleImputer."
            )
        labels = Labels(labeled.rows, labeled.codes, table.classes, sum(table.sizes))
        given = None if labeled.groups is None else _codes(labeled.groups)
        distinct = DistinctRows.of(labeled.X, labels, labeled.count, labeled.weight, given)
        return summary, _Later(table, labels, distinct)

    def _average(
        self, later: _Later, learned: Learned, families: Sequence[Family], progress: Progress
    ) -> None:
        """Fit the families, calibrate and weigh their members, and set the fitted attributes."""
        distinct = later.distinct
        rows = distinct.rows(learned, self.n_jobs)
        n_numbers = ARRAYS * len(learned.representations) * len(STRENGTHS) * rows.n_rows
        check_memory(n_numbers * rows.n_classes, later.n_rows, rows.n_classes)
        families = usable(families, rows, self.prior or {})
        fitted = []
        for family in families:
            fitted.append(family.fit(rows))
            progress.note(f"family {family.name}: {len(fitted[-1].members)} members")
        priors = priors_of(families, fitted, self.prior or {})
        left_out = np.concatenate([one.left_out for one in fitted])
        scores = score_members(rows, left_out, priors, float(self.sharpness))
        names = [f.name for f, one in zip(families, fitted, strict=True) for _ in one.members]
        members = [member for one in fitted for member in one.members]
        self.classes_ = distinct.classes
        self.members_ = {
            "family": np.array(names),
            "representation": np.array([member.representation for member in members]),
            "setting": np.array([member.setting for member in members]),
            "log_loss": scores.losses,
            "accuracy": scores.accuracies,
            "slope": scores.calibration.slopes,
        }
        self._set_weights(learned, fitted, scores, rows, distinct, later.place)
        later.priors = priors

    def _set_weights(
        self,
        learned: Learned,
        fitted: Sequence[FittedFamily],
        scores: Scores,
        rows: LabeledRows,
        distinct: DistinctRows,
        place: Place,
    ) -> None:
        """Set the fitted attributes that depend on the weights of the members."""
        self.members_ = {**self.members_, "weight": scores.weights}
        self.average_ = Average.of(learned, fitted, scores.calibration, scores.weights)
        self.loo_indices_ = place.put(distinct.labeled)
        self.loo_proba_ = place.put(scores.proba[distinct.position])
        self.loo_score_ = float(
            np.average(scores.proba.argmax(axis=1) == rows.codes, weights=rows.weight)
        )

    def _least_squares(self) -> LeastSquares:
        if self.alphas is None:
            return LeastSquares()
        strengths = read_grid("alphas", self.alphas)
        if not (strengths > 0.0).all():
            raise ValueError(f"alphas={one_line(self.alphas)} must be positive numbers.")
        return LeastSquares(tuple(strengths.tolist()))

    def _read_families(self) -> list[Family]:
        """Return the families, made from their names if necessary."""
        given = [self.families] if isinstance(self.families, str) else list(self.families)
        found = []
        for one in given:
            if isinstance(one, str) and one in FAMILIES:
                found.append(FAMILIES[one](self))
            elif hasattr(one, "fit") and hasattr(one, "name"):
                found.append(one)
            else:
                raise ValueError(
                    f"families holds {one_line(one)}; use some of {list(FAMILIES)}, or objects "
                    "with a name and a method fit, as in semisquares.families.Family."
                )
        if not found:
            raise ValueError(f"families is empty; use some of {list(FAMILIES)}.")
        names = [one.name for one in found]
        if len(set(names)) < len(names):
            raise ValueError(f"families has members of the same name: {names}; give each its own.")
        if unknown := sorted(set(self.prior or {}) - set(names)):
            raise ValueError(f"prior names families {unknown} that are not among {names}.")
        masses: list[Any] = list((self.prior or {}).values())
        if not all(isinstance(m, int | float) and 0.0 <= m < np.inf for m in masses) or (
            masses and len(masses) == len(names) and not any(masses)
        ):
            raise ValueError(
                f"prior={one_line(self.prior)} must hold finite numbers, none of them negative and "
                "one of them positive."
            )
        return found

    def _read_representations(self) -> list[Representation]:
        """Return unfitted representations."""
        given = KINDS if self.representations is None else self.representations
        given = [given] if isinstance(given, str) else list(given)
        found: list[Representation] = []
        for one in given:
            if isinstance(one, Representation):
                found.append(clone(one))
            elif one == "linear":
                found += [LinearRepresentation(p) for p in (0, 1, 2)]
            elif one == "kernel":
                found += [KernelRepresentation(p, n_landmarks=self.n_landmarks) for p in (0, 1)]
            elif one == "graph":
                found += [
                    GraphRepresentation(
                        p, n_neighbors=self.n_neighbors, n_rows=self.n_graph_rows, sharp=sharp
                    )
                    for p, sharp in ((0, False), (1, False), (1, True))
                ]
            else:
                raise ValueError(
                    f"representations holds {one_line(one)}; use some of {list(KINDS)}, or "
                    "transformers from semisquares.representations."
                )
        if not found:
            raise ValueError(f"representations is empty; use some of {list(KINDS)}.")
        return list({one.name: one for one in found}.values())

    def _known(self, summary: Summary) -> dict[str, Any]:
        """Return the representations of the fit before, by their settings, if its rows are these.

        They are functions of the summary of all rows.
        """
        before = self.average_.learned if hasattr(self, "average_") else None
        if before is None or joblib.hash(before.summary) != joblib.hash(summary):
            return {}
        return {_settings(one): one for one in before.representations.values()}

    def _warn_of_unscored(self) -> None:
        labels = self._later.labels
        if not rows_to_test(labels.codes).any():
            warnings.warn(
                f"Each of the {len(labels.classes)} classes has a single labeled row, so that no "
                "member can be tested; all keep their prior weights: label more rows.",
                UserWarning,
                stacklevel=user_level(),
            )

    # -- predicting ---------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Any:
        """Return calibrated probabilities of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            Rows to predict. With Dask the result is lazy. With `array_api_dispatch` and an array
            of another library, it is an array of that library on the same device.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Each row sums to one.
        """
        place = self._place(X, "predict_proba")
        if is_dask(X):
            check_columns(self, X, reset=False)
            return lazily(self.average_.predict_proba, X, (len(self.classes_),))
        X = read_columns(self, X, dtype=np.float64, accept_sparse=True, reset=False)
        X = DeviceMatrix(X, place) if isinstance(place, Device) else X
        return place.put(self.average_.predict_proba(X, self.n_jobs))

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            Rows to predict. With Dask the result is lazy.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Log-probabilities of the classes.
        """
        place = self._place(X, "predict_log_proba")
        return place.put(np.log(place.get(self.predict_proba(X))))

    def decision_function(self, X: Any) -> Any:
        """Return the log-odds of the second class, or with more classes all log-probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array or frame} of shape (n_samples, n_features)
            Rows to predict. With Dask the result is lazy.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second class; with more than two classes one column for each.
        """
        self._place(X, "decision_function")
        scores = self.predict_log_proba(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    # -- attributes that are computed on first access ------------------------------------------

    @property
    def label_distributions_(self) -> Any:
        """The probabilities of every training row; labeled rows have their label."""
        return self._deferred("labels", lambda later: later.filled_in(self))[0]

    @property
    def transduction_(self) -> Any:
        """The class of every training row, given or predicted."""
        return self._deferred("labels", lambda later: later.filled_in(self))[1]

    @property
    def supervised_(self) -> AveragedClassifier:
        """The same classifier with representations learned from the labeled rows alone."""
        return self._deferred("supervised_", lambda later: later.supervised(self))

    @property
    def certificate_(self) -> float:
        """The largest relative duality gap of a least squares member."""
        return self._deferred("certificate_", lambda later: later.certificate(self))

    def _deferred(self, name: str, compute: Callable[[_Later], Any]) -> Any:
        """Return an attribute that is computed once; hide it while the estimator is displayed."""
        later = vars(self).get("_later")
        if later is None or _showing.get():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name not in later.known:
            later.known[name] = compute(later)
        return later.known[name]

    def _get_fitted_attr_html(self, *args: Any, **kwargs: Any) -> Any:
        with _shown():
            return super()._get_fitted_attr_html(*args, **kwargs)

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        if "_later" in state:
            state["_later"] = replace(state["_later"], table=None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        return tags

    def __sklearn_array_api_convert__(self, converter: Callable[[Any], Any]) -> AveragedClassifier:
        """Return this classifier with its arrays moved; what predicts is in NumPy everywhere."""
        found = copy(self)
        found._later = replace(self._later, table=None, known={})
        for name in ("loo_proba_", "loo_indices_", "classes_"):
            setattr(found, name, converter(getattr(self, name)))
        return found


@dataclass(eq=False)
class _Later:
    """Data for attributes that are computed on first access; the table itself is not pickled."""

    table: Any
    """All training rows: X, or its blocks if Dask holds it."""
    labels: Labels
    distinct: DistinctRows
    known: dict[str, Any] = field(default_factory=dict)
    priors: Array = field(default_factory=lambda: np.empty(0))
    """The prior weight of each member."""

    @property
    def place(self) -> Place:
        """Where the training rows are."""
        return self.table.device if isinstance(self.table, DeviceMatrix) else HOST

    @property
    def n_rows(self) -> int:
        return self.labels.n_rows

    def filled_in(self, model: AveragedClassifier) -> tuple[Any, Any]:
        """Return probabilities (0 and 1 for labeled rows) and classes of all training rows."""
        if self.table is None:
            raise AttributeError(
                "label_distributions_ and transduction_ need the training rows, which are not "
                "stored with a model; call predict_proba or predict with these rows."
            )
        if isinstance(self.table, DaskBlocks):
            return lazy_labels(self.table, model.average_.predict_proba)
        found = model.average_.predict_proba(self.table, model.n_jobs)
        labels = self.labels
        found[labels.labeled] = one_hot(labels.codes, len(labels.classes))
        classes = labels.classes[found.argmax(axis=1)]
        return self.place.put(found), self.place.put(classes)

    def certificate(self, model: AveragedClassifier) -> float:
        """Return the largest gap of the least squares members; NaN if there are none."""
        average = model.average_
        rows = self.distinct.rows(average.learned, None)
        gaps = [one.certificate(rows) for one in average.families if hasattr(one, "certificate")]
        return max(gaps, default=np.nan)

    def supervised(self, model: AveragedClassifier) -> AveragedClassifier:
        """Fit the same classifier to the labeled rows alone."""
        distinct = self.distinct
        y = distinct.classes[distinct.codes]
        alone = clone(model).set_params(unlabeled=None)
        place = place_of(model.loo_proba_) if self.table is None else self.place
        with config_context(array_api_dispatch=isinstance(place, Device)):
            X, y = place.put(distinct.X), place.put(y)
            alone.fit(X, y, sample_weight=distinct.count, groups=distinct.blocks)
        alone.set_params(unlabeled=model.unlabeled)
        if hasattr(model, "feature_names_in_"):
            alone.feature_names_in_ = model.feature_names_in_
        return alone


def _graph_can_help(distinct: DistinctRows, scaling: Scaling) -> bool:
    """Tell whether neighbouring labeled rows share their labels, in a sample of them."""
    some = slice(0, MOST_COMPARED)
    return any(
        neighbours_agree(
            scaling.apply(distinct.X[some], power),
            distinct.codes[some],
            distinct.weight[some],
            distinct.blocks[some],
        )
        for power in (0, 1)
    )


def _learn(
    representations: list[Representation],
    summary: Summary,
    scaling: Scaling,
    progress: Progress,
    known: Mapping[str, Any],
) -> Learned:
    """Fit the representations to the summary of all rows; take over those that are `known`."""
    found: dict[str, Representation] = {}
    for one in representations:
        if before := known.get(_settings(one)):
            found[one.name] = before
            continue
        same = [
            other for other in found.values()
            if isinstance(one, GraphRepresentation) and one.shares_graph_with(other)
        ]  # fmt: skip
        if same:
            one.adopt(same[0])
        else:
            one.fit_summary(summary, scaling)
        found[one.name] = one
        progress.note(f"representation {one.name}")
    return Learned(scaling, found)


def _settings(representation: Any) -> str:
    """Return a hash of the class and the parameters of a representation, fitted or not."""
    return str(joblib.hash(clone(representation)))


def _read_groups(groups: Any, labels: Labels) -> Array | None:
    """Return the groups of the labeled rows."""
    if groups is None:
        return None
    given = np.asarray(to_numpy(groups))
    if given.shape != (labels.n_rows,):
        raise ValueError(
            f"groups has shape {given.shape} but X has {labels.n_rows} rows; give groups one value "
            "per row of X."
        )
    return _codes(given[labels.labeled])


def _codes(groups: Array) -> Array:
    """Number the groups from 0; objects are compared as text."""
    groups = groups.astype(str) if groups.dtype.kind == "O" else groups
    return np.unique(groups, return_inverse=True)[1]


@contextmanager
def _shown() -> Iterator[None]:
    """Hide attributes that are computed on first access: displaying a model computes nothing."""
    token = _showing.set(True)
    try:
        yield
    finally:
        _showing.reset(token)
