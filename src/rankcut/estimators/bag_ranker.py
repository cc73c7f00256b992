"""What rankers of bags share: a bag is scored by its best instance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankcut.data.known import check_bags
from rankcut.designs import make_design
from rankcut.estimators.base import LinearRanker, threads
from rankcut.models import best_instances

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


class BagRanker(LinearRanker):
    """A fitted linear ranker whose X is bags."""

    def decision_function(self, bags: Any) -> Floats:
        """Of each bag the best instance's score, plus the intercept."""
        scores = self._best(bags)[0] + self.intercept_
        return scores.ravel() if len(self.coef_) == 1 else scores

    def choose(self, bags: Any) -> Index:
        """The number of the instance that each bag is scored by; of shape (n, K) for K > 1 rankers."""
        numbers = self._best(bags)[1]
        return numbers.ravel() if len(self.coef_) == 1 else numbers

    def _best(self, bags: Any) -> tuple[Floats, Index]:
        check_is_fitted(self)
        X, offsets = check_bags(self, bags, reset=False)
        n_threads = threads(self.n_jobs)
        found = [
            best_instances(offsets[:-1], offsets[1:], z, n_threads=n_threads)
            for z in make_design(X, n_threads=n_threads).scores(self.coef_)
        ]
        scores, rows = (np.stack(part, axis=1) for part in zip(*found, strict=True))
        return scores, rows - offsets[:-1, None]
