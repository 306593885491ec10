"""Marks for tests that need what only some operating systems have."""

import os
import sys

import pytest

posix_only = pytest.mark.skipif(
    os.name != "posix", reason="needs signals, links, pipes or permissions of POSIX"
)
linux_only = pytest.mark.skipif(
    sys.platform != "linux", reason="needs /proc, its ps, or file names of any bytes"
)
