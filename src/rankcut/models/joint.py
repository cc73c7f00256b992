"""The risk of the latent structural SVM with AP loss, as published (docs/latent-ssvm.md).

    R(w) = max over rankings and all annotations of [Δ + w·Ψ]  −  w·Ψ of the perfect ranking,

whose positives have their best annotations (frozen for a round) and whose negatives the ones that make it worst:

    w·Ψ(perfect) = mean_i s_i(frozen) − mean_j max_h s_j(h).

The first term is searched greedily (losses/joint_ap.py): what is found bounds it from below, and its cut is valid,
but R may be understated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankcut.models.bag import best_instances

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


class Joint(Protocol):
    """The most violated ranking with annotations: `counts` weighs each sample's highest score where it is
    positive and its lowest elsewhere."""

    @property
    def value(self) -> float: ...
    @property
    def counts(self) -> Floats: ...


class Product(Protocol):
    """What the risk needs of a design (rankcut.designs)."""

    def scores(self, W: Floats, /) -> Floats: ...
    def pull(self, A: Floats, /) -> Floats: ...


JointOracle = Callable[[Floats, Floats, NDArray[np.bool_]], Joint]


class JointBagRisk:
    """Of w: an inference costs more than a pass over the instances. `given` is the row of the instance that is known
    for a bag, or −1."""

    def __init__(
        self,
        design: Product,
        oracle: JointOracle,
        relevant: NDArray[np.bool_],
        offsets: Index,
        given: Index,
    ) -> None:
        self._design, self._oracle, self._relevant = design, oracle, relevant
        self._begin = np.where(given < 0, offsets[:-1], given)
        self._end = np.where(given < 0, offsets[1:], given + 1)
        self.n_inferences = 0

    def frozen(self, rows: Index) -> FrozenJointRisk:
        """The bound with these rows, one for each bag, as the positives' annotations in the perfect ranking."""
        kept = np.where(self._end - self._begin == 1, self._begin, rows)
        return FrozenJointRisk(self, kept[self._relevant])

    def best(self, w: Floats) -> Index:
        """The row of each bag's best instance."""
        return self._best(self._design.scores(w[None])[0])[1]

    def evaluate(self, w: Floats, frozen: Index) -> tuple[float, Floats]:
        z = self._design.scores(w[None])[0]
        value, weights = self._in_scores(z, frozen)
        gradient: Floats = self._design.pull(weights[None])[0]
        return value, gradient

    def _in_scores(self, z: Floats, frozen: Index) -> tuple[float, Floats]:
        """The risk at these scores of the instances, and a weight for each of them."""
        relevant, weights = self._relevant, np.zeros_like(z)
        P, N = int(np.sum(relevant)), int(np.sum(~relevant))
        high, highest = self._best(z)
        low, lowest = self._best(-z)
        joint = self._oracle(high, -low, relevant)
        self.n_inferences += 1
        np.add.at(weights, np.where(joint.counts > 0, highest, lowest), joint.counts / (P * N))
        weights[highest[~relevant]] += 1.0 / N
        weights[frozen] -= 1.0 / P
        return joint.value - float(np.mean(z[frozen]) - np.mean(high[~relevant])), weights

    def _best(self, z: Floats) -> tuple[Floats, Index]:
        return best_instances(self._begin, self._end, z)


class FrozenJointRisk:
    """As rankcut.solvers.Risk; convex, were the inference exact."""

    nonnegative = True

    def __init__(self, risk: JointBagRisk, rows: Index) -> None:
        self._risk, self._rows = risk, rows

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        return self._risk.evaluate(w, self._rows)
