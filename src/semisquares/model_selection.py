"""Cross-validation for tables in which few rows have labels.

Every splitter here runs a scikit-learn splitter on the labeled rows alone. So test rows are always
labeled, and every unlabeled row is in every training set (unless its group is being tested).
Stratified splitters never test a class with a single labeled row: it is in every training set, and
a warning names it. With groups, the same holds for a class whose labeled rows are all in one group,
and for the rows of that group.

Training sets are ordered for ``learning_curve``, which trains on their first rows: first the
labeled rows, one of each class and then all classes in proportion; then the unlabeled rows; both
spread evenly over the table. So ``train_sizes`` up to the number of labeled rows add labels, and
larger ones add unlabeled rows to all the labels. (Its ``shuffle=True`` undoes this order.)

Some limits of scikit-learn remain: ``cross_val_predict`` requires that every row is tested once; in
*train* scores, "accuracy" and other scorers treat -1 as a class and fail with NaN; and they refuse
numbers in object arrays. The default scorer, the classifier's own ``score``, has no such limits if
it ignores unlabeled rows.
"""

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection as sk
from sklearn.model_selection._split import GroupsConsumerMixin  # marks splitters that read groups
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_consistent_length

from ._inputs.labels import labeled_mask, user_level
from ._inputs.untested import describe_untested, rows_to_test

_STRATIFIED = (
    sk.RepeatedStratifiedKFold,
    sk.StratifiedGroupKFold,
    sk.StratifiedKFold,
    sk.StratifiedShuffleSplit,
)


