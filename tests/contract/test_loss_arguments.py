"""What losses are called, what they take, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankcut import InputError, _core, losses
from rankcut.data import Lists

NONE = np.empty(0, np.uint8)


def test_labels_may_be_any_two_of_which_the_larger_is_relevant(rng: np.random.Generator) -> None:
    z, y = rng.normal(size=11), rng.permutation(np.arange(11) < 5).astype(int)
    expected = losses.get("ap").most_violated(z, y)
    for labels in (y == 1, 2 * y - 1, np.where(y == 1, "b", "a"), y * 0.5, y.astype(np.int8), y.tolist()):
        found = losses.get("ap").most_violated(z.tolist(), labels)
        assert found.value == expected.value
        np.testing.assert_array_equal(found.alpha, expected.alpha)


def test_names_can_be_got() -> None:
    for name in losses.names():
        assert losses.get(name.replace("@k", "@7")).name == name


@pytest.mark.parametrize(
    "name, options, word",
    [
        ("map", {}, "loss"),
        ("", {}, "loss"),
        (None, {}, "loss"),
        (["ap"], {}, "loss"),
        (3, {}, "loss"),
        ("precision@k", {}, "precision@10"),
        ("precision@0", {}, "precision@"),
        ("precision@-1", {}, "precision@"),
        ("precision@99999999999999999999999999", {}, "precision@"),
        ("ap", {"oracle": "fast"}, "oracle"),
        ("ap", {"oracle": None}, "oracle"),
        ("auc", {"oracle": "greedy"}, "oracle"),
        ("precision@3", {"oracle": "greedy"}, "oracle"),
        ("hinge", {"positive_weight": 0}, "positive_weight"),
        ("hinge", {"positive_weight": float("nan")}, "positive_weight"),
        ("hinge", {"positive_weight": "heavy"}, "positive_weight"),
        ("ap", {"colour": 1}, "colour"),
        ("preference", {"graph": "ring"}, "graph"),
        ("preference", {"rescaling": "none"}, "rescaling"),
        ("preference", {"reduce": "max"}, "reduce"),
        ("preference", {"threshold": 0.5}, "threshold"),
        ("preference", {"graph": "bipartite", "threshold": np.nan}, "threshold"),
        ("preference", {"graph": "bipartite", "threshold": "high"}, "threshold"),
        ("preference", {"graph": "bipartite", "threshold": 0.5, "top": 1}, "top"),
        ("preference", {"graph": "bipartite", "top": 0}, "top"),
        ("preference", {"graph": "bipartite", "top": 2}, "top"),
        ("preference", {"graph": "star", "top": 1}, "top"),
    ],
)
def test_what_cannot_be_got(name: Any, options: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        losses.get(name, **options).most_violated([1.0, 0.0], [0, 1])


@pytest.mark.parametrize(
    "scores, y, qid, word",
    [
        ([], [], None, "scores"),
        ([[1.0, 2.0]], [[0, 1]], None, "scores"),
        (["a", "b"], [0, 1], None, "scores"),
        (None, [0, 1], None, "scores"),
        (np.array([1.0, 2.0j]), [0, 1], None, "scores"),
        ([1.0, 2.0, 3.0], [0, 1], None, "y"),
        ([1.0, 2.0, 3.0], [0, 1, 2], None, "y"),
        ([1.0, 2.0], [1, 1], None, "y"),
        ([1.0, 2.0, 3.0], [0, 1, np.nan], None, "y"),
        ([1.0, 2.0], [np.nan, np.nan], None, "y"),
        ([1.0, 2.0], ["a", 1], None, "y"),
        ([1.0, 2.0], 1, None, "y"),
        ([1.0, 2.0], [0, 1], [1], "qid"),
        ([1.0, 2.0], [0, 1], [1, 2], "qid"),
        ([1.0, 2.0], [0, 1], [1, np.nan], "qid"),
        ([1.0, 2.0], [0, 1], 5, "qid"),
        ([1.0, 2.0], [0, 1], [[1], [1]], "qid"),
    ],
)
def test_arguments_that_do_not_fit(scores: Any, y: Any, qid: Any, word: str) -> None:
    with pytest.raises(InputError, match=rf"^{word}:"):
        losses.get("ap").most_violated(scores, y, qid)


def test_the_core_writes_in_place_or_refuses() -> None:
    """A copy made for the core would be written to, and lost."""
    risk = losses.get("ap").bind(Lists.build(np.arange(4) < 2))
    z, good = np.arange(4.0), np.empty(4)
    read_only = np.empty(4)
    read_only.flags.writeable = False
    for bad in (np.empty(4, np.float32), np.empty(8)[::2], read_only):
        for call in (
            lambda out: risk.evaluate(z, out),
            lambda out: risk.last(out),
            lambda out: risk.curvature(z, good, out),
            lambda out: _core.gather(z, np.arange(4), out),
            lambda out: _core.best_instances(np.arange(4), np.arange(1, 5), NONE, z, out, np.arange(4)),
        ):
            call(good)
            with pytest.raises(TypeError):
                call(bad)
