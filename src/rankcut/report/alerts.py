"""What a careful colleague would point out before anybody trusts a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.solvers import Status

TIED = 0.5  # of the rows with the same score
APART = 0.01  # of the objective, between starts
SHOWN = 3  # examples


def of_model(model: Any) -> list[str]:
    """From the fit: gaps that are not closed, a C at the edge of its grid, starts that disagree, lists left out."""
    return [*_gaps(model), *_edge(model), *_starts(model), *_skipped(model)]


def of_ranking(name: str, relevant: NDArray[np.bool_], scores: NDArray[np.float64], qid: Any) -> list[str]:
    """From scores: nothing relevant, nothing else, ties."""
    where = f"{name}: " if name else ""
    found = []
    if not relevant.any() or relevant.all():
        kind = "no row is relevant" if not relevant.any() else "every row is relevant"
        return [f"{where}{kind}, so that there is nothing to measure."]
    if qid is not None:
        _, codes = np.unique(qid, return_inverse=True)
        codes = codes.reshape(-1)
        hits, sizes = np.bincount(codes, relevant), np.bincount(codes)
        empty, full = int(np.sum(hits == 0)), int(np.sum(hits == sizes))
        if empty or full:
            found.append(
                f"{where}{empty} of {len(sizes)} queries have no relevant row and {full} nothing else; "
                "they are left out."
            )
    _, counts = np.unique(scores, return_counts=True)
    if len(counts) == 1:
        found.append(f"{where}all scores are equal: the model does not rank at all.")
    elif counts.max() > TIED * len(scores):
        found.append(
            f"{where}{counts.max():,} of {len(scores):,} rows have the same score; their order means nothing."
        )
    return found


def of_overlap(train_ids: Any, test_ids: Any) -> list[str]:
    """Rows that were trained on and are measured too."""
    both = np.intersect1d(np.asarray(train_ids).astype(str), np.asarray(test_ids).astype(str))
    if not len(both):
        return []
    examples = ", ".join(both[:SHOWN])
    return [f"{len(both):,} ids are in both training and test data ({examples}, …): the test is too kind."]


def of_rows(train: Any, test: Any) -> list[str]:
    """The same, by content, where there are no ids."""
    if train.shape[1] != test.shape[1]:
        return []
    seen = set(_rows(train))
    same = sum(each in seen for each in _rows(test))
    if same <= 0.001 * test.shape[0]:
        return []
    return [
        f"{same:,} of {test.shape[0]:,} test rows are equal to a training row; was the data split before?"
    ]


def of_study(plan: Mapping[str, Any], outcomes: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """From a study's cells (method, outcome): parameters chosen at the edge of their grids, gaps, failures."""
    found = []
    for method in plan["methods"]:
        mine = [outcome for label, outcome in outcomes if label == method["label"]]
        for name, values in method["grid"].items():
            numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
            if len(numbers) < 3 or len(numbers) < len(values):
                continue
            for end, edge in (("smallest", min(numbers)), ("largest", max(numbers))):
                count = sum(outcome.get("params", {}).get(name) == edge for outcome in mine)
                if count > len(mine) / 2:
                    found.append(
                        f"{method['label']}: the {end} {name} ({edge:g}) was chosen in {count} of {len(mine)} splits; "
                        "widen the grid."
                    )
        unfinished = sum(outcome.get("unfinished", 0) for outcome in mine)
        if unfinished:
            found.append(f"{method['label']}: {unfinished} fits stopped before they had converged.")
        errors = [outcome["error"] for outcome in mine if "error" in outcome]
        if errors:
            found.append(f"{method['label']} failed in {len(errors)} of {len(mine)} splits: {errors[0]}")
    return found


def _gaps(model: Any) -> list[str]:
    statuses = getattr(model, "status_", None)
    if statuses is None:
        return []
    statuses = statuses if isinstance(statuses, list) else [statuses]
    gaps = np.ravel(getattr(model, "dual_gap_", np.nan))
    open_ones = [k for k, status in enumerate(statuses) if status is not Status.CONVERGED]
    if not open_ones:
        return []
    worst = float(np.max(gaps[open_ones])) if len(gaps) == len(statuses) else float("nan")
    return [f"The fit is not proven optimal (relative gap {worst:.2g}): {statuses[open_ones[0]]}."]


def _edge(model: Any) -> list[str]:
    results = getattr(model, "cv_results_", None)
    if results is None or "param_C" not in results:
        return []
    tried = np.asarray(results["param_C"], dtype=float)
    found = []
    for C in np.unique(np.ravel(model.C_)):
        if len(np.unique(tried)) > 1 and C in (tried.min(), tried.max()):
            end = "smallest" if tried.min() == C else "largest"
            found.append(f"C = {C:g} is the {end} that was tried; a better one may lie beyond it.")
    return found


def _starts(model: Any) -> list[str]:
    paths = getattr(model, "objective_path_", None)
    if paths is None or len(paths) < 2 or not all(np.ndim(path) == 1 and len(path) for path in paths):
        return []
    ends = np.array([float(path[-1]) for path in paths])
    spread = float(ends.max() - ends.min()) / max(abs(float(ends.min())), 1e-300)
    if spread <= APART:
        return []
    return [
        f"The {len(ends)} starts ended {100 * spread:.1f} % apart in the objective; raise n_init, "
        "and do not read much into single chosen instances."
    ]


def _skipped(model: Any) -> list[str]:
    skipped = int(np.max(np.ravel(getattr(model, "n_skipped_lists_", 0))))
    if not skipped:
        return []
    return [f"{skipped} lists had no relevant row or nothing else and were not trained on."]


def _rows(X: Any) -> list[bytes]:
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        pairs = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [X.indices[a:b].tobytes() + X.data[a:b].astype(np.float64).tobytes() for a, b in pairs]
    return [row.tobytes() for row in np.ascontiguousarray(X, dtype=np.float64)]
