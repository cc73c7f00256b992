"""Real data that the contracts of several estimators use."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

Data = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def cancer() -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def digits() -> Data:
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16.0, y[:600]
