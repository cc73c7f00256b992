"""Weak labels: the family on real bags, the character experiment, the supervision curve, and inference.

Everything is fitted in lockstep (benchmarks/weak_fits.py). The quick run takes 2 characters and musk1, --full all: that
takes about 35 minutes of one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, weak_sets, weak_ssvm, weak_words
from benchmarks.table import Table
from benchmarks.weak_fits import Job, Setting, climb, means
from benchmarks.weak_sets import Pooled
from benchmarks.weak_words import Outcome, Words
from rankcut import losses
from rankcut.losses import joint_ap
from rankcut.metrics import paired_test

# Repeats, and folds of each.
SETS = {"musk1": (3, 10), "elephant": (3, 10), "tiger": (3, 10), "corel2000": (1, 10), "birdsong_hja": (1, 5)}
MEASURES = {
    "ap": "pooled AP",
    "unscaled": "pooled AP, unscaled",
    "within": "AP in each fold",
    "accuracy": "accuracy",
}
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def run(full: bool = False) -> list[Table]:
    if not data.available():
        table = Table("weak labels", [], [])
        table.note(data.MISSING)
        return [table]
    words = weak_words.load_words(None if full else 2)
    outcomes = character_methods(words)
    sizes = SETS if full else {"musk1": (1, 10)}
    studies = {name: set_studies(name, *size) for name, size in sizes.items()}
    return [
        characters(words.names, outcomes),
        character_summary(outcomes),
        sets(
            {
                name: {method: study.held_out(score) for method, (study, score) in found.items()}
                for name, found in studies.items()
            },
            sizes,
        ),
        supervision(curves(words, outcomes, studies.get("birdsong_hja", {}))),
        inference((100, 200) if full else (50, 100)),
        weak_ssvm.beside(folds=10 if full else 3),
    ]


# --- characters ------------------------------------------------------------------------------------------------


def character_methods(words: Words) -> dict[str, Outcome]:
    ap = weak_words.Grid([Setting("ap")])
    return {
        "RankSVM, mean": weak_words.run_method(weak_words.summarised(words, "mean"), ap),
        "RankSVM, max": weak_words.run_method(weak_words.summarised(words, "max"), ap),
        **{name: weak_words.run_method(words, grid) for name, grid in weak_words.GRID.items()},
    }


def characters(names: Sequence[str], outcomes: Mapping[str, Outcome]) -> Table:
    table = Table(
        "weak: which words contain a character? Test AP by character",
        ["character", *outcomes, *(f"right window, {name}" for name in weak_words.GRID)],
        ["", *[".3f"] * len(outcomes), *[".2f"] * len(weak_words.GRID)],
    )
    located = [outcomes[name].located for name in weak_words.GRID]
    for k, name in enumerate(names):
        table.add(name, *(float(o.ap[k]) for o in outcomes.values()), *(float(share[k]) for share in located))
    means = [float(o.ap.mean()) for o in outcomes.values()]
    table.add("mean", *means, *(float(share.mean()) for share in located))
    table.note(
        f"A word is a bag of windows (HOG, 324 numbers); {weak_words.FOLDS}-fold cross-validation on the 2,000 "
        f"training words for C in {_listed(weak_words.PATH)}, each from the end of the one below (and J in 1, N/P, "
        f"c in 0, .3), {weak_words.STARTS} starts in the final fit (from the mean windows and from two random draws), "
        "tested on 3,000 words. After SVM: each start goes through latent SVM first (J = 1, C = 300). A window is "
        "right if it lies on the character with an overlap above ½; over the test words that have the character."
    )
    return table


def character_summary(outcomes: Mapping[str, Outcome]) -> Table:
    table = Table(
        "weak: latent AP-SVM against the others, over the characters",
        ["against", "mean difference in AP", "95 % interval", "p (t)", "p (Wilcoxon)", "better on"],
        ["", "+.4f", "", ".2g", ".2g", ""],
    )
    ours = outcomes["latent AP-SVM"].ap
    for name, other in outcomes.items():
        if name == "latent AP-SVM":
            continue
        test = paired_test(ours, other.ap)
        table.add(
            name,
            test.mean_difference,
            f"{test.low:+.4f} to {test.high:+.4f}",
            test.t_pvalue,
            test.wilcoxon_pvalue,
            f"{int(np.sum(ours > other.ap))} of {len(ours)}",
        )
    seconds = ", ".join(f"{name} {o.seconds[0]:.0f} + {o.seconds[1]:.0f}" for name, o in outcomes.items())
    table.note(f"Seconds of cross-validation + final fits, all characters: {seconds}.")
    return table


# --- sets ------------------------------------------------------------------------------------------------------


# A method's nested cross-validation of a set, and the inner folds' scores.
Studied = Mapping[str, tuple[weak_sets.Nested, NDArray[np.float64]]]


def set_methods(name: str, repeats: int, n_folds: int = 10) -> dict[str, list[Pooled]]:
    studies = set_studies(name, repeats, n_folds)
    return {method: study.held_out(score) for method, (study, score) in studies.items()}


def set_studies(name: str, repeats: int, n_folds: int) -> Studied:
    found, studies = weak_sets.load_sets(name), {}
    for method in weak_sets.GRID:
        study = weak_sets.Nested(found, method, repeats=repeats, n_folds=n_folds)
        studies[method] = study, study.validate()
    return studies


def sets(
    found: Mapping[str, Mapping[str, list[Pooled]]], sizes: Mapping[str, tuple[int, int]] = SETS
) -> Table:
    """Means over classes and repeats."""
    methods = list(weak_sets.GRID)
    table = Table(
        "weak: nested cross-validation on real bags",
        ["bags", "held out", *methods],
        ["", "", *[".3f"] * len(methods)],
    )
    for name, outcome in found.items():
        for measure, title in MEASURES.items():
            values = [
                np.mean([getattr(each, measure).mean() for each in outcome[method]]) for method in methods
            ]
            table.add(name, title, *map(float, values))
    for other in methods[1:]:
        for measure in ("ap", "within"):
            pairs = [
                (getattr(ours, measure).mean(), getattr(theirs, measure).mean())
                for outcome in found.values()
                for ours, theirs in zip(outcome[methods[0]], outcome[other], strict=True)
            ]
            if len(pairs) > 1:
                test = paired_test(*np.transpose(pairs))
                table.note(
                    f"{methods[0]} − {other}: {test.mean_difference:+.4f} {MEASURES[measure]} over {test.n} labellings "
                    f"({test.low:+.4f} to {test.high:+.4f}; p = {test.t_pvalue:.2g} by t, "
                    f"{test.wilcoxon_pvalue:.2g} by Wilcoxon); better on {sum(a > b for a, b in pairs)}."
                )
    shape = "; ".join(f"{name} {sizes[name][0]} × {sizes[name][1]}" for name in found)
    table.note(
        f"Repeats × folds outside: {shape}. Inside {weak_sets.INNER} folds; C in {_listed(weak_sets.PATH)}, J in 1, "
        f"N/P, c in 0, .3; inside one start (the mean instances), outside the best objective of {weak_sets.STARTS}. "
        "Scores of a fold's model are divided by their root mean square over its training bags before they are pooled. "
        "Published on musk1 with linear models (accuracy / pooled AP): NSK .859 / .870, MISVM .761 / .843."
    )
    return table


# --- supervision -----------------------------------------------------------------------------------------------


def curves(
    words: Words, outcomes: Mapping[str, Outcome], birds: Studied
) -> dict[tuple[str, str], list[float]]:
    """Test AP by share, of words and of recordings, for each method."""
    found = {
        ("words", name): supervised(words, outcomes[name].chosen, SHARES)
        for name in ("latent AP-SVM", "latent SVM")
    }
    if birds:
        known = weak_sets.load_sets("birdsong_hja").known
        for name, (study, score) in birds.items():
            if name != "RankSVM, mean":
                found["birdsong", name] = weak_sets.supervised(study, score, known, SHARES)
    return found


def supervision(found: Mapping[tuple[str, str], Sequence[float]]) -> Table:
    """Test AP against the share S of relevant bags of which an instance is known."""
    table = Table(
        "weak: supervision, mean test AP by the share of relevant bags whose instance is known",
        ["bags", "method", *(f"S = {100 * share:.0f} %" for share in SHARES)],
        ["", "", *[".3f"] * len(SHARES)],
    )
    for (bags, name), curve in found.items():
        table.add(bags, name, *curve)
    table.note(
        "C, J and c as chosen at S = 0; words from one start, the mean windows. The instances of other bags stay free: "
        "one that is not relevant is so whatever its instance. Not every word has a window that overlaps the "
        "character by half, nor every recording a labelled segment of the species; S is a share of those that have. "
        "A bag is ranked by its best instance, however it was trained."
    )
    return table


def supervised(words: Words, chosen: Sequence[tuple[Setting, float]], shares: Sequence[float]) -> list[float]:
    bags, every = words.train, np.ones(len(words.train), dtype=bool)
    curve = []
    for share in shares:
        known = weak_words.known_rows(words, share, np.random.default_rng(5))
        jobs = [
            Job(words.Y[:, k], every, setting, weak_words.up_to(C), bags.offsets[:-1], known[k])
            for k, (setting, C) in enumerate(chosen)
        ]
        fits = climb(bags, means(bags), jobs, tol=1e-3)
        ap, _ = weak_words.tested(words, np.stack([path[-1].w for path in fits]))
        curve.append(float(ap.mean()))
    return curve


# --- inference -------------------------------------------------------------------------------------------------


def inference(sizes: Sequence[int] = (100, 200), bag_size: int = 20) -> Table:
    """Loss-augmented inference of latent SSVM, latent AP-SVM and latent SVM, from the instances' scores."""
    table = Table(
        "weak: CPU seconds of one loss-augmented inference, from the scores of the instances",
        ["bags of 20", "scores", "latent SVM", "latent AP-SVM", "latent SSVM", "latent SSVM / AP-SVM"],
        ["", "", ".2g", ".2g", ".2g", ",.0f"],
    )
    growth: dict[str, list[tuple[int, float]]] = {}
    for n in sizes:
        for how, scale in (("first iterations", 0.02), ("on the way", 0.3), ("trained", 3.0)):
            times = _inference_times(n, bag_size, scale)
            table.add(
                f"{n:,}",
                how,
                times["hinge"],
                times["ap"],
                times["ssvm"],
                times["ssvm"] / times["ap"],
            )
            growth.setdefault(how, []).append((n, times["ssvm"]))
    for how, points in growth.items():
        (n0, t0), (n1, t1) = points[0], points[-1]
        power = np.log(t1 / t0) / np.log(n1 / n0)
        table.note(
            f"latent SSVM, {how}: grows as n^{power:.1f} between {n0} and {n1} bags; extrapolated to 1,940 bags: "
            f"{t1 * (1940 / n1) ** power:,.3g} s."
        )
    table.note(
        "Half of the bags are relevant; scores are normal, shifted by half a deviation in relevant bags, and scaled as "
        "they come up during training. Least of several runs."
    )
    return table


def _inference_times(n: int, bag_size: int, scale: float) -> dict[str, float]:
    rng = np.random.default_rng(n)
    y = np.arange(n) < n // 2
    z = scale * (rng.normal(size=(n, bag_size)) + 0.5 * y[:, None])
    runs = {
        "hinge": lambda: losses.get("hinge").most_violated(z.max(axis=1), y),
        "ap": lambda: losses.get("ap").most_violated(z.max(axis=1), y),
        "ssvm": lambda: joint_ap.most_violated(z.max(axis=1), z.min(axis=1), y),
    }
    return {name: _cpu_seconds(run) for name, run in runs.items()}


def _cpu_seconds(run: Callable[[], object]) -> float:
    """The least of several runs; one that takes seconds is run once. Each of them uses one thread."""
    least, spent = np.inf, 0.0
    while spent < 0.5:
        began = time.process_time()
        run()
        least = min(least, time.process_time() - began)
        spent += max(least, 1e-3)
    return float(least)


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:,g}" for value in values)
