"""Optima that were worked out by hand, or by another solver once: they must not move."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rankcut import RankSVM, losses

# One positive at 1, one negative at 0, one column: z_i − z_j = w. Every ranking loss with Δ = D for the one
# wrong ranking has R = max(0, D − 2w) + …: for C ≤ D/4 the optimum is w = 2C, beyond it w = D/2.
WRONG = {"ap": 0.5, "auc": 1.0, "mrr": 0.5, "ndcg": 1 - 1 / np.log2(3), "precision@1": 1.0}


@pytest.mark.parametrize("loss, delta", WRONG.items())
@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 100.0])
def test_one_pair(loss: str, delta: float, C: float) -> None:
    model = RankSVM(C=C, loss=loss, tol=1e-10).fit([[0.0], [1.0]], [0, 1])
    w = min(2 * C, delta / 2)
    assert model.coef_[0, 0] == pytest.approx(w, rel=1e-4)
    assert model.objective_ == pytest.approx(0.5 * w * w + C * (delta - 2 * w), rel=1e-9)


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_hinge_on_one_pair(C: float) -> None:
    """With intercept: margins w·½ each side, R = max(0, 1 − w/2); the optimum is w = min(C/2, 2)."""
    model = RankSVM(C=C, loss="hinge", tol=1e-10).fit([[0.0], [1.0]], [0, 1])
    w = min(C / 2, 2.0)
    assert model.coef_[0, 0] == pytest.approx(w, rel=1e-4)
    assert model.objective_ == pytest.approx(0.5 * w * w + C * (1 - w / 2), rel=1e-9)


def test_values_of_the_losses() -> None:
    """Two positives, two negatives: all by hand from the definition, pair term 2/(PN) = 1/2."""
    y, z = [1, 0, 1, 0], [0.0, 0.0, 0.0, 0.0]
    expected = {
        "ap": 1 - (1 / 3 + 2 / 4) / 2,  # both negatives first
        "auc": 1.0,
        "mrr": 1 - 1 / 3,
        "ndcg": 1 - (1 / np.log2(4) + 1 / np.log2(5)) / (1 + 1 / np.log2(3)),
        "precision@1": 1.0,
        "precision@2": 1.0,
        "precision@3": 0.5,  # two negatives and one positive
        "precision@4": 0.0,
        "hinge": 1.0,
    }
    for loss, value in expected.items():
        assert losses.get(loss).most_violated(z, y).value == pytest.approx(value, abs=1e-15)
    # a positive 1 above all else: its pairs with the negatives cost 1/2 each, the other positive's nothing
    z = [1.0, 0.0, 0.0, 0.0]
    assert losses.get("auc").most_violated(z, y).value == pytest.approx(0.5)
    assert losses.get("ap").most_violated(z, y).value == pytest.approx(1 - (1 + 2 / 4) / 2)
    assert losses.get("mrr").most_violated(z, y).value == pytest.approx(max(0.0, 1 / 2 - 1 / 2, 2 / 3 - 1))
    assert losses.get("precision@1").most_violated(z, y).value == pytest.approx(1 - 1 / 2)
    assert losses.get("hinge").most_violated(z, y).value == pytest.approx((0 + 1 + 1 + 1) / 4)


def test_interleaving_of_the_published_example_shape() -> None:
    """Equal scores: every negative goes above all positives; far apart: below all."""
    ap = losses.get("ap")
    y = [1, 0, 1, 0, 0]
    assert ap.interleaving(np.zeros(5), y).tolist() == [0, 0, 0]
    assert ap.interleaving(100.0 * np.array(y), y).tolist() == [2, 2, 2]


# Optima found by the plain cutting-plane method of rankcut.reference, gap 2e-8, on the standardised breast cancer data.
BREAST_CANCER = {
    ("ap", 1.0): 0.092421009,
    ("ap", 20.0): 0.557130894,
    ("auc", 1.0): 0.056858359,
    ("auc", 20.0): 0.327670816,
    ("ndcg", 1.0): 0.0470939839,
    ("ndcg", 20.0): 0.412746015,
    ("mrr", 1.0): 0.898498995,
    ("mrr", 20.0): 15.7019844,
    ("precision@20", 1.0): 0.911124715,
    ("precision@20", 20.0): 5.07951542,
    ("hinge", 1.0): 0.269472281,
    ("hinge", 20.0): 2.06148718,
}


@pytest.mark.parametrize("loss, C", BREAST_CANCER)
def test_breast_cancer(loss: str, C: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = RankSVM(C=C, loss=loss, tol=1e-6).fit(X, y)
    expected = BREAST_CANCER[loss, C]
    assert model.objective_ == pytest.approx(expected, rel=1.1e-6)
    assert model.dual_objective_ <= expected * (1 + 1e-8)


def test_hinge_is_linear_svc() -> None:
    """LinearSVC sums the hinge and regularises its intercept: with none, C/n is its C."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for C in (10.0, 300.0):
        ours = RankSVM(C=C, loss="hinge", fit_intercept=False, tol=1e-7).fit(X, y)
        theirs = LinearSVC(
            C=C / len(y), loss="hinge", fit_intercept=False, tol=1e-9, max_iter=2_000_000, random_state=0
        )
        w = theirs.fit(X, y).coef_[0]
        objective = 0.5 * w @ w + C * np.maximum(0, 1 - (2 * y - 1) * (X @ w)).mean()
        assert ours.objective_ == pytest.approx(objective, rel=1e-5)
        np.testing.assert_allclose(ours.coef_[0], w, atol=2e-3 * np.linalg.norm(w))
