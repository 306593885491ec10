"""From a table with missing labels to a model: reading, preparing, comparing, fitting, storing.

What ``semisquares compare``, ``fit`` and ``predict`` do, for use in Python:

>>> import pandas as pd
>>> from semisquares.tables import fit_table, prepare
>>> kinds = ["a", "a", "a", "b", "b", "b", None, None]
>>> frame = pd.DataFrame({"size": [1, 2, 3, 7, 8, 9, 2, 8], "kind": kinds})
>>> model = fit_table(prepare(frame, "kind"), method="soft")
>>> model.predict(frame.tail(2)).labels.tolist()
['a', 'b']
"""

from typing import TYPE_CHECKING

from .._utils.lazy import import_on_first_use
from .dataset import Prepared, prepare
from .errors import TableError
from .io import find, read
from .models import TableModel, export_onnx, load, save

if TYPE_CHECKING:
    from .compare import Comparison, compare_table
    from .encoder import TableEncoder, make_table_pipeline
    from .models.fitting import fit_table

__all__ = [
    "Comparison",
    "Prepared",
    "TableEncoder",
    "TableError",
    "TableModel",
    "compare_table",
    "export_onnx",
    "find",
    "fit_table",
    "load",
    "make_table_pipeline",
    "prepare",
    "read",
    "save",
]

_ON_FIRST_USE = {
    "Comparison": "compare",
    "TableEncoder": "encoder",
    "compare_table": "compare",
    "fit_table": "models.fitting",
    "make_table_pipeline": "encoder",
}
"""Modules that need scikit-learn, which predicting with a stored model does not wait for."""

__getattr__, __dir__ = import_on_first_use(__name__, _ON_FIRST_USE, __all__)
