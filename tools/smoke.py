"""Import the installed package, fit it and use it: the least that every wheel must do."""

import sys

import numpy as np

import rankcut
from rankcut import _core


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.1
    X = rng.standard_normal((300, 5))
    X[y, 0] += 2.0

    model = rankcut.RankSVM(C=10.0).fit(X, y)
    scores = model.decision_function(X)
    assert model.coef_.shape == (1, 5)
    assert scores[y].mean() > scores[~y].mean()
    assert rankcut.metrics.average_precision(y, scores) > 0.5

    version = ".".join(map(str, sys.version_info[:3]))
    print(f"rankcut {rankcut.__version__} fits on Python {version} with {_core.__file__}")


if __name__ == "__main__":
    main()
