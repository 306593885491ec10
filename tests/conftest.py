"""What holds for every test: reproducible hypothesis runs and where the data sets lie."""

import os

from hypothesis import settings

from reference import SHARED

settings.register_profile(
    "default", deadline=None, max_examples=50, derandomize=True, database=None
)
settings.load_profile("default")

if (SHARED / "datasets").is_dir():
    os.environ.setdefault("SEMISQUARES_DATA", str(SHARED / "datasets"))
