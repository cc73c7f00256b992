"""What every measure promises: one contract, all measures through it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from rankcut import metrics
from rankcut.errors import InputError, RankcutError
from rankcut.reference import measures as twins

Measure = Callable[..., float]
Rows = tuple[np.ndarray, np.ndarray]


def precision_at_3(y: Any, scores: Any, qid: Any = None, attainable: bool = False) -> float:
    return metrics.precision_at_k(y, scores, 3, qid, attainable=attainable)


MEASURES: dict[str, tuple[Measure, Measure]] = {
    "ap": (metrics.average_precision, twins.average_precision),
    "ap voc2007": (
        partial(metrics.average_precision, interpolation="voc2007"),
        partial(twins.average_precision, interpolation="voc2007"),
    ),
    "ap voc2010": (
        partial(metrics.average_precision, interpolation="voc2010"),
        partial(twins.average_precision, interpolation="voc2010"),
    ),
    "auc": (metrics.auc, twins.auc),
    "mrr": (metrics.mrr, twins.mrr),
    "ndcg": (metrics.ndcg, twins.ndcg),
    "ndcg@2": (partial(metrics.ndcg, k=2), partial(twins.ndcg, k=2)),
    "precision@3": (precision_at_3, partial(twins.precision_at_k, k=3)),
    "precision@3 attainable": (
        partial(precision_at_3, attainable=True),
        partial(twins.precision_at_k, k=3, attainable=True),
    ),
}
each_measure = pytest.mark.parametrize("measure", [fast for fast, _ in MEASURES.values()], ids=list(MEASURES))


@st.composite
def ranked_rows(draw: st.DrawFn) -> Rows:
    """Labels of both kinds with few tied scores (the twins try every order of tied rows)."""
    y = draw(st.lists(st.integers(0, 1), min_size=2, max_size=7).filter(lambda labels: len(set(labels)) == 2))
    scores = draw(st.lists(st.integers(-4, 4), min_size=len(y), max_size=len(y)))
    return np.array(y), np.array(scores) / 3


def random_rows(rng: np.random.Generator, n: int, levels: int) -> Rows:
    y = rng.permutation(np.arange(n) < rng.integers(1, n)).astype(int)
    return y, rng.integers(0, levels, n) / 7


@given(rows=ranked_rows())
def test_agrees_with_its_twin(rows: Rows) -> None:
    for name, (measure, twin) in MEASURES.items():
        assert measure(*rows) == pytest.approx(twin(*rows), abs=1e-13), name


@pytest.mark.parametrize("levels", [1, 3, 20, 10**9])
def test_agrees_with_scikit_learn(rng: np.random.Generator, levels: int) -> None:
    for _ in range(50):
        y, z = random_rows(rng, int(rng.integers(2, 60)), levels)
        assert metrics.average_precision(y, z) == pytest.approx(average_precision_score(y, z), abs=1e-13)
        assert metrics.auc(y, z) == pytest.approx(roc_auc_score(y, z), abs=1e-13)
        k = int(rng.integers(1, 70))
        assert metrics.ndcg(y, z, k=k) == pytest.approx(ndcg_score(y[None], z[None], k=k), abs=1e-13)
        grades = rng.integers(0, 5, len(y))
        if len(set(grades.tolist())) > 1:
            ours = metrics.ndcg(grades, z, k=k, gain="linear")
            assert ours == pytest.approx(ndcg_score(grades[None], z[None], k=k), abs=1e-13)
            ours = metrics.ndcg(grades, z, gain="exponential")
            assert ours == pytest.approx(ndcg_score(2.0 ** grades[None] - 1, z[None]), abs=1e-13)


@given(rows=ranked_rows(), seed=st.integers(0, 1000))
def test_order_of_rows_does_not_matter(rows: Rows, seed: int) -> None:
    y, z = rows
    shuffle = np.random.default_rng(seed).permutation(len(y))
    for name, (measure, _) in MEASURES.items():
        assert measure(y[shuffle], z[shuffle]) == pytest.approx(measure(y, z), abs=1e-15), name


@given(rows=ranked_rows())
def test_only_the_order_of_scores_matters(rows: Rows) -> None:
    y, z = rows
    transformed = [np.exp(z), 3 * z**3 - 100, np.where(z == z.max(), np.inf, z), z.astype(np.float32)]
    for (name, (measure, _)), scores in product(MEASURES.items(), transformed):
        assert measure(y, scores) == measure(y, z), name


@given(rows=ranked_rows())
def test_is_a_share_and_one_when_all_relevant_come_first(rows: Rows) -> None:
    y, z = rows
    for name, (measure, _) in MEASURES.items():
        assert 0 <= measure(y, z) <= 1 + 1e-15, name
        if name != "precision@3":  # with fewer than three relevant rows it cannot be 1
            assert measure(y, y) == pytest.approx(1), name


@given(rows=ranked_rows(), data=st.data())
def test_never_falls_when_a_relevant_row_rises(rows: Rows, data: st.DataObject) -> None:
    y, z = rows
    # No ties: a relevant row that rises into a block takes the block's threshold, and AP may fall.
    z = z + np.arange(len(z)) * 1e-6
    risen = z.copy()
    risen[data.draw(st.sampled_from(np.flatnonzero(y).tolist()))] += data.draw(st.floats(0, 5))
    assume(len(set(risen)) == len(z))
    for name, (measure, _) in MEASURES.items():
        assert measure(y, risen) >= measure(y, z) - 1e-14, name


@each_measure
def test_queries_are_averaged(measure: Measure, rng: np.random.Generator) -> None:
    lists = [random_rows(rng, int(n), 4) for n in rng.integers(2, 9, 20)]
    y, z = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    qid = np.repeat(np.arange(20), [len(labels) for labels, _ in lists])
    shuffle = rng.permutation(len(y))
    expected = pytest.approx(np.mean([measure(*rows) for rows in lists]), abs=1e-14)
    assert measure(y, z, qid) == expected
    assert measure(y[shuffle], z[shuffle], qid[shuffle]) == expected
    assert measure(y, z, [f"query {number}" for number in qid]) == expected
    assert measure(y, z, [(number, "tuple") for number in qid]) == expected
    assert measure(y, z, pd.Series(qid).astype("category")) == expected


@each_measure
def test_queries_with_one_label_are_left_out(measure: Measure, rng: np.random.Generator) -> None:
    y, z = random_rows(rng, 9, 5)
    more_y, more_z = np.append(y, [1, 1, 0, 0, 0]), np.append(z, [9, 8, 9, 8, 7])
    qid = [1] * 9 + [2] * 2 + [0] * 3
    assert measure(more_y, more_z, qid) == measure(y, z)


@each_measure
@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y == 1,
        lambda y: 2 * y - 1,
        lambda y: y + 1,
        lambda y: y.astype(np.float32),
        lambda y: np.where(y, "relevant", "other"),
        lambda y: ["yes" if label else "no" for label in y],
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
        lambda y: pl.Series(y),
    ],
    ids=["bool", "±1", "1 and 2", "float", "strings", "list", "pandas", "polars"],
)
def test_of_any_two_labels_the_larger_is_relevant(
    measure: Measure, labels: Callable[[np.ndarray], Any], rng: np.random.Generator
) -> None:
    y, z = random_rows(rng, 12, 6)
    assert measure(labels(y), z) == measure(y, z)
    assert measure(labels(y), pd.Series(z, index=np.arange(12)[::-1])) == measure(y, z)
    assert measure(labels(y), pl.Series(z)) == measure(y, z)


@each_measure
@pytest.mark.parametrize(
    ("y", "scores", "qid", "message"),
    [
        ([0, 1], [1, np.nan], None, r"scores: holds 1 NaN entries, the first at row 1; drop"),
        ([0, 1], [1, 2, 3], None, r"scores: came with 3 entries, y with 2; pass"),
        ([0, 1], [[1], [2]], None, r"scores: came with shape \(2, 1\); pass"),
        ([0, 1], ["1", "2"], None, r"scores: came with dtype <U1; pass real numbers"),
        ([0, 1], [1, None], None, r"scores: holds"),
        ([0, 1], np.array([1, "x"], dtype=object), None, r"scores: holds entries that are not numbers"),
        ([0, 1], [1j, 2], None, r"scores: came with dtype complex128; pass real numbers"),
        ([0, 1], [[1], [2, 3]], None, r"scores: came as rows of different lengths"),
        ([], [], None, r"y: came empty; pass"),
        ([0, 0], [1, 2], None, r"y: holds only the label 0; pass"),
        ([0, 1, 2], [1, 2, 3], None, r"y: holds 3 labels \(0, 1, 2, …\), two are needed; pass y == label"),
        ([0.0, np.nan], [1, 2], None, r"y: holds NaN or None; drop"),
        (np.array([0, "a"], dtype=object), [1, 2], None, r"y: holds labels without an order"),
        ([[0, 1]], [1, 2], None, r"y: came with shape \(1, 2\)"),
        ([0, 1], [1, 2], [1], r"qid: came with 1 entries for 2 rows"),
        ([0, 1], [1, 2], [1, 2], r"qid: every query has rows of one label only"),
        (
            [0, 1],
            [1, 2],
            [[1], [1]],
            r"qid: came with entries that are not hashable \(unhashable type: 'list'\)",
        ),
        ([0, 1], [1, 2], np.ones((2, 1)), r"qid: came with shape \(2, 1\)"),
        ([0, 1], [1, 2], np.array([1.0, np.nan]), r"qid: came with NaN"),
    ],
)
def test_unusable_input_is_an_error_that_teaches(
    measure: Measure, y: Any, scores: Any, qid: Any, message: str
) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        measure(y, scores, qid)


def test_input_error_is_a_value_error_and_ours() -> None:
    assert issubclass(InputError, ValueError)
    assert issubclass(InputError, RankcutError)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3", None])
def test_k_is_a_whole_number(k: Any) -> None:
    with pytest.raises(InputError, match=r"^k: came as .*; pass a whole number"):
        metrics.precision_at_k([0, 1], [1, 2], k)


def test_k_may_be_a_numpy_integer() -> None:
    assert metrics.precision_at_k([0, 1], [1, 2], np.int32(1)) == 1


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([0, 1, 2], {}, "gain='linear'"),
        ([0, 1], {"gain": "cubic"}, "^gain: came as 'cubic'; pass one of"),
        ([-1, 1], {"gain": "linear"}, "^y: holds the grade -1, and gains are not negative"),
        ([2, 2], {"gain": "linear"}, "^y: holds only the grade 2"),
        ([0, 5000], {"gain": "exponential"}, "^y: holds the grade 5000, too much"),
        ([0, np.inf], {"gain": "linear"}, "^y: holds 1 NaN or infinite"),
        ([0, 1], {"k": 0}, "^k: came as 0"),
    ],
)
def test_ndcg_rejects_gains_without_a_meaning(y: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics.ndcg(y, np.arange(len(y)), **options)


def test_interpolation_has_three_names() -> None:
    with pytest.raises(InputError, match=r"^interpolation: came as 'voc2012'; pass one of"):
        metrics.average_precision([0, 1], [0, 1], interpolation="voc2012")  # type: ignore[arg-type]


@given(rows=ranked_rows())
def test_curve_sums_to_average_precision(rows: Rows) -> None:
    curve = metrics.precision_recall_curve(*rows)
    assert metrics.average_precision(*rows) == pytest.approx(
        np.diff(curve.recall, prepend=0) @ curve.precision
    )
    assert curve.recall[-1] == 1
    assert (np.diff(curve.threshold) < 0).all()


def test_paired_test_agrees_with_scipy(rng: np.random.Generator) -> None:
    from scipy import stats

    for n in (2, 5, 10, 80):
        a, b = rng.normal(size=n), rng.normal(size=n)
        ours, t, w = metrics.paired_test(a, b, confidence=0.9), stats.ttest_rel(a, b), stats.wilcoxon(a, b)
        assert (ours.t, ours.t_pvalue) == pytest.approx((t.statistic, t.pvalue))
        assert (ours.low, ours.high) == pytest.approx(tuple(t.confidence_interval(0.9)))
        assert (ours.wilcoxon, ours.wilcoxon_pvalue) == pytest.approx((w.statistic, w.pvalue))


def test_paired_test_is_symmetric(rng: np.random.Generator) -> None:
    a, b = rng.integers(0, 4, (2, 20)) / 4
    there, back = metrics.paired_test(a, b), metrics.paired_test(b, a)
    assert there.mean_difference == -back.mean_difference
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert (there.t_pvalue, there.wilcoxon_pvalue) == pytest.approx((back.t_pvalue, back.wilcoxon_pvalue))


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([1], [2], {}, "^a: came with 1 entry; pass at least two"),
        ([1, 2], [1, 2, 3], {}, "^b: came with 3 entries, a with 2"),
        ([1, np.nan], [1, 2], {}, "^a: holds 1 NaN or infinite entries, the first at row 1"),
        ([1, 2], [1, 3], {"confidence": 95}, "^confidence: came as 95; pass a number between 0 and 1"),
        ([1, 2], [1, 3], {"correction": -1}, "^correction: came as -1"),
    ],
)
def test_paired_test_rejects(a: Any, b: Any, options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics.paired_test(a, b, **options)
