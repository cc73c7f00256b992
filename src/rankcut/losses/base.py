"""What every loss offers: the most violated ranking, and a native risk for the solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut import _core
from rankcut.arguments import threads
from rankcut.data.labels import relevance
from rankcut.data.lists import Lists
from rankcut.data.scores import check_scores


class MostViolated(NamedTuple):
    """The most violated ranking: value = delta + alpha · scores, alpha a subgradient in score space."""

    value: float
    delta: float
    alpha: NDArray[np.float64]


class Loss(ABC):
    """A loss in score space. It knows nothing of features."""

    name: ClassVar[str]
    # What it sees of the scores: their differences, the scores, or the scores shifted by the best intercept.
    sees: str = "differences"

    @abstractmethod
    def bind(self, lists: Lists) -> _core.Risk:
        """The mean of this loss over lists, for scores in the lists' compact order."""

    def most_violated(self, scores: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> MostViolated:
        """The most violated ranking at these scores; with qid the mean over the lists."""
        z = check_scores(scores)
        lists = Lists.build(relevance(y, len(z)), qid)
        n_threads = threads(None)
        compact = np.empty(lists.size)
        delta = self.bind(lists).evaluate(lists.gather(z, n_threads), compact, n_threads)
        alpha = lists.scatter(compact, n_threads)
        return MostViolated(delta + _core.dot(alpha, z), delta, alpha)
