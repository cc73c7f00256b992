"""Bags: pages of digits, of which we only know whether an 8 is somewhere on the page.

Nobody says which digit of a page is the 8. BagRankSVM scores a page by its best digit, finds out which one that is
while it learns, and `choose` shows it on pages that it has never seen.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from rankcut import BagRankSVM, Bags, RankSVM, metrics


def pages(
    X: np.ndarray, digits: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[Bags, np.ndarray, np.ndarray]:
    """Pages of 3 to 8 digits, one page in four with exactly one 8: the pages, whether, and the digits on them."""
    others, eights = np.flatnonzero(digits != 8), np.flatnonzero(digits == 8)
    rows, page = [], []
    for number in range(n):
        on_it = rng.choice(others, rng.integers(3, 9))
        if number % 4 == 0:
            on_it[rng.integers(len(on_it))] = rng.choice(eights)
        rows.append(on_it)
        page.append(np.full(len(on_it), number))
    bags = Bags(X[np.concatenate(rows)], np.concatenate(page))
    return bags, np.arange(n) % 4 == 0, digits[np.concatenate(rows)]


def main() -> None:
    rng = np.random.default_rng(0)
    X, digits = load_digits(return_X_y=True)
    X = X / 16.0
    X_train, X_test, d_train, d_test = train_test_split(X, digits, random_state=0, stratify=digits)
    train, y_train, _ = pages(X_train, d_train, 600, rng)
    test, y_test, on_test = pages(X_test, d_test, 400, rng)

    latent = BagRankSVM(C=300.0, random_state=0).fit(train, y_train)
    print(f"{latent.status_}")
    for number, path in enumerate(latent.objective_path_):
        print(f"start {number}: objective {path[0]:.1f} → {path[-1]:.2f} in {len(path) - 1} rounds")

    means = [np.stack([page.mean(axis=0) for page in bags]) for bags in (train, test)]
    mean = RankSVM(C=300.0).fit(means[0], y_train)
    found = {
        "the best digit": latent.decision_function(test),
        "the mean of its digits": mean.decision_function(means[1]),
    }
    for name, scores in found.items():
        print(f"a page is {name}: average precision {metrics.average_precision(y_test, scores):.3f}")

    chosen = on_test[test.offsets[:-1] + latent.choose(test)]  # the digit that each page is scored by
    print(f"the chosen digit is the 8 on {np.mean(chosen[y_test] == 8):.0%} of the pages that have one")


if __name__ == "__main__":
    main()
