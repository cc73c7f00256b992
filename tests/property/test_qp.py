"""The bundle solver's quadratic problem: optimality recomputed in NumPy, values against Clarabel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rankcut._core import MasterQP

Status = MasterQP.Status
Array = NDArray[np.float64]
EPSILON = np.finfo(np.float64).eps


@dataclass
class Cuts:
    """½‖w‖² + C·max_{soft}(δ + G w) subject to δ + G w ≤ 0 for the hard ones."""

    capacity: float
    g: Array
    delta: Array
    hard: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.delta)

    def select(self, keep: NDArray[np.bool_] | slice) -> Cuts:
        return Cuts(self.capacity, self.g[keep], self.delta[keep], self.hard[keep])

    @property
    def gram(self) -> Array:
        return self.g @ self.g.T


def draw(rng: np.random.Generator, kind: str) -> Cuts:
    """A random problem of up to 60 cuts. Its hard cuts can be met (often just), save in "infeasible"."""
    dim = int(rng.choice([1, 2, 3, 6, 20, 80]))
    n = int(rng.integers(1, 60))
    n += kind == "equalities"
    wide = kind in ("scales", "wild", "equalities")
    scale = 10.0 ** rng.integers(-8, 9) if wide else 1.0
    capacity = 10.0 ** (rng.integers(-6, 9) if wide else rng.integers(-2, 3))
    g = rng.normal(size=(n, dim)) * scale
    if kind == "grid":
        g = np.round(g)
    if kind == "wild":  # cuts of quite different lengths in one problem
        g *= 10.0 ** rng.integers(-4, 5, size=(n, 1))
    delta = rng.random(n) * (rng.random(n) < 0.8)
    if kind == "duplicates":
        twin = rng.integers(n, size=n)
        again = rng.random(n) < 0.5
        g[again] = g[twin[again]] * (1 + rng.choice([0, 1e-15, 1e-9]) * rng.normal(size=(again.sum(), dim)))
        delta[again & (rng.random(n) < 0.5)] = 0.5
    hard = rng.random(n) < (0.3 if kind in ("hard", "infeasible", "wild", "equalities") else 0.0)
    if kind == "equalities":  # the last two cuts are hard and opposite
        hard[-2:], factor = True, 2.0 ** rng.integers(-9, 10)
        g[-2] = -factor * g[-1]
    if kind == "infeasible":
        delta[hard] = rng.random(hard.sum())
    else:
        inside = rng.normal(size=dim) / scale
        delta[hard] = -g[hard] @ inside - rng.random(hard.sum()) * (rng.random() < 0.7)
        if kind == "equalities":
            delta[-1] = -g[-1] @ inside
            delta[-2] = -factor * delta[-1]
    if n > 2 and rng.random() < 0.5:
        g[0], delta[0], hard[0] = 0.0, 0.0, False
    return Cuts(capacity, g, delta, hard)


KINDS = ["plain", "grid", "duplicates", "scales", "wild", "hard", "equalities", "infeasible"]


def residual(cuts: Cuts, mu: Array) -> tuple[float, float]:
    """What is left of the optimality conditions, and the size of its terms, in extended precision."""
    wide = mu.astype(np.longdouble)
    r = cuts.delta - cuts.gram.astype(np.longdouble) @ wide
    soft, hard = ~cuts.hard, cuts.hard
    left = 0.0
    if soft.any():
        left += float(wide[soft] @ (r[soft].max() - r[soft]))
    load = cuts.capacity + mu[hard].sum()
    if hard.any():
        left += float(wide[hard] @ abs(r[hard]) + load * max(0.0, r[hard].max()))
    length = np.linalg.norm(cuts.g, axis=1)
    terms = np.abs(cuts.delta) + length * (length @ mu)
    return left, float(load * terms.max(initial=0.0))


def check(cuts: Cuts, qp: MasterQP, tol: float, status: Status) -> None:
    mu = qp.multipliers()
    assert mu.shape == (len(cuts),)
    assert (mu >= 0).all()
    if not cuts.hard.all():
        total = mu[~cuts.hard].sum()
        assert abs(total - cuts.capacity) <= 4 * EPSILON * cuts.capacity * len(cuts)
    left, size = residual(cuts, mu)
    gram = cuts.gram
    value = cuts.delta @ mu - 0.5 * mu @ gram @ mu
    assert qp.dual_value == pytest.approx(value, rel=1e-9, abs=1e-13 * size)
    assert qp.residual == pytest.approx(left, rel=1e-6, abs=1e-13 * size)
    if status == Status.optimal:
        assert left <= tol + 20 * EPSILON * size
    elif status == Status.precision:
        assert left <= 100 * EPSILON * size


def grow(cuts: Cuts, qp: MasterQP, i: int) -> None:
    qp.add(cuts.g[: i + 1] @ cuts.g[i], float(cuts.delta[i]), bool(cuts.hard[i]))


def clarabel_value(cuts: Cuts) -> float | None:
    """The optimal value by an interior-point method over (w, ξ); None if the hard cuts cannot be met."""
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    n, dim = cuts.g.shape
    soft = ~cuts.hard
    cost = np.zeros(dim + 1)
    cost[-1] = cuts.capacity if soft.any() else 0.0
    quadratic = sparse.diags(np.append(np.ones(dim), 0.0)).tocsc()
    left = sparse.csc_matrix(np.column_stack([cuts.g, -soft.astype(float)]))  # g·w − aξ ≤ −δ
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    cones = [clarabel.NonnegativeConeT(n)]
    solver = clarabel.DefaultSolver(quadratic, cost, left, -cuts.delta, cones, settings)
    answer = solver.solve()
    if "Infeasible" in str(answer.status):
        return None
    assert "Solved" in str(answer.status), answer.status
    return float(answer.obj_val)


@pytest.mark.parametrize("kind", KINDS)
def test_growth_one_cut_at_a_time(kind: str, rng: np.random.Generator) -> None:
    for _ in range(200):
        cuts = draw(rng, kind)
        qp = MasterQP(cuts.capacity)
        scale = cuts.capacity * (1.0 + cuts.capacity * float((cuts.g**2).sum(axis=1).max()))
        tol = float(rng.choice([0.0, 1e-8, 1e-12])) * scale
        for i in range(len(cuts)):
            grow(cuts, qp, i)
            status = qp.solve(tol)
            assert status != Status.max_pivots
            check(cuts.select(slice(i + 1)), qp, tol, status)
            if status == Status.unbounded:
                assert kind == "infeasible"
                break


@pytest.mark.parametrize("kind", ["plain", "grid", "duplicates", "hard", "infeasible"])
def test_values_agree_with_an_interior_point_method(kind: str, rng: np.random.Generator) -> None:
    seen = set()
    for _ in range(100):
        cuts = draw(rng, kind)
        qp = MasterQP(cuts.capacity)
        for i in range(len(cuts)):
            grow(cuts, qp, i)
        status = qp.solve(1e-9)
        expected = clarabel_value(cuts)
        assert (status == Status.unbounded) == (expected is None)
        if expected is not None:
            assert qp.dual_value == pytest.approx(expected, rel=1e-6, abs=1e-6)
        seen.add(status)
    assert (Status.unbounded in seen) == (kind == "infeasible")


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_removal_and_other_capacities(kind: str, rng: np.random.Generator) -> None:
    for _ in range(100):
        cuts = draw(rng, kind)
        qp = MasterQP(cuts.capacity)
        for i in range(len(cuts)):
            grow(cuts, qp, i)
        check(cuts, qp, 0.0, qp.solve(0.0))
        for factor in (10.0, 0.01, 1.0, 3.0):
            cuts.capacity *= factor
            qp.set_capacity(cuts.capacity)
            assert qp.capacity == cuts.capacity
            status = qp.solve(0.0)
            assert status in (Status.optimal, Status.precision)
            check(cuts, qp, 0.0, status)
            goes = (qp.multipliers() == 0) & (rng.random(len(cuts)) < 0.3)
            before = qp.multipliers()[~goes]
            qp.remove(rng.permutation(np.flatnonzero(goes)))
            cuts = cuts.select(~goes)
            np.testing.assert_array_equal(qp.multipliers(), before)
            check(cuts, qp, 0.0, qp.solve(0.0))


@given(st.data())
def test_small_integer_problems(data: st.DataObject) -> None:
    """Ties, parallel and opposite cuts, zeros: what small integers make likely."""
    n, dim = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 3))
    number = st.integers(-2, 2).map(float)
    g = np.array([[data.draw(number) for _ in range(dim)] for _ in range(n)])
    delta = np.array([data.draw(number) for _ in range(n)]) / 2
    hard = np.array([data.draw(st.booleans()) for _ in range(n)])
    cuts = Cuts(data.draw(st.sampled_from([0.125, 1.0, 8.0, 1024.0])), g, delta, hard)
    qp = MasterQP(cuts.capacity)
    tol = 1e-10 + 1e-13 * cuts.capacity**2  # products are of size C², whatever the value
    warm = data.draw(st.booleans())
    for i in range(n):
        grow(cuts, qp, i)
        if warm:
            check(cuts.select(slice(i + 1)), qp, tol, qp.solve(tol, 200))
    status = qp.solve(tol, 200)
    assert status in (Status.optimal, Status.unbounded)
    check(cuts, qp, tol, status)
    expected = clarabel_value(cuts)
    assert (status == Status.unbounded) == (expected is None)
    if expected is not None:
        assert qp.dual_value == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_three_hundred_cuts_stay_accurate(rng: np.random.Generator) -> None:
    """Long warm-started growth, with dense and with small free sets."""
    for dim in (6, 100, 1000):
        g = rng.normal(size=(300, dim))
        cuts = Cuts(10.0, g, rng.random(300), np.zeros(300, dtype=bool))
        qp = MasterQP(cuts.capacity)
        pivots = 0
        for i in range(len(cuts)):
            grow(cuts, qp, i)
            status = qp.solve(1e-9)
            assert status == Status.optimal
            pivots += qp.pivots
        check(cuts, qp, 1e-9, status)
        assert (qp.multipliers() > 0).sum() <= dim + 1
        assert pivots < 20 * len(cuts)


def test_stopping_early_is_feasible_and_resumes(rng: np.random.Generator) -> None:
    cuts = draw(rng, "plain")
    while len(cuts) < 30:
        cuts = draw(rng, "plain")
    qp = MasterQP(cuts.capacity)
    for i in range(len(cuts)):
        grow(cuts, qp, i)
    values = [qp.dual_value]
    for _ in range(500):
        status = qp.solve(1e-10, 1)
        check(cuts, qp, 1e-10, status)
        values.append(qp.dual_value)
        if status == Status.optimal:
            break
    assert status == Status.optimal
    assert (np.diff(values) >= -1e-12 * (1 + abs(values[-1]))).all()


def test_only_zero_cuts_count_by_their_offset() -> None:
    qp = MasterQP(2.0)
    for i, delta in enumerate([0.0, 0.75, 0.25]):
        qp.add(np.zeros(i + 1), delta)
    assert qp.solve(0.0) == Status.optimal
    np.testing.assert_array_equal(qp.multipliers(), [0.0, 2.0, 0.0])
    assert qp.dual_value == 1.5


def test_misuse_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity"):
        MasterQP(0.0)
    qp = MasterQP(1.0)
    assert qp.solve(0.0) == Status.optimal
    assert len(qp) == 0
    with pytest.raises(ValueError, match="gram_row"):
        qp.add(np.ones(2), 0.0)
    with pytest.raises(ValueError, match="finite"):
        qp.add(np.array([np.nan]), 0.0)
    with pytest.raises(ValueError, match="finite"):
        qp.add(np.ones(1), np.inf)
    qp.add(np.ones(1), 0.5)
    with pytest.raises(ValueError, match="multiplier"):
        qp.remove(np.array([0]))
    with pytest.raises(IndexError):
        qp.remove(np.array([-1]))
    with pytest.raises(ValueError, match="capacity"):
        qp.set_capacity(float("nan"))
    assert len(qp) == qp.size == 1
