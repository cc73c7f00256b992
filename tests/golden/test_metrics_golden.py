"""Every measure on lists small enough to work out by hand."""

from __future__ import annotations

from math import log2, sqrt

import numpy as np
import pytest

from rankcut import metrics

# Best first: + − + − −
Y = [1, 0, 1, 0, 0]
Z = [5.0, 4.0, 3.0, 2.0, 1.0]
HALF = 1 / log2(3)  # the discount of the second place


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [
        ("exact", (1 + 2 / 3) / 2),
        ("voc2007", (6 * 1 + 5 * 2 / 3) / 11),  # best precision 1 up to recall 0.5, 2/3 beyond
        ("voc2010", (1 + 2 / 3) / 2),
    ],
)
def test_average_precision(interpolation: str, expected: float) -> None:
    assert metrics.average_precision(Y, Z, interpolation=interpolation) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("interpolation", "expected"), [("exact", (1 / 2 + 2 / 3) / 2), ("voc2007", 2 / 3), ("voc2010", 2 / 3)]
)
def test_envelope_lifts_a_dip_in_precision(interpolation: str, expected: float) -> None:
    assert metrics.average_precision([0, 1, 1], [3, 2, 1], interpolation=interpolation) == pytest.approx(
        expected
    )


def test_eleven_points_count_recall_exactly() -> None:
    # Ten relevant rows, an irrelevant one before the fourth: recall 3/10 reaches the point 0.3 (whose float
    # in np.linspace is above 3/10) with precision 1, all later ones with at most 10/11.
    y = [1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1]
    expected = (4 * 1 + 7 * 10 / 11) / 11
    assert metrics.average_precision(y, -np.arange(11), interpolation="voc2007") == pytest.approx(expected)


def test_auc() -> None:
    assert metrics.auc(Y, Z) == pytest.approx(5 / 6)
    assert metrics.auc([1, 0, 1], [1, 1, 0]) == pytest.approx((0.5 + 0) / 2)


def test_ndcg_binary() -> None:
    assert metrics.ndcg(Y, Z) == pytest.approx((1 + 1 / 2) / (1 + HALF))
    assert metrics.ndcg(Y, Z, k=2) == pytest.approx(1 / (1 + HALF))
    assert metrics.ndcg(Y, Z, k=99) == metrics.ndcg(Y, Z)


def test_ndcg_graded() -> None:
    y, z = [2, 3, 0], [3, 2, 1]
    assert metrics.ndcg(y, z, gain="linear") == pytest.approx((2 + 3 * HALF) / (3 + 2 * HALF))
    assert metrics.ndcg(y, z, gain="exponential") == pytest.approx((3 + 7 * HALF) / (7 + 3 * HALF))


def test_mrr() -> None:
    assert metrics.mrr(Y, Z) == 1.0
    assert metrics.mrr([0, 0, 1, 1], [4, 3, 2, 1]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("k", "expected"), [(1, 1), (2, 1 / 2), (3, 2 / 3), (5, 2 / 5), (50, 2 / 5)])
def test_precision_at_k(k: int, expected: float) -> None:
    assert metrics.precision_at_k(Y, Z, k) == pytest.approx(expected)


@pytest.mark.parametrize(("k", "expected"), [(1, 1), (2, 1 / 2), (3, 1), (50, 1)])
def test_precision_at_k_of_what_is_attainable(k: int, expected: float) -> None:
    assert metrics.precision_at_k(Y, Z, k, attainable=True) == pytest.approx(expected)


def test_all_scores_tied() -> None:
    y, z = [1, 0, 0], [7, 7, 7]
    for interpolation in ("exact", "voc2007", "voc2010"):
        assert metrics.average_precision(y, z, interpolation=interpolation) == pytest.approx(1 / 3)
    assert metrics.auc(y, z) == 0.5
    assert metrics.mrr(y, z) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert metrics.ndcg(y, z) == pytest.approx((1 + HALF + 1 / 2) / 3)
    assert metrics.precision_at_k(y, z, 2) == pytest.approx(1 / 3)


