"""The outer loop: the objective never rises, and the end is stationary, on thousands of random problems."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankcut import InputError, losses
from rankcut.designs import make_design
from rankcut.reference import bags as slow
from rankcut.solvers import (
    CccpSolution,
    Event,
    Frozen,
    Problem,
    Shift,
    Status,
    cccp,
    minimise,
    minimise_together,
)

Risk = Callable[[np.ndarray], tuple[float, np.ndarray]]


def random_bags(rng: np.random.Generator, d: int = 3) -> tuple[list[np.ndarray], np.ndarray]:
    y = rng.permutation(np.r_[1, 0, rng.integers(0, 2, rng.integers(0, 8))])
    sizes = rng.integers(1, 5, len(y))
    return [
        rng.normal(size=(size, d)).round(1) + 0.3 * label for size, label in zip(sizes, y, strict=True)
    ], y


def frozen_bags(bags: list[np.ndarray], y: np.ndarray, loss: str) -> Callable[[np.ndarray], Risk]:
    return slow.freeze(bags, y, losses.get(loss).most_violated, np.zeros(len(bags), dtype=int))


def check_path(found: CccpSolution) -> None:
    path = np.array(found.objective_path)
    assert len(path) >= 2
    assert (np.diff(path) <= 0).all()
    assert found.objective == pytest.approx(path[-1], rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("loss", ["ap", "hinge", "ndcg", "auc"])
def test_the_objective_never_rises_and_the_end_is_stationary(rng: np.random.Generator, loss: str) -> None:
    tol, several = 1e-3, 0
    for _ in range(60):
        bags, y = random_bags(rng)
        freeze = frozen_bags(bags, y, loss)
        C = float(10 ** rng.uniform(-1, 3))
        found = cccp(freeze, C, n_features=3, tol=tol)
        check_path(found)
        assert found.status is Status.CONVERGED
        several += len(found.objective_path) > 2
        w = found.w
        true = 0.5 * w @ w + C * slow.risk_of(bags, y, w, losses.get(loss).most_violated)
        assert found.objective == pytest.approx(true, rel=1e-9, abs=1e-12)
        # Nobody improves the end by much more than tol: not even a convex solve of its own round to the end.
        best = minimise(freeze(w), C, start=w, tol=1e-6)
        assert true - best.objective <= 2.5 * tol * true + 1e-12
    assert several > 10


def test_a_convex_risk_is_solved_as_minimise_does(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(30, 4)), np.tile([0, 0, 1], 10)
    freeze = frozen_bags([row[None] for row in X], y, "ap")
    found, plain = (
        cccp(freeze, 20.0, n_features=4, tol=1e-6),
        minimise(freeze(np.zeros(4)), 20.0, n_features=4, tol=1e-6),
    )
    assert found.objective == pytest.approx(plain.objective, rel=2e-6)
    assert found.gap <= 1e-6


def test_limits_callbacks_and_starts(rng: np.random.Generator) -> None:
    bags, y = random_bags(np.random.default_rng(5))
    freeze = frozen_bags(bags, y, "ap")
    start = rng.normal(size=3)
    full = cccp(freeze, 300.0, start=start, tol=1e-6)
    assert full.objective_path[0] == pytest.approx(
        0.5 * start @ start + 300.0 * slow.risk_of(bags, y, start, losses.get("ap").most_violated)
    )
    short = cccp(freeze, 300.0, start=start, tol=1e-9, max_iter=2)
    assert short.status is Status.MAX_ITER
    check_path(short)
    seen: list[Any] = []
    stopped = cccp(
        freeze, 300.0, start=start, tol=1e-9, callbacks=[lambda *event: seen.append(event) or len(seen) > 2]
    )
    assert stopped.status is Status.INTERRUPTED
    assert len(seen) == 3
    check_path(stopped)


def test_an_oracle_that_is_not_tight_keeps_the_start() -> None:
    """freeze(w) grows from round to round, so the objective would rise."""
    calls: list[np.ndarray] = []

    def freeze(w: np.ndarray) -> Risk:
        calls.append(w)
        height = 10.0 * len(calls)
        return lambda v: (height + max(0.0, 1.0 - v[0]), np.array([-1.0 if v[0] < 1 else 0.0]))

    found = cccp(freeze, 1.0, n_features=1)
    assert found.status is Status.INEXACT
    assert found.w == pytest.approx(0.0)
    assert found.objective == found.objective_path[0]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("C", {"C": 0.0}),
        ("tol", {"tol": -1.0}),
        ("max_rounds", {"max_rounds": 0}),
        ("max_iter", {"max_iter": 0}),
        ("n_features", {"n_features": None}),
        ("start", {"start": [np.nan]}),
        ("freeze", {"freeze": 3}),
    ],
)
def test_bad_arguments(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^{name}: "):
        cccp(**{"freeze": lambda w: lambda v: (0.0, v), "n_features": 1, **options})


# --- in lockstep, on shared passes ------------------------------------------------


class PlainBagRisk:
    """A bag risk of raw numbers in plain NumPy: it shows its convex bound, and freezes; without curvature."""

    def __init__(self, bags: list[np.ndarray], y: np.ndarray, loss: str, *, shifts: bool) -> None:
        self.offsets = np.concatenate(([0], np.cumsum([len(bag) for bag in bags])))
        self.y, self.oracle, self.shifts = y, losses.get(loss).most_violated, shifts
        self.positives = np.flatnonzero(y == 1)
        self.kept = self.offsets[self.positives]
        self.n_seats = len(self.positives) if shifts else 0

    def best(self, point: np.ndarray) -> np.ndarray:
        parts = zip(self.offsets[:-1], self.offsets[1:], strict=True)
        return np.array([begin + np.argmax(point[begin:end]) for begin, end in parts])

    def rows(self, point: np.ndarray) -> np.ndarray:
        rows = self.best(point)
        rows[self.positives] = self.kept
        return rows

    def prepare(self, raw: np.ndarray) -> np.ndarray:
        return raw

    def line(self, start: np.ndarray, direction: np.ndarray) -> Any:
        risk = self

        class Line:
            limit = float("inf")

            def __call__(self, t: float) -> tuple[float, float]:
                rows = risk.rows(start + t * direction)
                found = risk.oracle((start + t * direction)[rows], risk.y)
                return found.value, float(found.alpha @ direction[rows])

        return Line()

    def cut(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        rows = self.rows(point)
        found = self.oracle(point[rows], self.y)
        weights = np.zeros(self.offsets[-1])
        weights[rows] = found.alpha
        return found.delta, weights

    def hard_cuts(self, point: np.ndarray) -> list[Any]:
        return []

    def curvature(self, point: np.ndarray, weights: np.ndarray) -> Any:
        return np.empty(0, np.intp), np.empty(0), np.empty((0, 0)), np.empty(0)

    def freeze(self, point: np.ndarray) -> Frozen:
        new = self.best(point)[self.positives]
        moved = np.flatnonzero(new != self.kept)
        old, self.kept = self.kept[moved], new
        if not len(moved):
            return Frozen(False)
        if not self.shifts:
            return Frozen(True)
        ones = np.ones(len(moved))
        return Frozen(True, Shift(np.r_[moved, moved], np.r_[old, new[moved]], np.concatenate((-ones, ones))))

    def seats(self, weights: np.ndarray) -> np.ndarray:
        return weights[self.kept] if self.shifts else np.empty(0)


@pytest.mark.parametrize("shifts", [True, False])
@pytest.mark.parametrize("loss", ["ap", "hinge", "mrr"])
def test_in_lockstep_the_same_holds(rng: np.random.Generator, loss: str, shifts: bool) -> None:
    tol = 1e-3
    for _ in range(6):
        bags, y = random_bags(rng)
        X = np.concatenate(bags)
        Cs, starts = [0.3, 30.0, 3000.0], [None, rng.normal(size=3), 0.1 * rng.normal(size=3)]
        events: list[Event] = []
        found = minimise_together(
            make_design(X, n_threads=2),
            [Problem(PlainBagRisk(bags, y, loss, shifts=shifts), Cs, start) for start in starts],
            tol=tol,
            at_once=2,
            callbacks=[lambda event: events.append(event)],
        )
        assert {event.problem for event in events} == {0, 1, 2}
        freeze = frozen_bags(bags, y, loss)
        for C, solution in [(C, s) for path in found for C, s in zip(Cs, path, strict=True)]:
            assert isinstance(solution, CccpSolution)
            check_path(solution)
            assert solution.status is Status.CONVERGED
            w = solution.w
            true = 0.5 * w @ w + C * slow.risk_of(bags, y, w, losses.get(loss).most_violated)
            assert solution.objective == pytest.approx(true, rel=1e-9, abs=1e-12)
            assert solution.gap <= tol
            if shifts:  # the end itself is stationary
                best = minimise(freeze(w), C, start=w, tol=1e-6)
                assert true - best.objective <= 1.5 * tol * true + 1e-12


def test_few_rows_start_no_thread(rng: np.random.Generator) -> None:
    bags, y = random_bags(rng)
    before, seen = threading.active_count(), set()
    minimise_together(
        make_design(np.concatenate(bags), n_threads=4),
        [Problem(PlainBagRisk(bags, y, "ap", shifts=True), [1.0]) for _ in range(3)],
        callbacks=[lambda _event: seen.add(threading.active_count())],
    )
    assert seen == {before}


def test_shifted_cuts_are_below_the_new_risk(rng: np.random.Generator) -> None:
    """What a shift promises: δ + (g + shift)·v ≤ the newly frozen risk at v, for any v."""
    for _ in range(200):
        bags, y = random_bags(rng)
        X = np.concatenate(bags)
        risk = PlainBagRisk(bags, y, "ap", shifts=True)
        design = make_design(X, n_threads=1)
        offset, weights = risk.cut(X @ rng.normal(size=3))
        gradient, seats = design.pull(weights[None])[0], risk.seats(weights)
        frozen = risk.freeze(X @ rng.normal(size=3))
        if frozen.shift is not None:
            gradient = (
                gradient
                + design.pull_rows(
                    frozen.shift.rows, (seats[frozen.shift.seats] * frozen.shift.factors)[None]
                )[0]
            )
        for v in rng.normal(size=(10, 3)):
            value, _ = risk.line(X @ v, X @ v)(0.0)
            assert offset + gradient @ v <= value + 1e-12


def test_interrupted_rounds_give_the_true_objective(rng: np.random.Generator) -> None:
    bags, y = random_bags(np.random.default_rng(8))
    for stop_at in range(1, 12):
        seen: list[Event] = []
        [[found]] = minimise_together(
            make_design(np.concatenate(bags), n_threads=1),
            [Problem(PlainBagRisk(bags, y, "ap", shifts=True), [300.0])],
            tol=1e-9,
            callbacks=[lambda event: seen.append(event) or len(seen) >= stop_at],
        )
        assert isinstance(found, CccpSolution)
        check_path(found)
        true = 0.5 * found.w @ found.w + 300.0 * slow.risk_of(
            bags, y, found.w, losses.get("ap").most_violated
        )
        assert found.objective == pytest.approx(true, rel=1e-9)