class LabeledTestSplit(sk.BaseCrossValidator):
    """Turn any scikit-learn splitter into one that tests on labeled rows only.

    Parameters
    ----------
    cv : int or splitter, default=5
        A splitter, or the number of folds of a ``StratifiedKFold``. It gets the number of labeled
        rows, their classes and their groups, but not X (so ``PredefinedSplit`` needs the folds of
        the labeled rows). If it is a group splitter, unlabeled rows that share a group with a test
        row are left out of that training set.
    unlabeled : object, default=-1
        Value of y that marks an unlabeled row, besides NaN, None and pd.NA; None for no such value.

    Examples
    --------
    >>> from sklearn.model_selection import LeaveOneOut
    >>> from semisquares.model_selection import LabeledTestSplit
    >>> y = ["cat", None, "dog", None, "cat"]
    >>> for train, test in LabeledTestSplit(LeaveOneOut()).split(None, y):
    ...     print(sorted(train.tolist()), test)
    [1, 2, 3, 4] [0]
    [0, 1, 3, 4] [2]
    [0, 1, 2, 3] [4]
    """

    def __init__(self, cv: Any = 5, *, unlabeled: Any = -1) -> None:
        self.cv = sk.StratifiedKFold(cv) if isinstance(cv, Integral) else cv
        self.unlabeled = unlabeled
        if not hasattr(self.cv, "get_n_splits"):  # a str has a method `split`, too
            raise ValueError(f"cv={cv!r} is not a splitter; pass a number of folds or a splitter.")

    def get_metadata_routing(self) -> Any:
        """Request the metadata that the wrapped splitter requests."""
        return get_routing_for_object(self.cv)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, which for some splitters depends on y and groups."""
        if y is None:
            return int(self.cv.get_n_splits())
        labeled = labeled_mask(y, self.unlabeled)
        groups = None if groups is None else np.asarray(groups)[labeled]
        return int(self.cv.get_n_splits(np.zeros(labeled.sum()), groups=groups))

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the row numbers of each training set (labeled rows first) and of its test set.

        Parameters
        ----------
        X : array-like with one row per label, or None
            Only its length is read.
        y : array-like of shape (n_samples,)
            Their labels; a missing one is ``unlabeled``, NaN, None or pd.NA.
        groups : array-like of shape (n_samples,), optional
            Needed by group splitters.
        """
        values = _as_labels(y)
        check_consistent_length(X, values, groups)
        is_labeled = labeled_mask(y, self.unlabeled)
        labeled, rest = np.flatnonzero(is_labeled), np.flatnonzero(~is_labeled)
        if not labeled.size:
            raise ValueError(
                f"None of the {len(values)} rows of y is labeled (each is missing or equals "
                f"unlabeled={self.unlabeled!r}), but only labeled rows can be tested; label some."
            )
        rest = rest[_spread(rest.size)]
        classes, codes = _encode(values[labeled])
        group_of = None if groups is None else _encode(np.asarray(groups))[1]
        groups_of_labeled = None if group_of is None else group_of[labeled]
        for train, test in self._split_testable(classes, codes, groups_of_labeled):
            kept = rest
            if group_of is not None and isinstance(self.cv, GroupsConsumerMixin):
                kept = rest[~np.isin(group_of[rest], group_of[labeled[test]])]
            train = train[_stratified_order(codes[train])]
            yield np.concatenate([labeled[train], kept]), np.sort(labeled[test])

    def _split_testable(
        self, classes: list[Any], codes: NDArray[np.intp], groups: NDArray[np.intp] | None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Split the labeled rows; those that cannot be tested are in every training set."""
        if not isinstance(self.cv, _STRATIFIED):
            yield from self._split_labeled(classes, codes, groups)
            return
        grouped = groups is not None and isinstance(self.cv, GroupsConsumerMixin)
        mask = rows_to_test(codes, groups if grouped else None)
        tested, held = np.flatnonzero(mask), np.flatnonzero(~mask)
        names = [classes[k] for k in np.setdiff1d(codes, codes[tested])]
        if names:
            text = describe_untested(names, grouped=grouped)
            if not len(tested):
                raise ValueError(f"No labeled row can be tested: {text[0].lower()}{text[1:]}")
            warnings.warn(text, UserWarning, stacklevel=user_level())
        groups = None if groups is None else groups[tested]
        for train, test in self._split_labeled(classes, codes[tested], groups):
            yield np.concatenate((tested[train], held)), tested[test]

    def _split_labeled(
        self, classes: list[Any], codes: NDArray[np.intp], groups: NDArray[np.intp] | None
    ) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Split the labeled rows; errors and warnings are about labeled rows."""
        present, counts = np.unique(codes, return_counts=True)
        rarest, count = classes[int(present[counts.argmin()])], int(counts.min())
        if groups is None and isinstance(self.cv, GroupsConsumerMixin):
            raise ValueError(
                f"{type(self).__name__} keeps groups together but was given none; "
                "pass groups= with one group per row."
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                # codes instead of labels, because scikit-learn refuses object arrays of numbers
                splits = list(self.cv.split(np.zeros(codes.size), codes, groups))
            except ValueError as error:
                raise ValueError(
                    f"The {codes.size} labeled rows (rarest class: {rarest!r}, {count} rows) do "
                    f"not suit {type(self).__name__}: {error} Lower n_splits or label more rows."
                ) from error
        for text, category in dict.fromkeys((str(w.message), w.category) for w in caught):
            if text.startswith("The least populated class"):
                text = (
                    f"Class {rarest!r} has {count} labeled rows, fewer than n_splits, so some test "
                    f"sets have none of it; set n_splits={count} or label more rows of it."
                )
            warnings.warn(text, category, stacklevel=user_level())
        return splits


class LabeledStratifiedKFold(LabeledTestSplit):
    """Cut the labeled rows into test folds with equal shares of the classes.

    Parameters
    ----------
    n_splits, shuffle, random_state
        As in :class:`sklearn.model_selection.StratifiedKFold`.
    unlabeled : object, default=-1
        As in :class:`LabeledTestSplit`.

    Examples
    --------
    >>> from semisquares.model_selection import LabeledStratifiedKFold
    >>> for train, test in LabeledStratifiedKFold(n_splits=2).split(None, [0, -1, 1, -1, 1, 0]):
    ...     print(sorted(train.tolist()), test)
    [1, 3, 4, 5] [0 2]
    [0, 1, 2, 3] [4 5]
    """

    _folds: ClassVar[Any] = sk.StratifiedKFold

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        unlabeled: Any = -1,
    ) -> None:
        self.n_splits, self.shuffle, self.random_state = n_splits, shuffle, random_state
        folds = self._folds(n_splits, shuffle=shuffle, random_state=random_state)
        super().__init__(folds, unlabeled=unlabeled)


class LabeledStratifiedGroupKFold(LabeledStratifiedKFold):
    """Cut the labeled rows into test folds that keep groups whole and classes in proportion.

    Unlabeled rows that share a group with a test row are left out of that split; all others are in
    training, also those of groups without any labeled row.

    Parameters
    ----------
    n_splits, shuffle, random_state
        As in :class:`sklearn.model_selection.StratifiedGroupKFold`.
    unlabeled : object, default=-1
        As in :class:`LabeledTestSplit`.

    Examples
    --------
    >>> from semisquares.model_selection import LabeledStratifiedGroupKFold
    >>> y, groups = [0, 1, -1, 0, 1, -1, -1], ["a", "a", "a", "b", "b", "b", "c"]
    >>> for train, test in LabeledStratifiedGroupKFold(n_splits=2).split(None, y, groups):
    ...     print(sorted(train.tolist()), test)
    [3, 4, 5, 6] [0 1]
    [0, 1, 2, 6] [3 4]
    """

    _folds = sk.StratifiedGroupKFold


class LabeledRepeatedStratifiedKFold(LabeledTestSplit):
    """Repeat :class:`LabeledStratifiedKFold`, shuffled anew each time.

    Parameters
    ----------
    n_splits, n_repeats, random_state
        As in :class:`sklearn.model_selection.RepeatedStratifiedKFold`.
    unlabeled : object, default=-1
        As in :class:`LabeledTestSplit`.

    Examples
    --------
    >>> from semisquares.model_selection import LabeledRepeatedStratifiedKFold
    >>> LabeledRepeatedStratifiedKFold(n_splits=2, n_repeats=3).get_n_splits()
    6
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        n_repeats: int = 10,
        random_state: Any = None,
        unlabeled: Any = -1,
    ) -> None:
        self.n_splits, self.n_repeats, self.random_state = n_splits, n_repeats, random_state
        folds = sk.RepeatedStratifiedKFold(
            n_splits=n_splits, n_repeats=n_repeats, random_state=random_state
        )
        super().__init__(folds, unlabeled=unlabeled)


class LabeledStratifiedShuffleSplit(LabeledTestSplit):
    """Draw labeled test rows at random, with the classes in proportion.

    Parameters
    ----------
    n_splits, test_size, train_size, random_state
        As in :class:`sklearn.model_selection.StratifiedShuffleSplit`. Sizes are of labeled rows:
        with ``train_size=20`` a training set has 20 of them, and all unlabeled rows.
    unlabeled : object, default=-1
        As in :class:`LabeledTestSplit`.

    Examples
    --------
    >>> from semisquares.model_selection import LabeledStratifiedShuffleSplit
    >>> cv = LabeledStratifiedShuffleSplit(n_splits=1, test_size=2, random_state=0)
    >>> [(len(train), len(test)) for train, test in cv.split(None, [0, -1, 1, -1, 1, 0])]
    [(4, 2)]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: Any = None,
        unlabeled: Any = -1,
    ) -> None:
        self.n_splits, self.random_state = n_splits, random_state
        self.test_size, self.train_size = test_size, train_size
        draws = sk.StratifiedShuffleSplit(
            n_splits, test_size=test_size, train_size=train_size, random_state=random_state
        )
        super().__init__(draws, unlabeled=unlabeled)


