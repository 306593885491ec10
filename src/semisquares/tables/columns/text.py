"""Free text: weighted counts of character n-grams, reduced by a singular value decomposition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..._utils.typing import Array
from ._cells import factorize_texts, level_of
from ._counts import ValueCounts
from ._moments import scales_of
from ._protocol import Column, ColumnType, Encoder, Feature, Profile, missing_flag, typical_flags
from .excluded import unless_constant

if TYPE_CHECKING:
    from scipy.sparse import csr_array

N_BUCKETS = 1 << 12
"""N-grams are hashed to this many numbers; a power of two."""
N_COMPONENTS = 10
"""The most features of a column; a model file holds 8 bytes for each of them and bucket, 0.3 MB."""
ROUNDING_UNIT = 2.0**-24
"""Features are rounded to multiples of this. The last bits of a decomposition depend on the
processor, and rows that are drawn by a hash of their content must not depend on them."""
N_SAMPLE = 1 << 13
"""Different texts from which the decomposition is learned; of more, those with small hashes."""
LENGTHS = (3, 4)
"""The lengths of n-grams; the shortest word with the blanks around it has three characters."""
_BATCH = 1 << 20
"""Characters of which n-grams are hashed at once."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_BLANK = ord(" ")


# -- n-grams --------------------------------------------------------------------------------------


def count_ngrams(texts: Iterable[str], n_buckets: int = N_BUCKETS) -> csr_array:
    """Count the character n-grams of each text in buckets, to which a hash assigns them.

    N-grams are those of ``HashingVectorizer(analyzer="char_wb", ngram_range=(3, 4))``: 3 or 4
    characters of a lower-case word with a blank before and after it. Only the hash function
    differs. It works on arrays, and predictions do not need scikit-learn.

    Returns
    -------
    (n_texts, n_buckets) sparse array of float64

    Examples
    --------
    >>> count_ngrams(["to be", "Be to", "bee"], 64).toarray().sum(axis=1).tolist()
    [6.0, 6.0, 5.0]
    """
    from scipy.sparse import csr_array

    padded = [f" {' '.join(text.lower().split())} " for text in texts]
    lengths = np.array([len(text) for text in padded], dtype=np.int64)
    chars = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    rows = np.repeat(np.arange(len(padded)), lengths)
    shift = np.uint64(64 - int(n_buckets).bit_length() + 1)
    found_rows, found_buckets = [], []
    for length in LENGTHS:
        starts = _starts(chars, rows, length)
        hashes = np.full(len(starts), length, dtype=np.uint64)
        for k in range(length):
            hashes = _mix(hashes + chars[starts + k])
        found_rows.append(rows[starts])
        found_buckets.append((hashes >> shift).astype(np.int64))
    places = np.concatenate(found_rows), np.concatenate(found_buckets)
    counts = csr_array((np.ones(len(places[0])), places), shape=(len(padded), n_buckets))
    counts.sum_duplicates()
    return counts


def _starts(chars: Array, rows: Array, length: int) -> Array:
    """Return where n-grams start: within a text, with blanks at the ends only."""
    n = max(0, len(chars) - length + 1)
    valid = rows[:n] == rows[len(rows) - n :]
    blank = chars == _BLANK
    for k in range(1, length - 1):
        valid &= ~blank[k : k + n]
    return np.flatnonzero(valid)


def _mix(hashes: Array) -> Array:
    """Spread the bits of 64-bit numbers, modulo 2^64."""
    hashes = (hashes ^ (hashes >> np.uint64(32))) * _FACTOR
    return hashes ^ (hashes >> np.uint64(29))


