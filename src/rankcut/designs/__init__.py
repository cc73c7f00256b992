"""Designs: the data matrix as a linear map and its transpose. Nothing else touches the data."""

from rankcut.designs.base import Design, Passes
from rankcut.designs.complement import ComplementDesign
from rankcut.designs.make import make_design
from rankcut.designs.related import RelatedDesign
from rankcut.designs.similarity import SimilarityDesign

__all__ = ["ComplementDesign", "Design", "Passes", "RelatedDesign", "SimilarityDesign", "make_design"]
