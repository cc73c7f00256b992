"""The pictures of a report, each with the table of its numbers."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankcut.report.svg import Plot
from rankcut.report.tables import Table

Floats = NDArray[np.float64]
SIZE = (680, 380)
WIDE = (12, 16, 44, 76)  # margins, with room for long numbers on the left
COLOURS = 6  # as many as the page has; then lines are dashed
BINS = 30
ROWS = 40  # of a table behind a picture
FIFTHS = [k / 5 for k in range(6)]


class Chart(NamedTuple):
    picture: str  # SVG
    table: Table


def precision_recall(
    curves: Mapping[str, tuple[Sequence[float], float]], recalls: Floats, chance: float | None
) -> Chart:
    """`curves` gives precision at `recalls` and the average precision, by name."""
    plot = Plot(SIZE, (0.0, 1.0), (0.0, 1.0))
    plot.grid(FIFTHS, FIFTHS)
    plot.labels("recall", "precision")
    if chance is not None:
        plot.line([0, 1], [chance, chance], "chance")
    for k, (precision, _) in enumerate(curves.values()):
        plot.line([0, *recalls, 1], [precision[0], *precision, precision[-1]], style(k))
    _legend(
        plot,
        [f"{name}, average precision {ap:.4f}" for name, (_, ap) in curves.items()],
        (0.0, 1.0),
        (0.0, 1.0),
    )
    rows = [
        (f"{recalls[k]:.3f}", *(f"{precision[k]:.4f}" for precision, _ in curves.values()))
        for k in range(4, len(recalls), 5)
    ]
    return Chart(
        plot.draw("Precision–recall curves", f"Precision of {', '.join(curves)} at recall 0 to 1."),
        Table("Precision by recall", ("recall", *curves), rows),
    )


def histogram(scores: Floats, relevant: NDArray[np.bool_]) -> Chart:
    """The share of either class in each of BINS equal bins."""
    low, high = float(scores.min()), float(scores.max())
    if not high > low:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, BINS + 1)
    counts = [np.histogram(scores[which], edges)[0] for which in (relevant, ~relevant)]
    shares = [count / max(1, count.sum()) for count in counts]
    top = float(max(share.max() for share in shares)) * 1.15
    plot = Plot(SIZE, (low, high), (0.0, top), margins=WIDE)
    plot.marks(_names(low, high), _names(0.0, top))
    plot.labels("score", "share of its class")
    for k, share in enumerate(shares):
        plot.line(np.repeat(edges, 2)[1:-1].tolist(), np.repeat(share, 2).tolist(), style(k))
    _legend(plot, ["relevant", "others"], (low, high), (0.0, top), high_up=True)
    rows = [
        (f"{edges[i]:.4g} to {edges[i + 1]:.4g}", str(counts[0][i]), str(counts[1][i]))
        for i in range(BINS)
        if counts[0][i] or counts[1][i]
    ]
    return Chart(
        plot.draw("Scores by class", "Histograms of the scores of relevant and other rows."),
        Table("Rows by score", ("score", "relevant", "others"), rows),
    )


def convergence(history: Sequence[Any]) -> Chart:
    """The relative gap by cut, on a logarithmic scale, with what it had cost."""
    gaps = np.array([max(record.gap, 1e-16) for record in history])
    logs = np.log10(gaps)
    low, high = math.floor(logs.min()), max(math.ceil(logs.max()), math.floor(logs.min()) + 1)
    width = max(1, len(history) - 1)
    plot = Plot(SIZE, (0.0, float(width)), (float(low), float(high)), margins=WIDE)
    plot.marks(
        _names(0.0, float(width), whole=True),
        {float(k): f"1e{k}".replace("-", "−") for k in range(low, high + 1)},
    )
    plot.labels("cut", "relative duality gap")
    plot.line(list(range(len(history))), logs.tolist(), style(0))
    rows = []
    for i in thinned(len(history)):
        r = history[i]
        passes = f"{r.forward_passes:.1f}", f"{r.backward_passes:.1f}"
        rows.append(
            (
                str(i),
                f"{r.objective:.6g}",
                f"{r.dual_objective:.6g}",
                f"{r.gap:.2e}",
                *passes,
                f"{r.seconds:.3f}",
            )
        )
    heads = ("cut", "objective", "dual objective", "gap", "passes X w", "passes Xᵀ α", "seconds")
    return Chart(
        plot.draw("Convergence", "The relative duality gap after each cut; the numbers are in the table."),
        Table("Objective, lower bound and passes over the data", heads, rows),
    )


def heat_map(ranks: NDArray[np.integer[Any]], n_positives: int, cuts: Sequence[int]) -> Chart:
    """The interleaving rank of negatives (columns, the hardest at the end first) after some cuts (rows): how many
    positives the most violated ranking places above each. Light: below all positives."""
    share = ranks / max(1, n_positives)
    dark, light = np.array([124, 29, 29]), np.array([250, 243, 221])
    pixels = np.rint(dark + share[:, :, None] * (light - dark)).astype(np.uint8)
    plot = Plot(SIZE, (0.0, float(ranks.shape[1])), (float(len(cuts)), 0.0))
    plot.marks({}, {i + 0.5: str(cuts[i]) for i in thinned(len(cuts), 8)})
    plot.image(_png(pixels))  # over the lines of the grid
    plot.labels("negatives, those that rank highest at the end on the left", "cut")
    rows = []
    for i in thinned(len(cuts), 20):
        quantiles = np.quantile(ranks[i], (0.0, 0.25, 0.5, 0.75, 1.0), method="nearest")
        below = float(np.mean(ranks[i] == n_positives))
        rows.append((str(cuts[i]), *(str(int(q)) for q in quantiles), f"{100 * below:.1f} %"))
    heads = ("cut", "least", "lower quartile", "median", "upper quartile", "largest", "below all positives")
    return Chart(
        plot.draw(
            "Interleaving ranks", "For each negative, the positives above it in the most violated ranking."
        ),
        Table(f"Interleaving ranks of negatives, of {n_positives} positives", heads, rows),
    )


def style(k: int) -> str:
    return f"c{k % COLOURS}" + (" dashed" if k // COLOURS % 2 else "")


def thinned(n: int, most: int = ROWS) -> list[int]:
    """At most so many of 0 … n − 1, with both ends."""
    return sorted({round(i) for i in np.linspace(0, n - 1, min(n, most))}) if n else []


def _legend(
    plot: Plot, words: Sequence[str], x: tuple[float, float], y: tuple[float, float], *, high_up: bool = False
) -> None:
    width, height = x[1] - x[0], y[1] - y[0]
    for k, text in enumerate(words):
        place = 0.94 - 0.065 * k if high_up else 0.06 + 0.065 * (len(words) - 1 - k)
        at = y[0] + place * height
        plot.line([x[0] + 0.02 * width, x[0] + 0.08 * width], [at, at], style(k))
        plot.word(x[0] + 0.095 * width, at, text)


def _names(low: float, high: float, *, whole: bool = False) -> dict[float, str]:
    """About five round numbers in a range."""
    power = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(power * m for m in (1, 2, 5, 10) if (high - low) / (power * m) <= 6)
    if whole:
        step = max(1.0, round(step))
    first = math.ceil(low / step - 1e-9)
    values = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    return {value: f"{value + 0.0:.6g}".replace("-", "−") for value in values}


def _png(pixels: NDArray[np.uint8]) -> str:
    """A picture of (rows, columns, 3) as an address that holds it."""
    height, width, _ = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    whole = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + base64.b64encode(whole).decode()
