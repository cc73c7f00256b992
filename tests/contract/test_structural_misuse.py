"""Structural SVMs say which of a problem's methods misbehaves, and for which sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.structural import (
    Multiclass,
    refuse,
)

from rankcut import StructuralSVM

FORMULATIONS = ["one-slack", "n-slack"]


def altered(**methods: Any) -> Any:
    return type("Altered", (Multiclass,), methods)(3)


def test_missing_methods_are_named() -> None:
    class Half:
        def joint_feature(self, x: Any, y: Any) -> Any: ...

        predict = "not a method"

    refuse("problem: came as Half without loss, loss_augmented, predict; add loss", Half())
    refuse("problem: came as NoneType without joint_feature, loss, loss_augmented, predict", None)


@pytest.mark.parametrize(
    "words, joint_feature",
    [
        (
            "joint_feature returned shape .2, 3. for sample 0; it must be one-dim",
            lambda s, x, y: np.ones((2, 3)),
        ),
        (
            "joint_feature returned shape .7,. for sample 0; it must be of length 6",
            lambda s, x, y: np.ones(6 + (y == 1)),
        ),
        ("joint_feature returned str for sample 0", lambda s, x, y: "words"),
        ("joint_feature returned NaN or infinity for sample 0", lambda s, x, y: np.full(3, np.nan)),
    ],
)
def test_joint_features_that_are_no_vectors(words: str, joint_feature: Any) -> None:
    refuse(words, altered(joint_feature=joint_feature))


@pytest.mark.parametrize("loss", [-1.0, np.nan, "much", None, np.ones(2), 1 + 1j])
def test_losses_that_are_no_numbers(loss: Any) -> None:
    refuse("loss returned .* for sample 0; return a finite", altered(loss=lambda s, t, y: loss))


def test_the_loss_of_the_truth_is_zero() -> None:
    refuse(
        "loss returned 0.5 for sample 0 and the truth; it must be 0",
        altered(loss=lambda s, t, y: 0.5 + (t != y)),
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_loss_augmented_below_the_truth(formulation: str) -> None:
    worst = altered(loss_augmented=lambda s, w, x, t: (t + 1) % 3)
    X, y = [np.array([1.0, 0.0]), np.array([3.0, 0.0])], [0, 0]  # it goes on where there is nothing left
    refuse(
        r"loss_augmented returned for sample \d an output .* below", worst, X, y, C=9, formulation=formulation
    )


def test_the_problem_cannot_change_w() -> None:
    def meddle(self: Any, w: np.ndarray, x: Any, t: Any) -> int:
        w[:] = 1.0
        return 0

    with pytest.raises(ValueError, match="read-only"):
        StructuralSVM(altered(loss_augmented=meddle)).fit([np.ones(2)], [1])


def test_arguments() -> None:
    good = Multiclass(3)
    refuse("X: came without samples", good, [], [])
    refuse("X: came as str", good, "words", [0])
    refuse("X: came as DataFrame", good, pd.DataFrame(np.ones((2, 2))), [0, 1])  # a sequence of columns
    refuse("X: came as dict", good, {0: np.ones(2)}, [0])
    refuse("y: came with 1 entries for 2 samples", good, y=[0])
    refuse("y: came as int", good, y=3)
    refuse("formulation: came as 'two-slack'; pass one of one-slack, n-slack", good, formulation="two-slack")
    refuse("C: came as 0", good, C=0)
    refuse("tol: came as -1", good, tol=-1)
    refuse("max_iter: came as 1.5", good, max_iter=1.5)
    refuse("callbacks: came as 3", good, callbacks=3)
    refuse("n_jobs: came as 0", good, n_jobs=0)
