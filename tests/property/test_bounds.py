"""The stability bound by its formula, and against what it bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rankcut import InputError, PreferenceRankSVM
from rankcut.metrics import stability_bound


def test_is_the_published_formula() -> None:
    """n = 1000, κ = 2, λ = 0.1, σ = 3, δ = 0.05, by hand."""
    root = math.sqrt(2 * math.log(20) / 1000)
    assert stability_bound(1000, 2, 0.1, 3, 0.05, "slack") == pytest.approx(
        32 * 9 * 4 / (0.1 * 1000) + (16 * 9 * 4 / 0.1 + 3) * root
    )
    assert stability_bound(1000, 2, 0.1, 3, 0.05, "margin") == pytest.approx(
        32 * 4 / (0.1 * 1000) + (16 * 4 / 0.1 + 3) * root
    )


def test_slack_is_tighter_for_small_losses_and_margin_for_large_ones() -> None:
    for sigma in (0.1, 0.5, 0.99):
        assert stability_bound(50, 1, 1, sigma, 0.1, "slack") < stability_bound(
            50, 1, 1, sigma, 0.1, "margin"
        )
    for sigma in (1.01, 4.0):
        assert stability_bound(50, 1, 1, sigma, 0.1, "slack") > stability_bound(
            50, 1, 1, sigma, 0.1, "margin"
        )
    assert stability_bound(50, 1, 1, 1.0, 0.1, "slack") == stability_bound(50, 1, 1, 1.0, 0.1, "margin")


def test_falls_with_n_and_with_lam() -> None:
    bounds = [stability_bound(n, 1, 1, 1, 0.05) for n in (10, 100, 1000, 10**6)]
    assert np.all(np.diff(bounds) < 0)
    assert stability_bound(100, 1, 10, 1, 0.05) < stability_bound(100, 1, 1, 1, 0.05)
    assert stability_bound(100, 1, 1, 1, 0.01) > stability_bound(100, 1, 1, 1, 0.05)


def test_holds_on_new_data(rng: np.random.Generator) -> None:
    """Not a proof, but it would notice a wrong sign or a lost factor: in 40 draws the bound never fails."""
    n, C = 4_000, 0.02
    for _ in range(40):
        X = rng.normal(size=(2 * n, 3))
        X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
        y = np.clip(0.5 + 0.3 * X[:, 0] + 0.2 * rng.normal(size=2 * n), 0, 1)
        model = PreferenceRankSVM(C=C).fit(X[:n], y[:n])
        excess = stability_bound(n, 1.0, 1 / (2 * C), 1.0, 0.05)
        z = model.decision_function(X)
        i, j = rng.integers(0, n, (2, 20_000))
        sign, gain = np.sign(y[i] - y[j]), np.abs(y[i] - y[j])
        ramp = np.mean(np.clip(gain * (1 - sign * (z[i] - z[j])), 0, gain))
        k, m = rng.integers(n, 2 * n, (2, 20_000))
        expected = np.mean(np.abs(y[k] - y[m]) * ((y[k] - y[m]) * (z[k] - z[m]) < 0))
        assert expected < ramp + excess
    assert 0 < excess < 0.1


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("n", (0, 1, 1, 1, 0.05)),
        ("n", (2.5, 1, 1, 1, 0.05)),
        ("kappa", (10, -1, 1, 1, 0.05)),
        ("lam", (10, 1, 0, 1, 0.05)),
        ("sigma", (10, 1, 1, math.nan, 0.05)),
        ("delta", (10, 1, 1, 1, 0)),
        ("delta", (10, 1, 1, 1, 1)),
        ("rescaling", (10, 1, 1, 1, 0.05, "both")),
    ],
)
def test_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InputError, match=rf"^{name}: .{{15,}}"):
        stability_bound(*arguments)