def test_tie_across_the_cut() -> None:
    # One row is first for sure, two of the other three rows are tied for the second place.
    assert metrics.precision_at_k([1, 1, 0, 0], [3, 2, 2, 1], 2) == pytest.approx((1 + 1 / 2) / 2)
    assert metrics.mrr([0, 1, 1, 0], [3, 2, 2, 2]) == pytest.approx(2 / 3 * 1 / 2 + 1 / 3 * 1 / 3)


def test_mean_over_queries_leaves_out_those_with_nothing_to_rank() -> None:
    y = [1, 0, 1, 0, 1, 0, 1, 1]
    z = [2, 1, 1, 2, 3, 3, 5, 4]
    qid = ["good", "good", "bad", "bad", "tied", "tied", "all relevant", "all relevant"]
    assert metrics.average_precision(y, z, qid) == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert metrics.auc(y, z, qid) == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert metrics.mrr(y, z, qid) == pytest.approx((1 + 1 / 2 + 3 / 4) / 3)
    assert metrics.ndcg(y, z, qid) == pytest.approx((1 + HALF + (1 + HALF) / 2) / 3)
    assert metrics.precision_at_k(y, z, 1, qid) == pytest.approx((1 + 0 + 1 / 2) / 3)


def test_precision_recall_curve() -> None:
    curve = metrics.precision_recall_curve([1, 0, 1, 0], [3, 2, 2, 1])
    np.testing.assert_allclose(curve.recall, [1 / 2, 1, 1])
    np.testing.assert_allclose(curve.precision, [1, 2 / 3, 1 / 2])
    np.testing.assert_array_equal(curve.threshold, [3, 2, 1])


def test_paired_test() -> None:
    test = metrics.paired_test([2, 4, 6, 8], [1, 2, 3, 4])  # differences 1, 2, 3, 4: s² = 5/3
    error = sqrt(5 / 3 / 4)
    quantile = 3.182446305284263  # of Student's t with 3 degrees of freedom at 0.975
    assert (test.n, test.mean_difference, test.confidence) == (4, 2.5, 0.95)
    assert test.t == pytest.approx(2.5 / error)
    assert test.t_pvalue == pytest.approx(0.030466291662170977)
    assert (test.low, test.high) == pytest.approx((2.5 - quantile * error, 2.5 + quantile * error))
    assert (test.wilcoxon, test.wilcoxon_pvalue) == (0, pytest.approx(2 / 2**4))


def test_paired_test_corrected_for_shared_training_rows() -> None:
    test = metrics.paired_test([2, 4, 6, 8], [1, 2, 3, 4], correction=1 / 3)
    assert test.t == pytest.approx(2.5 / sqrt(5 / 3 * (1 / 4 + 1 / 3)))


def test_paired_test_without_any_difference() -> None:
    test = metrics.paired_test([0.5, 0.7, 0.9], [0.5, 0.7, 0.9])
    assert (test.mean_difference, test.low, test.high) == (0, 0, 0)
    assert (test.t_pvalue, test.wilcoxon_pvalue) == (1, 1)


def test_paired_test_with_the_same_difference_everywhere() -> None:
    test = metrics.paired_test([2, 3, 4], [1, 2, 3])
    assert (test.t, test.t_pvalue, test.low, test.high) == (np.inf, 0, 1, 1)


def test_holm_by_hand() -> None:
    # 4 tests: 0.01 × 4, 0.02 × 3, 0.03 × 2 (raised to the one before it), 0.4 × 1.
    assert metrics.holm([0.02, 0.4, 0.01, 0.03]) == pytest.approx([0.06, 0.4, 0.04, 0.06])
    assert metrics.holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("bad", [[1.2], [-0.1, 0.5], [np.nan], []])
def test_holm_refuses(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="pvalues"):
        metrics.holm(bad)
