"""What a ranker's training risk says about new data."""

from __future__ import annotations

import math

from rankcut.arguments import positive, whole
from rankcut.errors import InputError

RESCALINGS = ("slack", "margin")


def stability_bound(
    n: int, kappa: float, lam: float, sigma: float, delta: float, rescaling: str = "slack"
) -> float:
    """How far the expected ranking risk may lie above the empirical rescaled ramp risk, by algorithmic stability.

    With probability at least ``1 − delta`` over the draw of n rows, the excess is below

    - ``32 σ²κ²/(λn) + (16 σ²κ²/λ + σ) √(2 ln(1/δ)/n)`` for ``rescaling="slack"``,
    - ``32 κ²/(λn) + (16 κ²/λ + σ) √(2 ln(1/δ)/n)`` for ``rescaling="margin"``.

    It assumes n rows drawn independently from one distribution, all pairs of which are preferences (the complete
    graph of one list); ``‖x‖ ≤ kappa`` for every row; grades within an interval of length ``sigma``; and the exact
    minimiser of ``risk + lam ‖w‖²``, so that ``lam = 1 / (2C)`` for ``PreferenceRankSVM``. The ramp risk is the mean
    over pairs of the hinge clipped at the pair's difference of grades. The bound says something where it is below
    sigma.
    """
    whole("n", n)
    for name, value in (("kappa", kappa), ("lam", lam), ("sigma", sigma), ("delta", delta)):
        positive(name, value)
    if delta >= 1:
        raise InputError(f"delta: came as {delta!r}; pass a probability between 0 and 1, as 0.05")
    if rescaling not in RESCALINGS:
        raise InputError(f"rescaling: came as {rescaling!r}; pass one of {', '.join(RESCALINGS)}")
    stability = 16.0 * kappa**2 / lam * (sigma**2 if rescaling == "slack" else 1.0)
    return 2.0 * stability / n + (stability + sigma) * math.sqrt(2.0 * math.log(1.0 / delta) / n)
