"""The graph models against all labellings written out: risks, bounds, slopes; optima by an independent solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rankcut import losses
from rankcut.data import Lists
from rankcut.designs import RelatedDesign, make_design
from rankcut.models import LabellingRisk, LatentLabellingRisk, Samples, ScoreRisk
from rankcut.reference import brute_force, related
from rankcut.solvers import Problem, Solution, Status, minimise_together

clarabel = pytest.importorskip("clarabel")

LOSSES = ["ap", "auc", "ndcg", "mrr", "precision@2", "hinge"]


class Case:
    """A small graph, perhaps of bags, with ties every now and then."""

    def __init__(self, rng: np.random.Generator, n_max: int = 7, bags: bool = False) -> None:
        self.rng = rng
        self.n = int(rng.integers(2, n_max + 1))
        pairs = [(i, j) for j in range(self.n) for i in range(j)]
        self.pairs = [pairs[k] for k in rng.permutation(len(pairs))[: rng.integers(0, len(pairs) + 1)]]
        self.edges = np.array(self.pairs, dtype=np.int64).reshape(-1, 2)
        self.relevant = np.zeros(self.n, dtype=bool)
        self.relevant[rng.permutation(self.n)[: rng.integers(1, self.n)]] = True
        self.offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 4, size=self.n)))) if bags else None
        self.samples = Samples(self.n, self.offsets)
        self.J = float(rng.choice([1.0, 2.5, np.sum(~self.relevant) / np.sum(self.relevant)]))

    def raw(self, scale: float = 1.0) -> np.ndarray:
        kind = self.rng.integers(0, 8)
        unary = scale * self.rng.normal(size=self.samples.n_raw)
        costs = scale * 0.5 * np.abs(self.rng.normal(size=len(self.edges)))
        if kind == 0:
            unary, costs = np.round(unary), np.round(costs)
        if kind == 1:
            unary[:] = 0.0
        if kind == 2:
            costs[:] = 0.0
        return np.concatenate((unary, costs))

    def split(self, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Unary scores, bags taken together, and costs."""
        scores = raw[: self.samples.n_raw]
        if self.offsets is not None:
            scores = np.array([part.max() for part in np.split(scores, self.offsets[1:-1])])
        return scores, raw[self.samples.n_raw :]

    def scores(self, raw: np.ndarray) -> np.ndarray:
        unary, costs = self.split(raw)
        plus, minus = related.max_marginals(unary, self.pairs, costs)
        return plus - minus

    def labelling(self) -> LabellingRisk:
        kind = LatentLabellingRisk if self.samples.bags else LabellingRisk
        return kind(self.relevant, self.J, self.edges, self.samples)

    def score_risk(self, loss: str) -> ScoreRisk:
        lists = Lists.build(self.relevant)
        return ScoreRisk(lists, losses.get(loss).bind(lists), self.edges, self.samples)

    def true_risk(self, loss: str, raw: np.ndarray) -> float:
        return losses.get(loss).most_violated(self.scores(raw), self.relevant).value


def value(risk: Any, raw: np.ndarray) -> float:
    offset, weights = risk.cut(raw)
    return float(offset + weights @ raw)


def test_labelling_risk_and_its_cuts(rng: np.random.Generator) -> None:
    for _ in range(1500):
        case = Case(rng)
        risk, raw = case.labelling(), case.raw(10 ** rng.uniform(-2, 2))
        unary, costs = case.split(raw)
        expected = related.labelling_risk(unary, case.pairs, costs, case.relevant, case.J)
        assert value(risk, raw) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        offset, weights = risk.cut(raw)
        for other in (case.raw(), case.raw(10.0)):
            unary, costs = case.split(other)
            above = related.labelling_risk(unary, case.pairs, costs, case.relevant, case.J)
            assert offset + weights @ other <= above + 1e-9 * (1 + abs(above))


def test_without_edges_labelling_is_a_hinge_with_margins(rng: np.random.Generator) -> None:
    for _ in range(200):
        case = Case(rng)
        case.pairs, case.edges = [], np.empty((0, 2), dtype=np.int64)
        raw = case.raw(3.0)[: case.n]
        margin, sign = np.where(case.relevant, case.J, 1.0), np.where(case.relevant, 1.0, -1.0)
        hinge = np.maximum(0.0, margin - sign * raw).sum() / margin.sum()
        assert value(case.labelling(), raw) == pytest.approx(hinge)


