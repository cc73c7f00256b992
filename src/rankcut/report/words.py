"""Comparisons in words: what the folds say, and no more."""

from __future__ import annotations

from collections.abc import Sequence

import scipy.sparse as sp

from rankcut.report.comparison import INNER_FOLDS, Certificate, Comparison

SURE = 0.05  # the p-value below which a difference counts as more than chance


def signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def precision(comparison: Comparison, method: int) -> str:
    """Mean ± standard deviation over the folds."""
    values = comparison.column(method, "average_precision")
    spread = f" ± {values.std(ddof=1):.4f}" if len(values) > 1 else ""
    return f"{values.mean():.4f}{spread}"


def difference(comparison: Comparison) -> tuple[str, str]:
    """The mean difference with its interval, and the p-value."""
    test = comparison.test()
    if test is None:
        return "–", "–"
    interval = f"[{signed(test.low)}, {signed(test.high)}]"
    return f"{signed(test.mean_difference)} {interval}", p_value(test.t_pvalue)


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def verdict(comparison: Comparison) -> str:
    """Who is ahead, and whether that could be chance."""
    test = comparison.test()
    if test is None:
        return "one fold is not enough to compare"
    names = [method.name for method in comparison.methods]
    if abs(test.mean_difference) < 5e-5:
        return f"{names[0]} and {names[1]} are equal to four digits"
    ahead = names[1] if test.mean_difference > 0 else names[0]
    size = f"{ahead} is ahead by {abs(test.mean_difference):.4f}"
    p = "p " + ("" if test.t_pvalue < 0.001 else "= ") + p_value(test.t_pvalue)
    if missing(comparison):  # stopping early, at will, spoils the test
        return f"{size} on the {test.n} folds that were finished"
    if test.t_pvalue < SURE:
        return f"{size}, more than chance explains ({p})"
    return f"{size}, but {test.n} folds cannot tell that from chance ({p})"


def notes(comparisons: Sequence[Comparison]) -> list[str]:
    """What else one should know: how near the optimum, and which fits did not get there."""
    found: list[Certificate] = []
    for each in comparisons:
        found += [outcome.certificate for fold in each.folds for outcome in fold if outcome.certificate]
    sentences = []
    if found:
        worst = max(each.gap for each in found)
        sentences.append(f"Each final RankSVM fit is proven to be within {100 * worst:.2g} % of its optimum.")
    for m, method in enumerate(comparisons[0].methods):
        count = sum(int(each.column(m, "unfinished").sum()) for each in comparisons)
        if count:
            fits = sum(len(each.folds) for each in comparisons) * (INNER_FOLDS * len(method.grid) + 1)
            sentences.append(f"{method.name} stopped before it had converged in {count} of {fits} fits.")
    return sentences


def missing(comparison: Comparison) -> str | None:
    """What an interruption left out."""
    done, wanted = len(comparison.folds), comparison.n_folds
    return None if done == wanted else f"stopped after {done} of {wanted} folds"


def protocol(comparison: Comparison) -> str:
    """How the numbers come about."""
    scaling = (
        "divided by their largest magnitude (which leaves 0/1 features as they are)"
        if sp.issparse(comparison.data.X)
        else "centred and divided by their standard deviation"
    )
    grids = "; ".join(f"{m.name}: {', '.join(f'{C:g}' for C in m.grid)}" for m in comparison.methods)
    return (
        f"{comparison.n_folds} stratified folds. In each, C is chosen by the mean average precision over {INNER_FOLDS} "
        f"inner folds of the training part ({grids}); the method is then fitted on the whole training part and "
        f"scored once on the test part. Features are {scaling}, over the rows trained on. "
        "All other parameters are the methods’ defaults."
    )


def significance(comparison: Comparison) -> str:
    """How the differences are tested."""
    return (
        "The interval (95 %) and p are those of a paired t-test over the folds. Folds share training rows, so "
        f"the variance is s² (1/K + 1/(K − 1)) for K = {comparison.n_folds} folds (Nadeau and Bengio, 2003)."
    )