def _batches(texts: Array) -> Iterator[slice]:
    """Cut texts into pieces of about a million characters, so that memory stays bounded."""
    ends = np.cumsum([len(text) for text in texts])
    cuts = np.flatnonzero(np.diff(ends // _BATCH)) + 1
    bounds = [0, *cuts.tolist(), len(texts)]
    for start, stop in pairwise(bounds):
        if start < stop:
            yield slice(start, stop)


def weigh(counts: csr_array, idf: Array) -> csr_array:
    """Return tf-idf: damped counts times the weights of the buckets, in rows of length 1."""
    counts = counts.copy()
    counts.data = (1.0 + np.log(counts.data)) * idf[counts.indices]
    squares = np.add.reduceat(np.square(counts.data), counts.indptr[:-1])
    counts.data /= np.repeat(np.sqrt(squares), np.diff(counts.indptr))
    return counts


# -- statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TextCounts:
    """What a decomposition of all rows needs to know; exact whole numbers, merged chunk by chunk.

    Texts are needed here only: the fitted encoder holds none of them.
    """

    n_filled: int
    n_rows_with: Array
    """The number of rows in which each bucket of n-grams occurs."""
    sample: ValueCounts
    """Different texts and how many rows have each; of many texts, those with the least hashes."""

    @classmethod
    def of(cls, codes: Array, texts: Array) -> TextCounts:
        """Count cells that are given as codes into different texts, -1 if missing.

        Examples
        --------
        >>> import numpy as np
        >>> counts = TextCounts.of(np.array([0, 1, -1, 0]), np.array(["to be", "or"], dtype=object))
        >>> counts.n_filled, int(counts.n_rows_with.max())
        (3, 2)
        """
        sample = ValueCounts.of(codes, texts, most=N_SAMPLE)
        used = sample.values
        n_rows_with = np.zeros(N_BUCKETS, dtype=np.int64)
        for batch in _batches(used):
            ngrams = count_ngrams(used[batch])
            rows = np.repeat(sample.counts[batch], np.diff(ngrams.indptr))
            np.add.at(n_rows_with, ngrams.indices, rows)
        return cls(int(np.count_nonzero(codes >= 0)), n_rows_with, sample.trimmed())

    def merge(self, other: TextCounts) -> TextCounts:
        """Return the counts of both chunks."""
        return TextCounts(
            self.n_filled + other.n_filled,
            self.n_rows_with + other.n_rows_with,
            self.sample.merge(other.sample),
        )

    @property
    def idf(self) -> Array:
        """The weight of each bucket, the smaller the more rows have it (as in scikit-learn)."""
        return 1.0 + np.log((1.0 + self.n_filled) / (1.0 + self.n_rows_with))


# -- the decomposition ----------------------------------------------------------------------------


def learn_components(counts: TextCounts) -> tuple[Array, Array, Array]:
    """Decompose the weighted n-gram counts of the sample, each text as often as rows have it.

    The texts are sorted. So the result does not depend on the order of the rows or on how they are
    cut into chunks, not even by rounding.

    Returns
    -------
    directions : (n_buckets, n_components) ndarray
        Scaled so that the features of all rows together have variance 1, like one number.
    means, deviations : (n_components,) ndarrays
        Of the features, over all rows of the sample.
    """
    texts, n_times = counts.sample.sorted
    weighted = weigh(count_ngrams(texts), counts.idf)
    vectors = _right_singular_vectors(weighted, np.sqrt(n_times))
    features = weighted @ vectors
    means = np.average(features, axis=0, weights=n_times)
    variances = np.average(np.square(features - means), axis=0, weights=n_times)
    varying = variances > 1e-12 * np.square(features).max()
    scale = np.sqrt(variances[varying].sum())
    deviations = np.sqrt(variances[varying])
    return vectors[:, varying] / scale, means[varying] / scale, deviations / scale


def _right_singular_vectors(rows: csr_array, weights: Array) -> Array:
    """Return the leading right singular vectors of weighted rows, as columns.

    The largest entry of each is positive.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import svds

    rows = diags_array(weights) @ rows
    used = np.unique(rows.indices)
    rows = rows[:, used]
    least = min(rows.shape)
    if least <= 4 * N_COMPONENTS:  # small enough for all of them
        _, values, found = np.linalg.svd(rows.toarray(), full_matrices=False)
    else:
        _, values, found = svds(rows, N_COMPONENTS, v0=np.ones(least), return_singular_vectors="vh")
        order = np.argsort(-values)
        values, found = values[order], found[order]
    found = found[:N_COMPONENTS][values[:N_COMPONENTS] > 1e-8 * values[0]]
    peaks = found[np.arange(len(found)), np.abs(found).argmax(axis=1)]
    vectors = np.zeros((N_BUCKETS, len(found)))
    vectors[used] = (found * np.sign(peaks)[:, None]).T
    return vectors


# -- the encoder ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TextEncoder(Encoder):
    """Weighs n-grams and projects them; missing cells get the mean, and a flag if `fit` saw any."""

    columns: tuple[str, ...]
    widths: tuple[int, ...]
    """Components of each column."""
    missing: Array
    """The positions of the columns with a flag."""
    gaps: Array
    """The share of missing cells in these columns."""
    idf: Array
    """(n_columns, n_buckets)."""
    directions: Array
    """(n_buckets, sum of widths); those of all columns side by side."""
    means: Array
    deviations: Array

    def describe(self) -> list[Feature]:
        """Describe the components of each column in turn, then the flags."""
        widths = zip(self.columns, self.widths, strict=True)
        names = [(name, k) for name, width in widths for k in range(1, width + 1)]
        found = [
            Feature(f"{name}, text {k}", name, 1.0 / deviation, "per standard deviation", "text")
            for (name, k), deviation in zip(names, self.deviations.tolist(), strict=True)
        ]
        flags = zip(self.missing.tolist(), self._flag_scales.tolist(), strict=True)
        return found + [missing_flag(self.columns[place], scale) for place, scale in flags]

    @property
    def _flag_scales(self) -> Array:
        return scales_of(self.gaps, self.gaps * (1.0 - self.gaps))

    def encode(self, cells: pd.DataFrame, out: Array) -> None:
        """Project the different texts of each column, write the rows, then the flags."""
        start = 0
        for place, (name, width) in enumerate(zip(self.columns, self.widths, strict=True)):
            stop = start + width
            texts = np.asarray(cells[name].cat.categories, dtype=object)
            rows = self._project(place, texts, slice(start, stop))
            out[:, start:stop] = rows[cells[name].cat.codes]
            start = stop
        for k, place in enumerate(self.missing.tolist()):
            out[:, start + k] = cells[self.columns[place]].cat.codes < 0
        out[:, start:] = (out[:, start:] - self.gaps) / self._flag_scales

    def _project(self, place: int, texts: Array, features: slice) -> Array:
        """Return the features of texts, and at the end those of a missing cell: 0."""
        directions = np.ascontiguousarray(self.directions[:, features])
        found = np.zeros((len(texts) + 1, directions.shape[1]))
        for batch in _batches(texts):
            weighted = weigh(count_ngrams(texts[batch]), self.idf[place])
            found[batch] = weighted @ directions - self.means[features]
        return np.round(found / ROUNDING_UNIT) * ROUNDING_UNIT

    def typical(self, statistics: Mapping[str, TextCounts], n_rows: int) -> Array:
        """Return the mean of each component, which is 0."""
        flags = (typical_flags(self.gaps) - self.gaps) / self._flag_scales
        return np.append(np.zeros(len(self.means)), flags)

    def made_up_cells(self, place: int, rng: np.random.Generator) -> Array:
        """Return made-up words and a missing cell."""
        letters = np.array(list("aeinrst "))
        words = ["x" + "".join(letters[rng.integers(0, 8, 20)]) for _ in range(79)]
        return np.array([*words, None], dtype=object)


# -- the column type ------------------------------------------------------------------------------


class TextType(ColumnType):
    """Free text, encoded as the leading components of its n-grams, scaled together."""

    name = "text"
    plural = title = "texts"
    takes_the_rest = True
    encoder = TextEncoder

    def infer(self, profile: Profile, name: str, *, requested: bool) -> Column:
        """Accept all text, but leave out codes that hardly repeat."""
        column = unless_constant(profile.describe(name, self.name), profile.n_rows)
        numbers = profile.evidence.get("number")
        if requested or not column.used or not getattr(numbers, "are_codes", False):
            return column
        n_distinct, n_filled = column.n_distinct, profile.n_filled
        reason = f"codes with leading zeros, {n_distinct:,} different in {n_filled:,}"
        return replace(column, kind="id", reason=reason)

    def clean(self, values: pd.Series, column: Column) -> pd.Categorical:
        """Return the different texts and the code of each cell, -1 if missing."""
        return pd.Categorical.from_codes(*factorize_texts(values, level_of))

    def statistics(self, cells: pd.Series) -> TextCounts:
        """Count n-grams, and take a sample of the texts."""
        texts = np.asarray(cells.cat.categories, dtype=object)
        return TextCounts.of(cells.cat.codes.to_numpy(), texts)

    def fit(
        self, statistics: Mapping[str, TextCounts], n_rows: int, *, max_levels: int
    ) -> TextEncoder:
        """Learn the weights of n-grams and the components of each column from all rows."""
        counts = list(statistics.values())
        learned = [learn_components(one) for one in counts]
        directions, means, deviations = zip(*learned, strict=True)
        gaps = np.array([1.0 - one.n_filled / n_rows for one in counts])
        missing = np.flatnonzero([one.n_filled < n_rows for one in counts])
        return TextEncoder(
            tuple(statistics),
            tuple(len(one) for one in means),
            missing,
            gaps[missing],
            np.array([one.idf for one in counts]),
            np.concatenate(directions, axis=1),
            np.concatenate(means),
            np.concatenate(deviations),
        )
