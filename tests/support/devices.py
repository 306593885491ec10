"""Devices of other array libraries; array-api-strict has made-up ones beside the CPU."""

from functools import partial

import pytest
from sklearn.utils._array_api import _convert_to_numpy

from semisquares.core.rows import Device, DeviceMatrix

NO_CPU = "device1"
"""A device of array-api-strict; NumPy cannot read arrays that are there."""


def strict_device(name=NO_CPU):
    """Return a device of array-api-strict."""
    xp = pytest.importorskip("array_api_strict")
    return Device(xp, xp.Device(name), partial(_convert_to_numpy, xp=xp))


def torch_device():
    """Return the CPU as a device of torch, with the namespace that scikit-learn wraps it in."""
    pytest.importorskip("torch")
    from sklearn.externals.array_api_compat import torch as xp

    return Device(xp, xp.device("cpu"), partial(_convert_to_numpy, xp=xp))


DEVICES = {"array-api-strict": strict_device, "torch": torch_device}


def on(device, X):
    """Return a matrix on a device."""
    return DeviceMatrix(device.put(X), device)
