"""Models: how raw numbers X w become one score per sample, and how weights of samples are pulled back."""

from rankcut.models.easy import EasySamples
from rankcut.models.linear import LinearRisk

__all__ = ["EasySamples", "LinearRisk"]
