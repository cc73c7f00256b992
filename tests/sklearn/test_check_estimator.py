"""scikit-learn's own checks, without exemptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankcut import BagRankSVM, PreferenceRankSVM, RankSVM, RankSVMCV

ESTIMATORS = [
    RankSVM(),
    RankSVM(loss="hinge", positive_weight=2.0),
    RankSVM(loss="precision@50", n_jobs=1),
    RankSVM(loss="ndcg", fit_intercept=False),
    RankSVM(approx=0.5),
    RankSVMCV(Cs=3, n_jobs=1),
    RankSVMCV([1.0, 100.0], cv=2, loss_grid={"loss": ["ap", "hinge"]}, n_jobs=1),
    PreferenceRankSVM(),
    PreferenceRankSVM(rescaling="margin", reduce="sum", n_jobs=1),
    PreferenceRankSVM(graph="bipartite", top=1),
    BagRankSVM(),
    BagRankSVM(loss="hinge", outlier_fraction=0.3, trim=0.1),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_check_estimator(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_tags() -> None:
    tags = RankSVM().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.input_tags.sparse
    assert tags.classifier_tags.multi_class
    assert tags.classifier_tags.multi_label
    assert tags.target_tags.required
    assert not tags.input_tags.allow_nan
