"""Many latent rankers on the same bags in lockstep: folds, classes and settings, each along its path of C.

An estimator fits one setting. Cross-validation fits hundreds on the same instances: as problems that share their
passes they cost one matrix product instead of hundreds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankcut import losses
from rankcut.data import Bags, Lists
from rankcut.designs import make_design
from rankcut.estimators.base import enough, intercept
from rankcut.estimators.blas import one_blas_thread
from rankcut.models import BagRisk, LatentBagRisk, LinearRisk
from rankcut.selection.choice import choose
from rankcut.solvers import Problem, minimise_together

MEMORY = 1.5e9  # bytes for score vectors of problems under way
VECTORS = 8
MOST_AT_ONCE = 400
RULE = "best"


class Setting(NamedTuple):
    """What cross-validation chooses besides C."""

    loss: str = "ap"
    positive_weight: float | None = None  # J; None means N/P of the training part
    outlier_fraction: float = 0.0  # c

    def bind(self, lists: Lists) -> tuple[Any, str]:
        options: dict[str, Any] = {}
        if self.loss == "hinge":
            P = int(lists.positives.sum())
            weight = (lists.size - P) / P if self.positive_weight is None else self.positive_weight
            options = {"positive_weight": weight, "shifted": True}
        loss = losses.get(self.loss, **options)
        return loss.bind(lists), loss.sees


@dataclass(frozen=True)
class Job:
    """One ranker to fit along a path of C: on the bags `train`. `known` has the row of the instance that is known of
    a bag, or −1. It starts at w, or at 0 with the instances `first` of the positives."""

    relevant: NDArray[np.bool_]
    train: NDArray[np.bool_]
    setting: Setting
    path: Sequence[float]
    first: NDArray[np.int64]
    known: NDArray[np.int64]
    start: NDArray[np.float64] | None = None


class Fit(NamedTuple):
    """At one C: the objective, w, the intercept, and the scores of all bags, trained on or not."""

    objective: float
    w: NDArray[np.float64]
    intercept: float
    scores: NDArray[np.float64]


def fit_all(bags: Bags, jobs: Sequence[Job], *, tol: float, n_threads: int = 1) -> list[list[Fit]]:
    """The fits of each job, along its path."""
    design = make_design(bags.instances, n_threads=n_threads)
    inner = n_threads if len(jobs) == 1 else 1
    risks = [_risk(job, bags, enough(design), inner) for job in jobs]
    fits: list[list[Fit]] = [[] for _ in jobs]

    def solved(number: int, _place: int, solution: Any, point: NDArray[np.float64]) -> None:
        raw = point if isinstance(risks[number], BagRisk) else bags.instances @ solution.w
        scores = np.maximum.reduceat(raw, bags.offsets[:-1])
        sees = "shifted scores" if jobs[number].setting.loss == "hinge" else "differences"
        shift = intercept(risks[number], sees, point)
        fits[number].append(Fit(solution.objective, solution.w.copy(), shift, scores))

    with one_blas_thread():
        minimise_together(
            design,
            [Problem(risk, list(job.path), job.start) for risk, job in zip(risks, jobs, strict=True)],
            tol=tol,
            at_once=max(1, min(MOST_AT_ONCE, int(MEMORY / (8.0 * VECTORS * design.n_rows)))),
            solved=solved,
        )
    return fits


def fit_latent(
    bags: Bags, begin: Bags, jobs: Sequence[Job], *, tol: float, n_threads: int = 1
) -> list[list[Fit]]:
    """The fits of each job at each C of its path, each started from the convex ranker of `begin`: one instance for
    each bag, as its mean or one drawn at random. (From w = 0 with random instances of the positives alone, the best
    instances of negatives may beat them in every direction: then CCCP never leaves 0.)"""
    numbers = np.arange(len(begin))
    convex = [replace(job, known=numbers) for job in jobs]
    begun = fit_all(begin, convex, tol=1e-2, n_threads=n_threads)
    each = [
        replace(job, path=(C,), start=fit.w)
        for job, path in zip(jobs, begun, strict=True)
        for C, fit in zip(job.path, path, strict=True)
    ]
    fits = fit_all(bags, each, tol=tol, n_threads=n_threads)
    ends = np.cumsum([len(job.path) for job in jobs])
    return [
        [path[0] for path in fits[end - len(job.path) : end]] for job, end in zip(jobs, ends, strict=True)
    ]


def climb(bags: Bags, begin: Bags, jobs: Sequence[Job], *, tol: float, n_threads: int = 1) -> list[list[Fit]]:
    """As `fit_latent`, but only the first C of a path starts from the ranker of `begin`, and each other from the end of
    the one before. Where most instances say nothing, as in word images, this ends lower and costs a third."""
    numbers = np.arange(len(begin))
    convex = [replace(job, known=numbers, path=job.path[:1]) for job in jobs]
    begun = fit_all(begin, convex, tol=1e-2, n_threads=n_threads)
    started = [replace(job, start=path[0].w) for job, path in zip(jobs, begun, strict=True)]
    return fit_all(bags, started, tol=tol, n_threads=n_threads)


def means(bags: Bags) -> Bags:
    """One instance a bag: the mean of its own."""
    rows = np.add.reduceat(bags.instances, bags.offsets[:-1], axis=0, dtype=np.float64) / bags.sizes[:, None]
    return Bags(rows.astype(bags.instances.dtype), np.arange(len(bags)))


def drawn(bags: Bags, rng: np.random.Generator) -> Bags:
    """One instance a bag, at random."""
    return Bags(bags.instances[draw_first(bags, rng)], np.arange(len(bags)))


def _risk(job: Job, bags: Bags, enough: int, n_threads: int) -> LinearRisk | BagRisk:
    lists = Lists.build(job.relevant, include=job.train)

    def make(lists: Lists) -> LinearRisk:
        bound, sees = job.setting.bind(lists)
        return LinearRisk(lists, bound, sees, n_threads=n_threads, enough=enough)

    given = np.where(bags.sizes == 1, bags.offsets[:-1], job.known)
    positives = lists.order[lists.relevant]
    if job.setting.outlier_fraction == 0.0 and (given[positives] >= 0).all():
        if len(bags) == bags.offsets[-1]:
            return make(lists)
        return BagRisk(make(lists), bags.offsets, given, n_threads=n_threads)
    return LatentBagRisk(
        lists,
        make,
        bags.offsets,
        given,
        job.first,
        outlier_fraction=job.setting.outlier_fraction,
        n_threads=n_threads,
    )


def draw_first(bags: Bags, rng: np.random.Generator) -> NDArray[np.int64]:
    """A random instance of each bag, by its row."""
    return bags.offsets[:-1] + rng.integers(0, bags.sizes)


def chosen(score: NDArray[np.float64], path: Sequence[float]) -> tuple[int, int]:
    """The setting and the place of C that scores of settings × C × folds choose."""
    settings, places = (index.ravel() for index in np.indices(score.shape[:2]))
    best = choose(score.reshape(len(places), -1), np.asarray(path)[places], settings, RULE)
    return int(settings[best]), int(places[best])


def stratified(
    relevant: NDArray[np.bool_], rows: NDArray[np.intp], n_folds: int, rng: Any
) -> NDArray[np.int64]:
    """The fold of each bag, −1 for those not among the rows; each class is dealt out in random order."""
    fold = np.full(len(relevant), -1)
    begin = 0
    for members in (rows[relevant[rows]], rows[~relevant[rows]]):
        fold[rng.permutation(members)] = (begin + np.arange(len(members))) % n_folds
        begin += len(members)
    return fold
