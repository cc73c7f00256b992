"""What every test shares: seeds, real data, Hypothesis profiles, our warnings as errors."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"

# "ci": the same examples on every run, so that a red build can be repeated. "dev": new ones each time.
_common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, database=None, print_blob=True, **_common)
settings.register_profile("dev", **_common)
settings.register_profile("thorough", max_examples=2_000, **_common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


def pytest_configure(config: pytest.Config) -> None:
    """A warning of ours that a test does not expect is a failure: wrap it in `pytest.warns`."""
    try:
        import rankcut.errors  # noqa: F401
    except ImportError:  # then the tests that need it say so; those of the sources alone do without
        return
    config.addinivalue_line("filterwarnings", "error::rankcut.errors.ConvergenceWarning")


@pytest.fixture(autouse=True)
def _seeds() -> None:
    """Code that draws from the global generators draws the same numbers in every run and any order."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator of the test's own, seeded by its name."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the project; a user's clone does not have it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("real data (../shared/data) is not beside the project")
    return SHARED_DATA


@pytest.fixture(scope="session")
def load_shared(shared_data: Path) -> Callable[[str], dict[str, Any]]:
    """`load_shared("tables/cover")` gives the set's arrays by name; skips when that set is missing."""

    def load(name: str) -> dict[str, Any]:
        path = shared_data / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"the data set {name} is not beside the project")
        with np.load(path, allow_pickle=False) as arrays:
            data = {key: arrays[key] for key in arrays.files if not key.startswith("X_")}
            if "X_data" in arrays.files:
                from scipy.sparse import csr_matrix

                parts = (arrays["X_data"], arrays["X_indices"], arrays["X_indptr"])
                data["X"] = csr_matrix(parts, shape=tuple(arrays["X_shape"]))
        return data

    return load
