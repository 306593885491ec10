"""Arrays of other libraries that follow the Python array API standard: where they are, and checks.

They are recognised only if scikit-learn's setting `array_api_dispatch` is on; otherwise everything
is converted to NumPy, as in scikit-learn. Everything follows X: y and weights may be in any library
and on any device.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils._array_api import (
    _convert_to_numpy,
    _is_numpy_namespace,
    get_namespace_and_device,
    supported_float_dtypes,
)

from ..core.rows import HOST, Device, DeviceMatrix, Host
from .checks import is_dask

Place = Device | Host


def place_of(given: Any) -> Place:
    """Return where an array is; what is not an array of another library is on the host."""
    if not get_config()["array_api_dispatch"] or is_dask(given):
        return HOST
    try:
        xp, _, device = get_namespace_and_device(given)
    except TypeError:  # not an array: scikit-learn reads it, or refuses it with a message
        return HOST
    if _is_numpy_namespace(xp):
        return HOST
    return Device(xp, device, partial(_convert_to_numpy, xp=xp))


def to_numpy(given: Any) -> Any:
    """Copy an array of another library to NumPy; return anything else as it is."""
    return place_of(given).get(given)


def raw(X: Any) -> Any:
    """Return the user's array of rows that are read already."""
    return X.values if isinstance(X, DeviceMatrix) else X


def place_of_rows(estimator: Any, X: Any) -> Place:
    """Return where X is; refuse what a fit or a prediction has no code for."""
    place = place_of(X)
    if isinstance(place, Host):
        return place
    name = type(estimator).__name__
    if not get_tags(estimator).array_api_support:
        raise ValueError(
            f"{name} has no code for arrays of {_library(place)}, which array_api_dispatch=True "
            "asks for; pass X as a NumPy array."
        )
    _check_array(X, place, name)
    return place


def _check_array(X: Any, place: Device, name: str) -> None:
    """Refuse arrays that are not dense, real, free of gradients, and on a device with float64."""
    if "sparse" in str(getattr(X, "layout", "")):
        raise ValueError(
            f"X is a sparse array of {_library(place)}, and {name} takes dense ones; pass "
            "X.to_dense(), or a SciPy sparse matrix."
        )
    if place.xp.float64 not in supported_float_dtypes(place.xp, device=place.device):
        raise ValueError(
            f"X is on the device {place.device}, which has no float64 numbers, and {name} computes "
            "with them; move X to the CPU."
        )
    if place.xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(
            f"X holds complex numbers ({X.dtype}), and {name} needs real ones; pass their real and "
            "imaginary parts as columns."
        )
    if getattr(X, "requires_grad", False):
        raise ValueError(
            f"X is a tensor that records gradients, which {name} does not compute; pass X.detach()."
        )


def types_in(place: Place, dtype: Any) -> Any:
    """Translate NumPy's types, or a name that scikit-learn knows, to those of a namespace."""
    if isinstance(place, Host) or isinstance(dtype, str):
        return dtype
    if isinstance(dtype, tuple):
        return tuple(types_in(place, one) for one in dtype)
    return getattr(place.xp, np.dtype(dtype).name)


def check_place(estimator: Any, X: Any, *, attribute: str, method: str) -> Place:
    """Return where X is; refuse another library or device than that of the fit.

    `attribute` is a fitted array, which is where the rows of the fit were.
    """
    fitted, given = getattr(estimator, attribute), place_of(X)
    name = type(estimator).__name__
    if not get_config()["array_api_dispatch"]:
        if isinstance(fitted, np.ndarray):
            return HOST
        library = type(fitted).__module__.partition(".")[0]
        raise ValueError(
            f"{name} was fitted to arrays of {library} with array_api_dispatch=True; call {method} "
            "inside sklearn.config_context(array_api_dispatch=True), too."
        )
    before = place_of(fitted)
    if before.is_same(given):
        return given
    raise ValueError(
        f"{name}.{method}() must use the same namespace and device as fit(), which had "
        f"{_described(before)}, but got {_described(given)}; convert X, or move the fitted "
        "classifier with sklearn.utils._array_api.move_estimator_to."
    )


def _described(place: Place) -> str:
    if isinstance(place, Host):
        return "NumPy arrays or what becomes one"
    return f"arrays of {_library(place)} on {place.device}"


def _library(place: Device) -> str:
    """Return the name of a library, also if its namespace is wrapped."""
    return str(place.xp.__name__).rpartition(".")[2]
