"""Designs: the data matrix as a linear map and its transpose. Nothing else touches the data."""

from rankcut.designs.base import Design, Passes
from rankcut.designs.make import make_design

__all__ = ["Design", "Passes", "make_design"]
