"""Real tables: the certificate closes, in no more cuts than a prototype needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankcut import RankSVM, losses
from rankcut.metrics import average_precision
from rankcut.solvers import Status

Load = Callable[[str], dict[str, Any]]
MOST_CUTS = {
    ("landsat", 10): 14, ("letter", 10): 18, ("magic_gamma", 10): 8, ("mammography", 10): 7, ("spambase", 10): 11,
    ("landsat", 1000): 25, ("letter", 1000): 37, ("magic_gamma", 1000): 14, ("mammography", 1000): 9,
    ("spambase", 1000): 41,
}  # fmt: skip
SETS = ["landsat", "letter", "magic_gamma", "mammography", "spambase"]


def halves(load: Load, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Standardised by the training half: one random half, seed 0."""
    data = load(f"tables/{name}")
    X, y = np.asarray(data["X"], dtype=np.float64), np.asarray(data["y"])
    order = np.random.default_rng(0).permutation(len(y))
    first, second = order[: len(y) // 2], order[len(y) // 2 :]
    mean, scale = X[first].mean(axis=0), X[first].std(axis=0)
    X = (X - mean) / np.where(scale > 0, scale, 1.0)
    return X[first], y[first], X[second], y[second]


@pytest.mark.parametrize("name, C", MOST_CUTS)
def test_cuts(load_shared: Load, name: str, C: int) -> None:
    X, y, _, _ = halves(load_shared, name)
    model = RankSVM(C=C, tol=1e-3).fit(X, y)
    assert model.status_ is Status.CONVERGED
    assert model.n_iter_ <= MOST_CUTS[name, C]
    assert model.n_passes_.forward <= MOST_CUTS[name, C]


@pytest.mark.parametrize("C", [1, 100])
@pytest.mark.parametrize("name", SETS)
def test_the_certificate_closes(load_shared: Load, name: str, C: int) -> None:
    X, y, X_test, y_test = halves(load_shared, name)
    model = RankSVM(C=C).fit(X, y)
    w = model.coef_[0]
    risk = losses.get("ap", oracle="select").most_violated(X @ w, y).value
    assert model.status_ is Status.CONVERGED
    assert model.objective_ == pytest.approx(0.5 * w @ w + C * risk, rel=1e-9)
    assert model.objective_ - model.dual_objective_ <= 1e-3 * model.objective_
    # The bound is a bound: a tighter solve ends between the two.
    tighter = RankSVM(C=C, tol=1e-4).fit(X, y)
    assert (
        model.dual_objective_ <= tighter.objective_ <= model.objective_ * (1 + 1e-9) + 1e-4 * model.objective_
    )
    # R bounds the loss of the measure, and what is learned carries over.
    assert 1 - average_precision(y, X @ w) <= risk + 1e-9
    assert average_precision(y_test, model.decision_function(X_test)) > 2 * np.mean(y_test == y_test.max())


@pytest.mark.parametrize("loss", ["auc", "ndcg", "mrr", "precision@50", "hinge"])
@pytest.mark.parametrize("name", ["landsat", "mammography"])
def test_other_losses(load_shared: Load, name: str, loss: str) -> None:
    X, y, _, _ = halves(load_shared, name)
    for C in (1, 100):
        model = RankSVM(C=C, loss=loss).fit(X, y)
        assert model.status_ is Status.CONVERGED
        assert model.dual_gap_ <= 1e-3


@pytest.mark.parametrize("name", ["landsat", "magic_gamma"])
def test_approx(load_shared: Load, name: str) -> None:
    X, y, X_test, y_test = halves(load_shared, name)
    exact = RankSVM(C=10).fit(X, y)
    model = RankSVM(C=10, approx=0.5).fit(X, y)
    assert model.status_ is Status.CONVERGED
    ours, full = (average_precision(y_test, m.decision_function(X_test)) for m in (model, exact))
    assert ours > full - 0.1


def test_queries(load_shared: Load) -> None:
    data = load_shared("ranking/mq2008")
    X, y, qid = data["X"], (data["y"] > 0).astype(int), data["qid"]
    with pytest.warns(UserWarning, match="left out"):
        model = RankSVM(C=10).fit(X, y, qid=qid)
    assert model.status_ is Status.CONVERGED
    assert model.n_skipped_lists_ >= 220
    assert average_precision(y, model.decision_function(X), qid=qid) > 0.4


@pytest.mark.slow
def test_all_classes_together(load_shared: Load) -> None:
    data = load_shared("tables/cifar10_effnet")
    X, y = data["X"][:20_000], data["y"][:20_000]
    model = RankSVM(C=10).fit(X, y)
    assert set(model.status_) == {Status.CONVERGED}
    assert model.score(X, y) > 0.7
