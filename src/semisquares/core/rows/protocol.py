"""The interface between solvers and rows: every sum over rows that a solver may request.

Notation: x is a row of X followed by a 1 for the intercept (if there is one), a its weight,
z = x'w its decision value and t its known or imputed label. Matrices of weights and decision
values have a column per class if there are more than two. Sums are float64 arrays.

Values of all rows (decision values, pieces, labels) are arrays in memory. Rows that are held
elsewhere return handles in their place; a solver only passes them back to the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from numpy.random import Generator

from ..._utils.typing import Array
from ..labelings import ConvexLabeling, Labeling

if TYPE_CHECKING:
    from .memory import MemoryRows

PerRowValues = Any
"""An array with a value for each row, or a handle to one."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """The result of one pass over the rows at weights w, with a convex labeling."""

    w: Array
    z: PerRowValues
    """Decision values."""
    piece: PerRowValues
    """The piece of the labeling that each row is on (`ConvexLabeling.piece`)."""
    loss: float
    """Σ a ‖z - t‖²."""
    gradient: Array
    """Σ a x (z - t): half the gradient of the loss."""
    changed: int
    """Rows whose piece differs from the predicted one; all rows if there is no prediction."""
    squares: float
    """An upper bound of Σ a ‖x‖², the scale of rounding errors."""


@dataclass(frozen=True, eq=False)
class BoundaryRows:
    """Unlabeled rows that a Newton step may carry across a border."""

    rows: MemoryRows
    """Just these rows."""
    z: Array
    """Their decision values."""
    piece: Array
    index: Any
    """Where they are among all rows: only the rows that they are from read it."""


@dataclass(frozen=True, eq=False)
class Relabeling:
    """The result of one pass over the rows that imputes their labels anew."""

    labels: PerRowValues
    """The new labels (those of labeled rows are not used)."""
    moment: Array
    """Σ a x t: the right-hand side of the next fit."""
    loss_before: Array
    """Σ a (‖z - t‖² + penalty(t)) with the old labels, one value per run."""
    loss: Array
    """The same with the new labels."""
    changed: Array
    """Unlabeled rows whose label changed, one count per run."""


class RowSums(Protocol):
    """Labeled and unlabeled rows, seen through sums over them.

    Solvers and certificates use nothing else, except those that need single rows: see `in_memory`.
    """

    # -- sizes and weights --------------------------------------------------------------------

    n_features: int
    intercept: bool
    n_weights: int
    """n_features, plus 1 for an intercept."""
    n_rows: int

    @property
    def n_unlabeled(self) -> int: ...

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """(n_weights,), or (n_weights, K) with K > 2 classes."""

    @property
    def unlabeled_weight(self) -> float:
        """A factor in the weight a of every unlabeled row."""

    @property
    def labeled_total(self) -> float:
        """Σ a over the labeled rows."""

    @property
    def total_weight(self) -> float:
        """Σ a over all rows."""

    @property
    def heaviest(self) -> float:
        """An upper bound of every a."""

    @property
    def constant_loss(self) -> float:
        """Σ a ‖y - c‖² over the labeled rows; c is their mean, 0 without an intercept."""

    # -- how the sums are computed ------------------------------------------------------------

    @property
    def shift(self) -> Array | None:
        """Subtracted from every row of X before it is summed; None for 0."""

    @property
    def gram_columns(self) -> float:
        """Above this number of columns, products with X are cheaper than a Gram matrix."""

    @property
    def longest_sum(self) -> int:
        """The largest number of consecutive additions in a sum over rows, which bounds rounding."""

    @property
    def most_sampled(self) -> int:
        """The most unlabeled rows that `sample` should be called with."""

    @property
    def passes(self) -> tuple[Any, ...]:
        """A record of every pass over X, if passes are recorded."""

    @property
    def in_memory(self) -> MemoryRows | None:
        """The rows themselves, if this process can access them one by one; else None."""

    # -- the same rows, changed ---------------------------------------------------------------

    def reweighted(self, *, unlabeled_weight: float) -> RowSums:
        """Return the same rows with another weight of the unlabeled ones."""

    def sample(self, n_unlabeled: int, rng: Generator) -> RowSums:
        """Return the labeled rows and a sample of the others, weighted to represent them all."""

    # -- labeled rows -------------------------------------------------------------------------

    @property
    def labeled_gram(self) -> Array:
        """Σ a x x' over the labeled rows."""

    @property
    def labeled_moment(self) -> Array:
        """Σ a x y over the labeled rows."""

    def labeled_product(self, V: Array) -> Array:
        """Return Σ a x (x'V) over the labeled rows."""

    def labeled_loss(self, w: Array) -> float:
        """Return Σ a ‖z - y‖² over the labeled rows."""

    # -- all rows -----------------------------------------------------------------------------

    @property
    def full_gram(self) -> Array:
        """Σ a x x'."""

    @property
    def diagonal(self) -> Array:
        """The diagonal of Σ a x x'."""

    @property
    def n_nonzero(self) -> Array:
        """The number of nonzero entries of each column, over rows with a > 0."""

    def full_product(self, V: Array) -> Array:
        """Return Σ a x (x'V)."""

    def decisions(self, w: Array) -> PerRowValues:
        """Return z = x'w."""

    # -- convex labelings ---------------------------------------------------------------------

    def sweep(
        self, w: Array, labeling: ConvexLabeling, predicted: PerRowValues | None = None
    ) -> Sweep:
        """Pass over the rows at w; count the rows whose piece differs from the predicted one."""

    def active_gram(
        self, piece: PerRowValues, since: tuple[PerRowValues, Array] | None = None
    ) -> Array:
        """Return Σ (a / unlabeled_weight) x x' over the unlabeled rows with piece ≠ 0.

        `since` is an earlier piece and its result, from which the new one may be updated.
        """

    def curvature_product(self, V: Array, piece: PerRowValues, labeling: ConvexLabeling) -> Array:
        """Return Σ a x curve(piece, x'V): the curvature of the loss, times V."""

    def outside_grams(self, support: PerRowValues) -> Array:
        """Return, for each class, Σ a (1 + 1/s) x x' over the rows with the class outside S.

        S is the support of a row's label on the simplex, and s its size. The labeled rows have the
        weight a in every class. In directions that sum to 0 over the classes, this is the whole
        curvature of a row with one class outside S, and nearly all of it with more.
        """

    def outside_sums(self, z: PerRowValues, support: PerRowValues) -> tuple[Array, Array, Array]:
        """Return sums over the unlabeled rows and the classes outside S, with b = a (1 + 1/s).

        They are Σ b x x' over all pairs of a row and a class; Σ b for each class; and Σ b x z for
        each class, where z is the decision value of that class. They may be estimated by some of
        the rows.
        """

    def n_outside(self, support: PerRowValues) -> int:
        """Count pairs of a row and a class outside the support of its label."""

    def slope(
        self, first: PerRowValues, second: PerRowValues, t: float, labeling: Labeling
    ) -> float:
        """Return half the derivative of the loss in t at z = (1-t) first + t second."""

    def boundary_rows(
        self, sweep: Sweep, decrease: float, labeling: ConvexLabeling
    ) -> BoundaryRows | None:
        """Return unlabeled rows that a Newton step may carry across a border.

        `decrease` is how much the step lowers J. None if tracking these rows separately does not
        pay.
        """

    def with_pieces(
        self, piece: PerRowValues, boundary: BoundaryRows, moved: Array
    ) -> PerRowValues:
        """Return the pieces of all rows, with those of the boundary rows replaced by `moved`."""

    def dual_step(
        self, step: Array, piece: PerRowValues, labeling: ConvexLabeling, everywhere: bool
    ) -> tuple[PerRowValues, Array, float]:
        """Return V = x'step, Σ a x V and Σ a ‖V‖².

        Unless `everywhere`, V is replaced by curve(piece, V).
        """

    def dual_overshoot(
        self,
        z: PerRowValues,
        piece: PerRowValues,
        V: PerRowValues,
        left: float,
        labeling: ConvexLabeling,
        everywhere: bool,
    ) -> float:
        """Bound the cost, beyond its square, of correcting the residuals z - t by -V.

        `left` bounds the error of each value of V, times √a.
        """

    # -- imputed labels -----------------------------------------------------------------------

    def imputed(self, z: PerRowValues, labeling: Labeling) -> PerRowValues:
        """Return impute(z)."""

    def loss(self, z: PerRowValues, labeling: Labeling) -> float:
        """Return Σ a ‖z - t‖²."""

    def moment(self, labels: PerRowValues) -> Array:
        """Return Σ a x t, with the labels given for the unlabeled rows."""

    def relabel(
        self,
        w: Array,
        labels: PerRowValues,
        moment: Array,
        labeling: Labeling,
        *,
        before: bool = True,
    ) -> Relabeling:
        """Impute the labels at w, given the old labels and their moment.

        Without `before`, the loss with the old labels is left at 0.
        """

    def class_counts(self, labels: PerRowValues) -> Array:
        """Count the unlabeled rows of each class, given decision values or labels."""

    def read_labels(self, labels: Any) -> PerRowValues:
        """Return labels to start from in the form that `moment` and `relabel` take."""

    def classes_of(self, labels: PerRowValues) -> PerRowValues:
        """Return the class index of every row; labeled rows keep their class."""

    def labels_of(self, classes: PerRowValues) -> PerRowValues:
        """Return the hard labels of class indices: 0 and 1, or one-hot."""