def _as_labels(y: Any) -> NDArray[Any]:
    """Return y as a one-dimensional array in which a missing label is still missing."""
    # without dtype=object, ["a", nan] would become ["a", "nan"]
    values = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)
    if values.ndim != 1:
        given = "no y" if y is None else f"y of shape {values.shape}"
        raise ValueError(f"Got {given}, but a split needs one label per row; pass y as one column.")
    return values


def _encode(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct values and, for every row, the index of its value among them."""
    try:
        distinct, codes = np.unique(values, return_inverse=True)
    except TypeError:  # values without an order, such as 1 and "a"
        index: dict[Any, int] = {}
        codes = np.array([index.setdefault(v, len(index)) for v in values], dtype=np.intp)
        return list(index), codes
    return distinct.tolist(), codes


def _spread(n: int) -> NDArray[np.intp]:
    """Order 0 … n-1 so that the first m numbers are evenly spread, for every m."""
    golden = 0.6180339887498949  # its multiples modulo 1 are never close to each other
    return np.argsort(np.arange(n) * golden % 1.0)


def _stratified_order(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order rows so that one row of each class comes first, then all classes in proportion."""
    order = _spread(codes.size)
    codes = codes[order]
    counts = np.bincount(codes)
    by_class = np.argsort(codes, kind="stable")
    rank = np.empty(codes.size)
    rank[by_class] = np.arange(codes.size) - (np.cumsum(counts) - counts)[codes[by_class]]
    return order[np.argsort(rank / counts[codes], kind="stable")]
