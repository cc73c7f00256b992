"""scikit-learn estimators: they translate fit and predict into the parts, nothing more."""

from rankcut.estimators.graph_rank_svm import GraphRankSVM
from rankcut.estimators.rank_svm import RankSVM
from rankcut.estimators.rank_svm_cv import RankSVMCV

__all__ = ["GraphRankSVM", "RankSVM", "RankSVMCV"]
