"""Ten rankers at once: each digit against the rest, and for each the C that cross-validation prefers.

More than two classes make one ranker each. RankSVMCV trains all of them, on all folds and for all C, with one matrix
product a pass.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from rankcut import RankSVMCV, metrics


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16  # all features are grey levels: one scale for all
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

    model = RankSVMCV(Cs=[10, 100, 1000], cv=3).fit(X_train, y_train)
    scores = model.decision_function(X_test)  # a column for each digit

    print("digit     C   average precision   cuts       gap")
    found = [
        metrics.average_precision(y_test == digit, scores[:, k]) for k, digit in enumerate(model.classes_)
    ]
    for k, digit in enumerate(model.classes_):
        numbers = f"{found[k]:20.4f} {model.n_iter_[k]:6d} {model.dual_gap_[k]:9.1e}"
        print(f"{digit:5d} {model.C_[k]:5g}{numbers}")
    print(f" mean      {np.mean(found):20.4f}")

    best = model.rank(X_test)[:5]  # row numbers, best first, a column for each digit
    print("first five for each digit:", *("".join(map(str, y_test[best[:, k]])) for k in range(10)))


if __name__ == "__main__":
    main()
