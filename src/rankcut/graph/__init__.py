"""Labellings of a graph whose neighbours tend to agree: the best one, and the best with each label forced."""

from rankcut.graph.energy import MaxMarginals, label, max_marginals

__all__ = ["MaxMarginals", "label", "max_marginals"]
