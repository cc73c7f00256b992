"""The first stage of a detector: of many windows of an image, hand on the few that are worth a closer look.

The windows' cues are noisy. Preference graphs rank the windows by how well they overlap an object: all of them, the
best 40 over the others, or the best one over the others; a structural SVM predicts the best one. What counts is how
many objects are found among the few windows that are handed on.
"""

import numpy as np

from rankcut import PreferenceRankSVM, StructuralSVM
from rankcut.metrics import intersection_over_union, non_maximum_suppression, recall_overlap

WINDOWS, CUES = 400, 8
rng = np.random.default_rng(0)


def image():
    """Objects, windows around and beside them, each window's cues, and its overlap with the object it fits best."""
    truths = boxes(rng.uniform(60, 440, (2, 2)), rng.uniform(30, 90, (2, 2)))
    near = truths[rng.integers(0, 2, WINDOWS // 2)].reshape(-1, 2, 2).mean(axis=1)
    centres = np.vstack((near, rng.uniform(0, 500, near.shape)))
    windows = boxes(centres + rng.normal(0, 15, centres.shape), rng.uniform(20, 110, centres.shape))
    overlap = intersection_over_union(windows, truths).max(axis=1)
    clear = overlap[:, None] ** np.linspace(0.5, 3, CUES)  # some cues see any overlap, some only a good one
    return truths, windows, clear + rng.normal(0, 0.3, clear.shape), overlap


def boxes(centre, half):
    return np.hstack((centre - half, centre + half))


class BestWindow:
    """The output is a window: its number and its overlap. The loss is how much worse it is than the best."""

    def joint_feature(self, x, y):
        return x[0][y[0]]

    def loss(self, y_true, y):
        return y_true[1] - y[1]

    def loss_augmented(self, w, x, y_true):
        return output(x, np.argmax(y_true[1] - x[1] + x[0] @ w))

    def predict(self, w, x):
        return output(x, np.argmax(x[0] @ w))


def output(x, window):
    return int(window), float(x[1][window])


train, test = [image() for _ in range(30)], [image() for _ in range(30)]
X = np.vstack([cues for *_, cues, _ in train])
y = np.concatenate([overlap for *_, overlap in train])
qid = np.repeat(np.arange(len(train)), WINDOWS)

models = {
    "complete, slack": PreferenceRankSVM(C=100),
    "complete, margin": PreferenceRankSVM(C=100, rescaling="margin"),
    "bipartite, best 40": PreferenceRankSVM(C=100, graph="bipartite", top=40),
    "star": PreferenceRankSVM(C=100, graph="star"),
}
weights = {name: model.fit(X, y, qid=qid).coef_[0] for name, model in models.items()}
inputs = [(cues, overlap) for *_, cues, overlap in train]
outputs = [output(x, np.argmax(x[1])) for x in inputs]
weights["structural SVM"] = StructuralSVM(BestWindow(), C=100).fit(inputs, outputs).coef_[0]

print("area under recall over overlaps 0.5 to 1, of the windows handed on per image")
print(f"{'':20}{'3':>8}{'10':>8}{'50':>8}")
for name, w in weights.items():
    areas = []
    for handed_on in (3, 10, 50):
        kept = [
            windows[non_maximum_suppression(windows, cues @ w, 0.6, most=handed_on)]
            for _, windows, cues, _ in test
        ]
        areas.append(recall_overlap(kept, [truths for truths, *_ in test]).area)
    print(f"{name:20}" + "".join(f"{area:8.3f}" for area in areas))
