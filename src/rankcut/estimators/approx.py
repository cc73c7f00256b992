"""The published approximation of AP-SVM: average precision on the hard samples only.

Stage 1 trains a binary SVM with the same C. Of the samples it gets right with margin ≥ 1, the clearest share
`approx` must stay right (hard constraints y(w·x + b) ≥ 1); average precision is optimised on all others. It
starts from stage 1's w, which satisfies the constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut import losses
from rankcut.data.lists import Lists
from rankcut.designs import Design
from rankcut.errors import InputError
from rankcut.estimators.base import enough, solve
from rankcut.estimators.intercept import balanced_intercept
from rankcut.models import EasySamples, LinearRisk
from rankcut.solvers import Problem, Solution, Status

Floats = NDArray[np.float64]


def hard_problem(
    estimator: Any, design: Design, lists: list[Lists], loss: losses.Loss
) -> tuple[list[LinearRisk], list[Problem], bool]:
    """Run stage 1 for all problems together, and set up stage 2. True: the user has stopped stage 1."""
    hinge = losses.get("hinge", shifted=True)
    inner = design.n_threads if len(lists) == 1 else 1
    stage1 = [
        LinearRisk(each, hinge.bind(each), hinge.sees, n_threads=inner, enough=enough(design))
        for each in lists
    ]
    solved = solve(estimator, design, [Problem(risk, [estimator.C]) for risk in stage1])
    risks, problems = [], []
    for each, risk, (solution, scores) in zip(lists, stage1, solved, strict=True):
        hard, easy = split(each, scores + risk.intercept(scores), estimator.approx)
        bound = loss.bind(hard) if hard.size else None
        risks.append(LinearRisk(hard, bound, loss.sees, n_threads=inner, easy=easy, enough=enough(design)))
        # Lists whose hard samples are all of one kind have R = 0; the mean is over all lists.
        share = len(hard.positives) / len(each.positives)
        problems.append(Problem(risks[-1], [estimator.C * (share or 1.0)], solution.w))
    stopped = any(solution.status is Status.INTERRUPTED for solution, _ in solved)
    return risks, problems, stopped


def clamped_intercepts(
    design: Design, lists: list[Lists], risks: list[LinearRisk], results: list[tuple[Solution, Floats]]
) -> list[float]:
    """Of the intercepts that satisfy the constraints, those of the smallest balanced error on all samples."""
    scores = design.scores(np.stack([solution.w for solution, _ in results]))
    return [
        balanced_intercept(part.gather(z), part.relevant, *risk.allowed(point))
        for part, z, risk, (_, point) in zip(lists, scores, risks, results, strict=True)
    ]


def split(lists: Lists, scores: Floats, share: float) -> tuple[Lists, EasySamples]:
    """The hard samples' lists, and the easy samples; `scores` are stage 1's with its intercept."""
    relevant = lists.relevant
    margin = np.where(relevant, scores, -scores)
    easy = np.flatnonzero(margin >= 1.0 - 1e-9)
    kept = easy[np.argsort(-margin[easy], kind="stable")][: round(share * len(easy))]
    rows = lists.order[kept].astype(np.intp)
    samples = EasySamples(rows[relevant[kept]], rows[~relevant[kept]])
    return _remaining(lists, kept), samples


def _remaining(lists: Lists, dropped: NDArray[np.intp]) -> Lists:
    keep = np.ones(lists.size, dtype=bool)
    keep[dropped] = False
    queries = np.full(lists.n_rows, -1)
    queries[lists.order] = np.repeat(np.arange(len(lists.positives)), np.diff(lists.offsets))
    rows = np.zeros(lists.n_rows, dtype=bool)
    rows[lists.order[keep]] = True
    relevant = np.zeros(lists.n_rows, dtype=bool)
    relevant[lists.order] = lists.relevant
    try:
        return Lists.build(relevant, queries, include=rows)
    except InputError:  # every list's hard samples are all of one kind: R = 0
        none = np.empty(0, dtype=lists.order.dtype)
        return Lists(lists.n_rows, none, np.zeros(1, np.int64), np.empty(0, np.int64), len(lists.positives))
