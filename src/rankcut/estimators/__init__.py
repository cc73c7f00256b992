"""scikit-learn estimators: they translate fit and predict into the parts, nothing more."""

from rankcut.estimators.rank_svm import RankSVM

__all__ = ["RankSVM"]
