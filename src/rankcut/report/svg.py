"""Just enough SVG for a plot: a frame with two axes, lines, marks and words. Colours are the page's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape


class Plot:
    """A plot in the making. Points are given in the units of the axes."""

    def __init__(
        self,
        size: tuple[int, int],
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        margins: tuple[int, int, int, int] = (12, 16, 44, 56),
    ) -> None:
        """`x` and `y` are the ranges of the axes; `margins` are top, right, bottom and left."""
        self._width, self._height = size
        self._x, self._y = x, y
        self._top, right, bottom, self._left = margins
        self._right, self._bottom = self._width - right, self._height - bottom
        self._parts: list[str] = []

    def grid(
        self, xs: Iterable[float], ys: Iterable[float], *, digits: int = 1, signed: bool = False
    ) -> None:
        sign = "+" if signed else ""
        self.marks(
            {x: f"{x:{sign}.{digits}f}".replace("-", "−") if x else "0" for x in xs},
            {y: f"{y:.{digits}f}".replace("-", "−") if y else "0" for y in ys},
        )

    def marks(self, xs: Mapping[float, str], ys: Mapping[float, str]) -> None:
        """Lines of the grid, each with its word: a number, or a name of its own, as for logarithms."""
        for x, word in xs.items():
            at = self._px(x)
            self._parts.append(f'<path class="grid" d="M{at} {self._top}V{self._bottom}"/>')
            self._text(at, self._bottom + 18, word, "middle")
        for y, word in ys.items():
            at = self._py(y)
            self._parts.append(f'<path class="grid" d="M{self._left} {at}H{self._right}"/>')
            self._text(self._left - 8, at + 4, word, "end")

    def image(self, address: str) -> None:
        """A picture over the whole frame."""
        self._parts.append(
            f'<image x="{self._left}" y="{self._top}" width="{self._right - self._left}" '
            f'height="{self._bottom - self._top}" preserveAspectRatio="none" href="{escape(address)}"/>'
        )

    def labels(self, x: str, y: str = "") -> None:
        self._text((self._left + self._right) / 2, self._height - 6, x, "middle")
        if y:
            at = (self._top + self._bottom) / 2
            turned = f' transform="rotate(-90 14 {at:g})"'
            self._parts.append(f'<text x="14" y="{at:g}" text-anchor="middle"{turned}>{escape(y)}</text>')

    def below(self, left: str, right: str) -> None:
        """Words at the two ends of the lowest line."""
        self._text(self._left, self._height - 6, left, "start", "quiet")
        self._text(self._right, self._height - 6, right, "end", "quiet")

    def line(self, xs: Sequence[float], ys: Sequence[float], style: str) -> None:
        points = " ".join(f"{self._px(x)},{self._py(y)}" for x, y in zip(xs, ys, strict=True))
        self._parts.append(f'<polyline class="{escape(style)}" points="{points}"/>')

    def dots(self, xs: Sequence[float], ys: Sequence[float], style: str, radius: float = 4) -> None:
        for x, y in zip(xs, ys, strict=True):
            self._parts.append(
                f'<circle class="{escape(style)}" cx="{self._px(x)}" cy="{self._py(y)}" r="{radius:g}"/>'
            )

    def word(self, x: float, y: float, text: str, *, anchor: str = "start", style: str = "") -> None:
        self._text(self._px(x), self._py(y) + 4, text, anchor, style)

    def draw(self, title: str, description: str) -> str:
        """The picture; the description is for those who cannot see it."""
        return (
            f'<svg viewBox="0 0 {self._width} {self._height}" role="img">'
            f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{''.join(self._parts)}</svg>"
        )

    def _text(self, x: float, y: float, text: str, anchor: str, style: str = "") -> None:
        kind = f' class="{escape(style)}"' if style else ""
        self._parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind}>{escape(text)}</text>')

    def _px(self, x: float) -> float:
        low, high = self._x
        return round(self._left + (x - low) / (high - low) * (self._right - self._left), 1)

    def _py(self, y: float) -> float:
        low, high = self._y
        return round(self._bottom - (y - low) / (high - low) * (self._bottom - self._top), 1)


def decades(low: float, high: float, at_most: int = 8) -> dict[float, str]:
    """Marks of a logarithmic axis: the powers of ten between two exponents, not too many of them."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = max(1, math.ceil((last - first + 1) / at_most))
    return {float(k): _power(k) for k in range(first, last + 1, step)}


def _power(k: int) -> str:
    if -3 <= k <= 4:
        return f"{10.0**k:g}"
    return "10" + str(k).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def rounds(low: float, high: float, at_most: int = 6) -> tuple[list[float], int]:
    """Round numbers from low to high, and the digits they need."""
    if not high > low:
        return [low], 3
    power = 10.0 ** math.floor(math.log10((high - low) / at_most))
    step = next(power * m for m in (1, 2, 5, 10) if power * m * at_most >= (high - low) * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)], max(0, -math.floor(math.log10(step) + 1e-9))


def ticks(extent: float, at_most: int = 3) -> tuple[list[float], int]:
    """Round numbers from −extent to extent, at most so many on a side, and the digits they need."""
    if not extent > 0:
        return [0.0], 1
    power = 10.0 ** math.floor(math.log10(extent / at_most))
    step = next(power * m for m in (1, 2, 5, 10) if power * m * at_most >= extent * (1 - 1e-9))
    count = int(extent / step + 1e-9)
    return [k * step for k in range(-count, count + 1)], max(0, -math.floor(math.log10(step) + 1e-9))
