"""Models of tables: predicting, storing, and taking them elsewhere as ONNX."""

from .files import load, save
from .model import TableModel
from .onnx import export_onnx

__all__ = ["TableModel", "export_onnx", "load", "save"]
