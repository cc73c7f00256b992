"""The container of bags, and BagRankSVM as scikit-learn sees it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate

from rankcut import BagRankSVM, Bags, Graph, InputError, RankSVM, losses
from rankcut.data.bags import OutOfRange
from rankcut.selection import BagKFold, ComponentKFold, QueryKFold
from rankcut.solvers import Status

LOSSES = ["ap", "auc", "ndcg", "mrr", "precision@3", "hinge"]


def dense(block: Any) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else np.asarray(block)


def make(
    rng: np.random.Generator, n: int = 60, d: int = 5, *, noise: float = 0.5
) -> tuple[Bags, np.ndarray, np.ndarray]:
    """Bags in which one instance of each positive stands out: (bags, y, its number)."""
    sizes, y = rng.integers(1, 6, n), np.arange(n) % 3 == 0
    blocks = [noise * rng.normal(size=(size, d)) for size in sizes]
    stands_out = np.array([rng.integers(0, size) for size in sizes])
    for i in np.flatnonzero(y):
        blocks[i][stands_out[i], :2] += 2.0
    return Bags.from_list(blocks), y, stands_out


# --- the container ------------------------------------------------


@pytest.mark.parametrize("kind", ["float64", "float32", "CSR", "CSC", "list", "frame", "memory map"])
def test_bags_are_sorted_by_id_and_keep_the_order_within(
    rng: np.random.Generator, kind: str, tmp_path: Path
) -> None:
    X, ids = rng.normal(size=(50, 3)), rng.integers(10, 20, 50)
    made: dict[str, Any] = {
        "float64": lambda: X,
        "float32": lambda: X.astype(np.float32),
        "CSR": lambda: sp.csr_matrix(X),
        "CSC": lambda: sp.csc_matrix(X),
        "list": lambda: X.tolist(),
        "frame": lambda: pytest.importorskip("pandas").DataFrame(X),
        "memory map": lambda: _mapped(tmp_path, X),
    }
    given = made[kind]()
    bags = Bags(given, ids)
    assert bags.ids.tolist() == np.unique(ids).tolist()
    assert bags.shape == (len(bags), 3)
    assert bags.offsets[-1] == 50
    for i, number in enumerate(bags.ids):
        np.testing.assert_allclose(dense(bags[i]), X[ids == number], rtol=1e-6)
    assert [dense(block).shape for block in bags] == [(size, 3) for size in bags.sizes]
    np.testing.assert_array_equal(bags.per_bag(2 * ids), 2 * bags.ids)
    assert dense(bags[-1]).shape == dense(bags[len(bags) - 1]).shape
    some = bags[np.array([3, 0, 3])]
    assert isinstance(some, Bags)
    assert some.ids.tolist() == bags.ids[[3, 0, 3]].tolist()
    for block, i in zip(some, [3, 0, 3], strict=True):
        np.testing.assert_array_equal(dense(block), dense(bags[i]))
    mask = np.arange(len(bags)) % 2 == 0
    np.testing.assert_array_equal(bags[mask].ids, bags.ids[::2])
    np.testing.assert_array_equal(dense(bags[mask].instances), dense(bags[::2].instances))
    again = pickle.loads(pickle.dumps(bags))
    np.testing.assert_array_equal(dense(again.instances), dense(bags.instances))
    scaled = bags.with_instances(2 * dense(bags.instances))
    np.testing.assert_allclose(scaled[1], 2 * dense(bags[1]))
    np.testing.assert_array_equal(scaled.per_bag(ids), bags.ids)


def _mapped(folder: Path, X: np.ndarray) -> np.ndarray:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def test_sorted_rows_are_not_copied(rng: np.random.Generator, tmp_path: Path) -> None:
    X, ids = rng.normal(size=(30, 3)), np.repeat(np.arange(6), 5)
    assert Bags(X, ids).instances is X
    assert np.shares_memory(Bags(X, ids)[2:4].instances, X)
    mapped = _mapped(tmp_path, X)
    assert isinstance(Bags(mapped, ids).instances, np.memmap)
    assert Bags(X, [f"p{i}" for i in ids]).ids.tolist() == [f"p{i}" for i in range(6)]


def test_a_list_of_blocks(rng: np.random.Generator) -> None:
    blocks = [rng.normal(size=(size, 4)) for size in (1, 3, 2)]
    bags = Bags.from_list(blocks)
    assert bags.ids.tolist() == [0, 1, 2]
    for ours, theirs in zip(bags, blocks, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    sparse = Bags.from_list([sp.csr_matrix(block) for block in blocks])
    np.testing.assert_array_equal(sparse.instances.toarray(), bags.instances)
    assert repr(bags) == "Bags(3 bags, 6 instances, 4 features)"


X6 = np.zeros((6, 2))


@pytest.mark.parametrize(
    ("name", "make_them"),
    [
        ("X", lambda: Bags(X6[0], [0])),
        ("X", lambda: Bags(np.empty((0, 2)), [])),
        ("X", lambda: Bags([[1.0], [1.0, 2.0]], [0, 1])),
        ("X", lambda: Bags.from_list([])),
        ("X", lambda: Bags.from_list([X6, np.empty((0, 2))])),
        ("X", lambda: Bags.from_list([X6, np.zeros((3, 5))])),
        ("X", lambda: Bags.from_list([X6, X6[0]])),
        ("bag_ids", lambda: Bags(X6, [0, 1])),
        ("bag_ids", lambda: Bags(X6, [0, 1, 2, 3, 4, np.nan])),
        ("bag_ids", lambda: Bags(X6, np.array([0, 1, 2, 3, 4, np.nan], dtype=object))),
        ("bag_ids", lambda: Bags(X6, ["a", "a", "b", "b", "c", np.nan])),
        ("bag_ids", lambda: Bags(X6, np.array(["NaT"] * 2 + ["2026-01-01"] * 4, dtype="datetime64[D]"))),
        ("bag_ids", lambda: Bags(X6, [1, "1", 1, "1", 2, 2])),
        ("bag_ids", lambda: Bags(X6, np.zeros((6, 1)))),
        ("bag_ids", lambda: Bags(X6, np.array([0, "a", None, 2, 3, 4], dtype=object))),
        ("bags", lambda: Bags(X6, np.arange(6))[6]),
        ("bags", lambda: Bags(X6, np.arange(6))[[0, -7]]),
        ("bags", lambda: Bags(X6, np.arange(6))[[0.5]]),
        ("bags", lambda: Bags(X6, np.arange(6))["a"]),
        ("bags", lambda: Bags(X6, np.arange(6))[[True]]),
        ("bags", lambda: Bags(X6, np.arange(6))[[]]),
        ("instances", lambda: Bags(X6, np.arange(6)).with_instances(X6[:3])),
        ("values", lambda: Bags(X6, [0, 0, 0, 1, 1, 1]).per_bag([0, 0, 1, 1, 1, 1])),
        ("values", lambda: Bags(X6, [0, 0, 0, 1, 1, 1]).per_bag([0, 1])),
    ],
)
def test_errors_that_teach(name: str, make_them: Any) -> None:
    with pytest.raises(InputError) as caught:
        make_them()
    assert str(caught.value).startswith(f"{name}: ")
    assert len(str(caught.value)) > 30


def test_out_of_range_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="pass numbers from 0 to 5"):
        Bags(X6, np.arange(6))[17]
    assert issubclass(OutOfRange, InputError)


# --- scikit-learn's tools ------------------------------------------------


def test_splitters_searches_and_scores(rng: np.random.Generator) -> None:
    bags, y, _ = make(rng)
    model = BagRankSVM(C=10, n_init=2, random_state=0)
    assert cross_val_score(model, bags, y, cv=KFold(3, shuffle=True, random_state=0)).min() > 0.6
    scores = cross_val_score(model, bags, y, cv=3, scoring="average_precision", error_score="raise")
    assert scores.min() > 0.8
    search = GridSearchCV(model, {"C": [1.0, 10.0]}, cv=BagKFold(3), scoring="roc_auc", error_score="raise")
    search.fit(bags, y)
    assert search.best_estimator_.predict(bags).shape == y.shape
    assert clone(model).get_params() == model.get_params()


def test_known_and_groups_are_routed(rng: np.random.Generator) -> None:
    bags, y, stands_out = make(rng)
    with sklearn.config_context(enable_metadata_routing=True):
        model = BagRankSVM(C=10, random_state=0).set_fit_request(known=True)
        cv = BagKFold(3)
        found = cross_validate(
            model,
            bags,
            y,
            cv=cv,
            params={"known": stands_out, "groups": np.arange(60) // 2},
            error_score="raise",
        )
        assert len(found["test_score"]) == 3


def test_rows_of_a_bag_that_do_not_agree_are_named() -> None:
    """In the user's words, not in NumPy's."""
    bags = Bags(np.zeros((4, 1)), np.array(["a", "a", "b", "b"]))
    with pytest.raises(InputError, match=r"the rows of bag b do not agree \(1 and 0\)"):
        bags.per_bag(np.array([0, 0, 1, 0]))


def test_bag_k_fold_keeps_shares_and_groups(rng: np.random.Generator) -> None:
    y = rng.random(103) < 0.2
    y[0] = True
    for train, test in BagKFold(5).split(np.zeros((103, 1)), y):
        assert len(np.intersect1d(train, test)) == 0
        assert abs(y[test].sum() - y.sum() / 5) < 1
        assert abs(len(test) - 103 / 5) <= 2
    groups = rng.integers(0, 30, 103)
    seen = []
    for train, test in BagKFold(5, random_state=1).split(np.zeros((103, 1)), y, groups):
        assert not set(groups[train]) & set(groups[test])
        seen += test.tolist()
    assert sorted(seen) == list(range(103))
    with pytest.raises(InputError, match="n_splits"):
        list(BagKFold(104).split(np.zeros((103, 1)), y))


@pytest.mark.parametrize("splitter", [BagKFold, ComponentKFold, QueryKFold])
@pytest.mark.parametrize("n_splits", [1, 2.5, "3", 7, True, None])
def test_numbers_of_folds_that_cannot_be(splitter: Any, n_splits: Any) -> None:
    graph = Graph(np.zeros((6, 1)), np.empty((0, 2), dtype=int))
    folds = splitter(n_splits)
    assert folds.get_n_splits() == n_splits
    with pytest.raises(InputError, match=r"^n_splits: came as"):
        list(folds.split(graph, [0, 1] * 3, np.arange(6)))
    assert repr(splitter(3)) == f"{splitter.__name__}(n_splits=3, random_state=0, shuffle=True)"


# --- the estimator ------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_plain_rows_are_bags_of_one(rng: np.random.Generator, loss: str) -> None:
    X, y = rng.normal(size=(80, 4)), rng.random(80) < 0.3
    ours, theirs = BagRankSVM(C=20, loss=loss).fit(X, y), RankSVM(C=20, loss=loss).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    assert ours.objective_ == theirs.objective_
    np.testing.assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    np.testing.assert_array_equal(ours.choose(X), np.zeros(80))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
def test_all_known_is_rank_svm_on_the_given_instances(
    rng: np.random.Generator, loss: str, sparse: bool
) -> None:
    bags, y, known = make(rng)
    rows = bags.offsets[:-1] + known
    X = sp.csr_matrix(bags.instances) if sparse else bags.instances
    theirs = RankSVM(C=20, loss=loss).fit(X[rows], y)
    ours = BagRankSVM(C=20, loss=loss).fit(bags.with_instances(X), y, known=known)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    assert (ours.objective_, ours.dual_gap_) == (theirs.objective_, theirs.dual_gap_)
    np.testing.assert_array_equal(ours.latent_, known)
    assert len(ours.objective_path_) == 1


@pytest.mark.parametrize("kind", ["float32", "float64", "CSR", "memory map", "list"])
def test_every_kind_of_instances(rng: np.random.Generator, kind: str, tmp_path: Path) -> None:
    bags, y, stands_out = make(rng)
    X = bags.instances
    given: dict[str, Any] = {
        "float32": lambda: bags.with_instances(X.astype(np.float32)),
        "float64": lambda: bags,
        "CSR": lambda: bags.with_instances(sp.csr_matrix(X)),
        "memory map": lambda: bags.with_instances(_mapped(tmp_path, X)),
        "list": lambda: list(bags),
    }
    model = BagRankSVM(C=30, random_state=0).fit(given[kind](), y)
    assert model.status_ is Status.CONVERGED
    assert model.coef_.shape == (1, 5)
    assert (model.latent_[y] == stands_out[y]).mean() > 0.9
    assert (model.choose(given[kind]())[y] == stands_out[y]).mean() > 0.9
    scores = model.decision_function(given[kind]())
    expected = [float(np.max(block @ model.coef_[0])) + model.intercept_[0] for block in bags]
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(model.rank(given[kind]()), np.argsort(-scores, kind="stable"))


@pytest.mark.parametrize("init", ["random", "mean", "instances", "coefficients"])
def test_starts(rng: np.random.Generator, init: str) -> None:
    bags, y, _ = make(rng)
    chosen: Any = {"instances": np.zeros((2, 60), int), "coefficients": rng.normal(size=(3, 5))}.get(
        init, init
    )
    model = BagRankSVM(C=30, n_init=4, init=chosen, random_state=0).fit(bags, y)
    n_starts = {"random": 4, "mean": 1, "instances": 2, "coefficients": 3}[init]
    assert len(model.objective_path_) == n_starts
    assert model.objective_ == min(path[-1] for path in model.objective_path_)
    again = BagRankSVM(C=30, n_init=4, init=chosen, random_state=0, n_jobs=1).fit(bags, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    if init == "coefficients":
        w = chosen[1]
        scores = np.array([np.max(block @ w) for block in bags])
        true = 0.5 * w @ w + 30 * losses.get("ap").most_violated(scores, y).value
        assert model.objective_path_[1][0] == pytest.approx(true)
    warm = BagRankSVM(C=30, warm_start=True, init=chosen, random_state=0).fit(bags, y)
    first = warm.objective_
    warm.fit(bags, y)
    assert len(warm.objective_path_) == 1
    assert warm.objective_ <= first * (1 + 1e-9)


def test_some_known(rng: np.random.Generator) -> None:
    bags, y, stands_out = make(rng, noise=1.0)
    some = np.where(np.arange(60) % 2 == 0, stands_out, -1)
    model = BagRankSVM(C=30, random_state=0).fit(bags, y, known=some)
    np.testing.assert_array_equal(model.latent_[some >= 0], some[some >= 0])
    positives_only = BagRankSVM(C=30, random_state=0).fit(bags, y, known=np.where(y, stands_out, -1))
    assert len(positives_only.objective_path_) == 1 or positives_only.status_ is Status.CONVERGED


def test_many_rankers(rng: np.random.Generator) -> None:
    bags, y, stands_out = make(rng)
    Y = np.column_stack((y, rng.random(60) < 0.4)).astype(int)
    known = np.column_stack((stands_out, np.full(60, -1)))
    both = BagRankSVM(C=10, random_state=0, tol=1e-5).fit(bags, Y, known=known)
    assert both.coef_.shape == (2, 5)
    assert both.latent_.shape == (60, 2)
    assert len(both.objective_path_) == 2
    first = BagRankSVM(C=10, tol=1e-5).fit(bags, Y[:, 0], known=stands_out)
    assert both.objective_[0] == pytest.approx(first.objective_, rel=2e-5)
    np.testing.assert_array_equal(both.latent_[:, 0], stands_out)
    classes = np.where(y, 2, np.arange(60) % 2)
    several = BagRankSVM(C=10, random_state=0, n_init=2).fit(bags, classes)
    assert several.coef_.shape == (3, 5)
    assert set(several.predict(bags)) <= {0, 1, 2}
    assert several.choose(bags).shape == (60, 3)
    assert (several.predict(bags) == 2)[y].mean() > 0.8


def test_queries(rng: np.random.Generator) -> None:
    bags, y, _ = make(rng)
    qid = np.arange(60) // 12
    model = BagRankSVM(C=30, random_state=0).fit(bags, y, qid=qid)
    scores = np.array([np.max(block @ model.coef_[0]) for block in bags])
    risk = losses.get("ap").most_violated(scores, y, qid).value
    assert model.objective_ == pytest.approx(0.5 * (model.coef_**2).sum() + 30 * risk, rel=1e-9)
    assert model.n_lists_ == 5


def test_callbacks_interrupt(rng: np.random.Generator) -> None:
    bags, y, _ = make(rng, noise=1.0)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="interrupted"):
        model = BagRankSVM(C=300, tol=1e-6, random_state=0, callbacks=[lambda event: event.n_iter >= 4]).fit(
            bags, y
        )
    assert model.status_ is Status.INTERRUPTED
    plain = np.random.default_rng(0).permutation(y)  # labels without a meaning take many rounds
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="max_rounds"):
        BagRankSVM(C=300, random_state=0, max_rounds=1, n_init=1).fit(bags, plain)


# --- bad input ------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "known"),
    [
        ("C", {"C": -1}, None),
        ("loss", {"loss": "map"}, None),
        ("n_init", {"n_init": 0}, None),
        ("random_state", {"random_state": "x"}, None),
        ("max_rounds", {"max_rounds": 0}, None),
        ("positive_weight", {"positive_weight": 2.0}, None),
        ("positive_weight", {"positive_weight": 0.0, "loss": "hinge"}, None),
        ("outlier_fraction", {"outlier_fraction": 1.0}, None),
        ("outlier_fraction", {"outlier_fraction": "a"}, None),
        ("trim", {"trim": -0.1}, None),
        ("trim", {"trim": True}, None),
        ("init", {"init": "zero"}, None),
        ("init", {"init": None}, None),
        ("init", {"init": np.zeros(3)}, None),
        ("init", {"init": np.full(5, np.nan)}, None),
        ("init", {"init": np.full(60, 9)}, None),
        ("known", {}, np.full(60, 6)),
        ("known", {}, np.full(60, -2)),
        ("known", {}, np.full(60, 0.5)),
        ("known", {}, np.full(60, np.nan)),
        ("known", {}, np.array(["a"] * 60)),
        ("known", {}, np.zeros(59, int)),
        ("known", {}, np.zeros((60, 3), int)),
    ],
)
def test_bad_parameters_and_known(
    rng: np.random.Generator, name: str, options: dict[str, Any], known: Any
) -> None:
    bags, y, _ = make(rng)
    with pytest.raises(InputError) as caught:
        BagRankSVM(**options).fit(bags, y, known=known)
    assert str(caught.value).startswith(f"{name}: ")


def test_known_outside_its_bag_says_which(rng: np.random.Generator) -> None:
    bags, y, known = make(rng)
    known[17] = bags.sizes[17]
    with pytest.raises(InputError, match=r"bag 17, which has \d; pass a number from 0"):
        BagRankSVM().fit(bags, y, known=known)


def test_bad_bags_and_labels(rng: np.random.Generator) -> None:
    bags, y, _ = make(rng)
    with pytest.raises(InputError, match=r"^y: came with 59 entries for 60 bags"):
        BagRankSVM().fit(bags, y[:59])
    with pytest.raises(InputError, match=r"^y: "):
        BagRankSVM().fit(bags, np.zeros(60))
    broken = bags.instances.copy()
    broken[7, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        BagRankSVM().fit(bags.with_instances(broken), y)
    with pytest.raises(InputError, match=r"^X: bag 1 has no instance"):
        BagRankSVM().fit([np.ones((2, 3)), np.empty((0, 3))], [0, 1])
    with pytest.raises(InputError, match=r"^X: bag 1 has 4 columns where bag 0 has 3"):
        BagRankSVM().fit([np.ones((2, 3)), np.ones((2, 4))], [0, 1])
    model = BagRankSVM().fit(bags, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(bags.with_instances(bags.instances[:, :3]))
