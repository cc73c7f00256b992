"""The most violated ranking for precision at k, exactly.

R = max over rankings of Δ + 2/(PN) Σ_{swapped pairs} (t_j − s_i)
Δ = 1 − (positives in the first k) / min(k, P)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankcut.reference.rankings import MostViolated, pack, split


def most_violated(scores: ArrayLike, y: ArrayLike, k: int) -> MostViolated:
    """Fix m, the positives among the first k, and with it Δ and b = k − m, the negatives there.

    Unconstrained, positive i is best below the u_i negatives that score more. The first m must be among the
    first k, below at most b negatives, the others beyond, below at least b: clip u_i, and take the best m.
    """
    z, positives, negatives = split(scores, y)
    s, t = z[positives], z[negatives]
    P, N = len(s), len(t)
    k = min(k, P + N)
    wanted = np.array([np.count_nonzero(t > score) for score in s])
    candidates = []
    for m in range(max(0, k - N), min(k, P) + 1):
        above = np.append(np.minimum(wanted[:m], k - m), np.maximum(wanted[m:], k - m))
        candidates.append(pack(z, positives, negatives, above, 1.0 - m / min(k, P)))
    return max(candidates, key=lambda found: found.value)
