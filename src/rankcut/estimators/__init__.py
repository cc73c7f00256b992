"""scikit-learn estimators: they translate fit and predict into the parts, nothing more."""

from rankcut.estimators.bag_rank_svm import BagRankSVM
from rankcut.estimators.graph_rank_svm import GraphRankSVM
from rankcut.estimators.latent_ap_baseline import LatentAPBaseline
from rankcut.estimators.latent_structural_svm import LatentStructuralSVM
from rankcut.estimators.preference_rank_svm import PreferenceRankSVM
from rankcut.estimators.rank_svm import RankSVM
from rankcut.estimators.rank_svm_cv import RankSVMCV
from rankcut.estimators.structural_svm import StructuralSVM

__all__ = [
    "BagRankSVM",
    "GraphRankSVM",
    "LatentAPBaseline",
    "LatentStructuralSVM",
    "PreferenceRankSVM",
    "RankSVM",
    "RankSVMCV",
    "StructuralSVM",
]