@pytest.mark.parametrize("bags", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_score_risk_is_tight_where_frozen_and_above_elsewhere(
    loss: str, bags: bool, rng: np.random.Generator
) -> None:
    for _ in range(120):
        case = Case(rng, bags=bags)
        risk, here = case.score_risk(loss), case.raw(10 ** rng.uniform(-1, 1))
        risk.freeze(here)
        truth = case.true_risk(loss, here)
        assert value(risk, here) == pytest.approx(truth, rel=1e-9, abs=1e-9)
        offset, weights = risk.cut(here)
        for there in (case.raw(), case.raw(5.0), here + 0.1 * case.raw()):
            there[case.samples.n_raw :] = np.abs(there[case.samples.n_raw :])
            bound = value(risk, there)
            assert bound >= case.true_risk(loss, there) - 1e-9
            assert offset + weights @ there <= bound + 1e-9 * (1 + abs(bound))  # convex
        assert risk.freeze(here) == (False, None)  # nothing has changed


@pytest.mark.parametrize("bags", [False, True])
@pytest.mark.parametrize("loss", [*LOSSES, "labelling"])
def test_all_points_met_on_a_line_leave_their_cut(loss: str, bags: bool, rng: np.random.Generator) -> None:
    for _ in range(30):
        case = Case(rng, bags=bags)
        risk: Any = case.labelling() if loss == "labelling" else case.score_risk(loss)
        start, step = case.raw(2.0), case.raw(2.0)
        line = risk.line(start, step)
        met = {t: line(t) for t in (0.0, *rng.uniform(0, 3, size=4))}
        cuts = line.cuts()
        assert len(cuts) == 4
        for (t, (height, slope)), (offset, weights) in zip(list(met.items())[1:], cuts, strict=True):
            assert offset + weights @ (start + t * step) == pytest.approx(height, abs=1e-9)
            assert weights @ step == pytest.approx(slope, abs=1e-9)
            kept, same = risk.leave(line, 0.0, t)
            assert kept == offset
            assert same is weights
            for there in (case.raw(), case.raw(10.0)):
                there[case.samples.n_raw :] = np.abs(there[case.samples.n_raw :])
                bound = value(risk, there)
                assert offset + weights @ there <= bound + 1e-9 * (1 + abs(bound))
            if loss != "labelling":  # what a shift needs is still there
                assert len(risk.seats(weights)) == case.n
        assert risk.leave(line, 0.0, 7.0) is None


@pytest.mark.parametrize("bags", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_cuts_survive_a_round_by_a_shift(loss: str, bags: bool, rng: np.random.Generator) -> None:
    """Shifted, the cut of one bound is a cut of the next."""
    moved = 0
    for _ in range(80):
        case = Case(rng, bags=bags)
        risk = case.score_risk(loss)
        risk.freeze(case.raw(2.0))
        cuts = []
        for _turn in range(2):
            offset, weights = risk.cut(case.raw(2.0))
            cuts.append((offset, weights, risk.seats(weights)))
        changed, shift = risk.freeze(case.raw(2.0))
        assert (shift is not None) == changed
        if shift is None:
            continue
        gained = shift(np.array([alpha for _, _, alpha in cuts]))
        for (offset, weights, _), more in zip(cuts, gained, strict=True):
            moved += bool(np.abs(more).max(initial=0.0) > 1e-9)
            for there in (case.raw(), case.raw(5.0), case.raw(20.0)):
                bound = value(risk, there)
                assert offset + (weights + more) @ there <= bound + 1e-9 * (1 + abs(bound))
    assert moved > 10


def test_latent_labelling_risk_is_tight_where_frozen_and_above_elsewhere(rng: np.random.Generator) -> None:
    for _ in range(400):
        case = Case(rng, bags=True)
        risk, here = case.labelling(), case.raw(2.0)
        assert isinstance(risk, LatentLabellingRisk)
        risk.freeze(here)

        def truth(raw: np.ndarray, case: Case = case) -> float:
            unary, costs = case.split(raw)
            return related.labelling_risk(unary, case.pairs, costs, case.relevant, case.J)

        assert value(risk, here) == pytest.approx(truth(here), rel=1e-9, abs=1e-9)
        offset, weights = risk.cut(here)
        for there in (case.raw(), case.raw(5.0)):
            bound = value(risk, there)
            assert bound >= truth(there) - 1e-9
            assert offset + weights @ there <= bound + 1e-9 * (1 + abs(bound))


@pytest.mark.parametrize("loss", [*LOSSES, "labelling"])
@pytest.mark.parametrize("bags", [False, True])
def test_slopes_equal_finite_differences(loss: str, bags: bool, rng: np.random.Generator) -> None:
    """At a generic point the bound is linear around it."""
    for _ in range(60):
        case = Case(rng, bags=bags)
        risk: Any = case.labelling() if loss == "labelling" else case.score_risk(loss)
        size = case.samples.n_raw + len(case.edges)
        here = np.concatenate((rng.normal(size=case.samples.n_raw), 0.05 + rng.random(len(case.edges))))
        if hasattr(risk, "freeze"):
            risk.freeze(np.concatenate((rng.normal(size=case.samples.n_raw), rng.random(len(case.edges)))))
        direction, h = rng.normal(size=size), 1e-7
        line = risk.line(here, direction)
        left, slope, right = line(-h), line(0.0), line(h)
        assert slope[0] == pytest.approx(value(risk, here))
        if abs(left[1] - right[1]) < 1e-9:  # no kink in between
            assert slope[1] == pytest.approx((right[0] - left[0]) / (2 * h), abs=1e-5)
        else:
            assert min(left[1], right[1]) - 1e-9 <= slope[1] <= max(left[1], right[1]) + 1e-9


# --- the optimum ----------------------------------------------------------------------------------


def solve(design: RelatedDesign, risk: Any, C: float, first: int, tol: float = 1e-7) -> Solution:
    cone = slice(first, design.n_columns)
    return minimise_together(design, [Problem(risk, [C], None, cone)], tol=tol, max_iter=4000)[0][0]


def independent(
    rows: list[np.ndarray], limits: list[float], n: int, n_extra: int, C: float, cone: slice
) -> float:
    """min ½‖w‖² + C·ξ over x = (w, ξ, extra), rows·x ≤ limits, ξ ≥ 0, w[cone] ≤ 0."""
    size = n + 1 + n_extra
    P, q = np.zeros((size, size)), np.zeros(size)
    P[:n, :n], q[n] = np.eye(n), C
    floor = np.zeros((1, size))
    floor[0, n] = -1.0
    A = np.vstack((np.array(rows), floor, np.eye(size)[:n][cone]))
    b = np.concatenate((limits, np.zeros(len(A) - len(rows))))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    found = clarabel.DefaultSolver(
        sp.csc_matrix(P), q, sp.csc_matrix(A), b, [clarabel.NonnegativeConeT(len(b))], settings
    ).solve()
    assert "Solved" in str(found.status), found.status
    return float(found.obj_val)


def problem(case: Case, d: int, q: int) -> tuple[RelatedDesign, np.ndarray]:
    """A design and its matrix: u = X v, c = −η Φ w₂."""
    rng, m = case.rng, len(case.edges)
    X, phi, eta = rng.normal(size=(case.n, d)), rng.random((m, q)), 10 ** rng.uniform(-1, 1)
    full = np.zeros((case.n + m, d + q))
    full[: case.n, :d], full[case.n :, d:] = X, -eta * phi
    return RelatedDesign(make_design(X, n_threads=1), make_design(phi, n_threads=1), eta), full


def test_hob_optimum_equals_an_independent_solver(rng: np.random.Generator) -> None:
    for _ in range(60):
        case, d, q = Case(rng), int(rng.integers(1, 4)), int(rng.integers(1, 4))
        design, full = problem(case, d, q)
        C = 10 ** rng.uniform(-1, 2)
        found = solve(design, case.labelling(), C, d)
        delta, features = related.labelling_cuts(case.pairs, case.relevant, case.J)
        rows = [np.append(f, -1.0) for f in features @ full]
        expected = independent(rows, (-delta).tolist(), d + q, 0, C, slice(d, d + q))
        assert found.status is Status.CONVERGED
        assert np.all(found.w[d:] <= 0)
        assert found.objective == pytest.approx(expected, rel=1e-6, abs=1e-7)
        assert found.dual_objective <= expected + 1e-7 * (1 + abs(expected))
        unary, costs = case.split(full @ found.w)
        risk = related.labelling_risk(unary, case.pairs, costs, case.relevant, case.J)
        assert found.objective == pytest.approx(0.5 * found.w @ found.w + C * risk)  # the certificate
        assert found.gap == pytest.approx(max(0.0, found.objective - found.dual_objective) / found.objective)


class Convex:
    """A score risk that stays frozen where it is."""

    def __init__(self, risk: ScoreRisk) -> None:
        self.prepare, self.line, self.cut = risk.prepare, risk.line, risk.cut
        self.hard_cuts, self.curvature = risk.hard_cuts, risk.curvature


def frozen_labelling(case: Case, i: int, raw: np.ndarray) -> np.ndarray:
    """What m_i⁺ of a positive, m_i⁻ of a negative are linear in at a point without ties: Ψ of the best labelling
    of i's component."""
    Y = related.labellings(case.n)
    inside = np.isin(np.arange(case.n), list(related.component_of(i, case.pairs)))
    Y = Y[(Y[:, i] == case.relevant[i]) & ~Y[:, ~inside].any(axis=1)]
    features = related.joint_features(Y, case.pairs)
    return np.asarray(features[np.argmax(features @ raw)])


def test_hoap_inner_optimum_equals_an_independent_solver(rng: np.random.Generator) -> None:
    """Frozen at a point without ties; every ranking is a constraint on z = ±(frozen − t), and every labelling one on
    the free max-marginals t."""
    for _ in range(30):
        case, d, q = Case(rng, n_max=5), int(rng.integers(1, 4)), int(rng.integers(1, 3))
        design, full = problem(case, d, q)
        start = rng.normal(size=d + q)
        start[d:] = -np.abs(start[d:])
        C = 10 ** rng.uniform(-1, 2)
        risk = case.score_risk("ap")
        risk.freeze(full @ start)
        found = solve(design, Convex(risk), C, d)

        n, size = case.n, d + q
        kept = np.array([frozen_labelling(case, i, full @ start) for i in range(n)]) @ full
        sign = np.where(case.relevant, 1.0, -1.0)  # z_i = sign_i (kept_i·w − t_i)
        rows, limits = [], []
        Y = related.labellings(n)
        for i in range(n):
            inside = np.isin(np.arange(n), list(related.component_of(i, case.pairs)))
            for y in Y[(Y[:, i] != case.relevant[i]) & ~Y[:, ~inside].any(axis=1)]:
                row = np.zeros(size + 1 + n)
                row[:size] = (related.joint_features(y[None], case.pairs) @ full)[0]
                row[size + 1 + i] = -1.0
                rows.append(row)
                limits.append(0.0)
        positives, negatives = np.flatnonzero(case.relevant), np.flatnonzero(~case.relevant)
        P, N = len(positives), len(negatives)
        for order in brute_force.all_orders(n):
            delta = brute_force.delta_of("ap", tuple(order < P), 0)
            alpha = np.zeros(n)
            alpha[np.concatenate((positives, negatives))] = (
                2.0 / (P * N) * np.asarray(brute_force.swapped_pairs(order, P))
            )
            row = np.zeros(size + 1 + n)
            row[:size], row[size], row[size + 1 :] = (alpha * sign) @ kept, -1.0, -alpha * sign
            rows.append(row)
            limits.append(-delta)
        expected = independent(rows, limits, size, n, C, slice(d, size))
        assert found.status is Status.CONVERGED
        assert found.objective == pytest.approx(expected, rel=1e-6, abs=1e-7)
        assert found.dual_objective <= expected + 1e-7 * (1 + abs(expected))


@pytest.mark.parametrize("bags", [False, True])
@pytest.mark.parametrize("loss", ["ap", "hinge", "labelling"])
def test_objective_never_rises(loss: str, bags: bool, rng: np.random.Generator) -> None:
    """And it is the true one: that of the scores, or of the best labelling, by enumeration."""
    if loss == "labelling" and not bags:
        pytest.skip("convex")
    for _ in range(40):
        case, d, q = Case(rng, bags=bags), int(rng.integers(1, 4)), int(rng.integers(1, 3))
        m = len(case.edges)
        X, phi = rng.normal(size=(case.samples.n_raw, d)), rng.random((m, q))
        design = RelatedDesign(make_design(X, n_threads=1), make_design(phi, n_threads=1), 1.0)
        C = 10 ** rng.uniform(-1, 2)
        risk: Any = case.labelling() if loss == "labelling" else case.score_risk(loss)
        start = rng.normal(size=d + q)
        start[d:] = -np.abs(start[d:])
        cone = slice(d, d + q)
        found: Any = minimise_together(
            design, [Problem(risk, [C], start if rng.random() < 0.7 else None, cone)], tol=1e-4
        )[0][0]
        path = np.array(found.objective_path)
        assert np.all(np.diff(path) <= 1e-9 * path[0])
        raw = np.concatenate((X @ found.w[:d], -phi @ found.w[d:]))
        if loss == "labelling":
            unary, costs = case.split(raw)
            truth = related.labelling_risk(unary, case.pairs, costs, case.relevant, case.J)
        else:
            truth = case.true_risk(loss, raw)
        assert found.objective == pytest.approx(0.5 * found.w @ found.w + C * truth, rel=1e-8, abs=1e-10)
        assert found.objective == pytest.approx(path[-1])


def test_best_instance_of_equal_ones_is_the_first() -> None:
    samples = Samples(3, np.array([0, 2, 3, 6]))
    raw = np.array([1.0, 1.0, -5.0, 0.0, 2.0, 2.0, 9.0])
    assert samples.best(raw).tolist() == [0, 2, 4]
    assert Samples(2).best(raw).tolist() == [0, 1]
