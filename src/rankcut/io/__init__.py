"""Files: data sets of many formats, and models that load without running code."""

from rankcut.errors import FileError
from rankcut.io.dataset import Dataset
from rankcut.io.onnx import export
from rankcut.io.read import format_of, read, stream
from rankcut.io.store import describe, load, save

__all__ = ["Dataset", "FileError", "describe", "export", "format_of", "load", "read", "save", "stream"]
