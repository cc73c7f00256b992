"""A table that prints as text and writes itself as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Cell = str | int | float | bool | None


@dataclass
class Table:
    """`formats[i]` is the format of column i, as ".3f"; None and NaN show as a dash; notes go below, one a line."""

    title: str
    columns: Sequence[str]
    formats: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} cells for {len(self.columns)} columns of {self.title!r}")
        self.rows.append([_show(cell, spec) for cell, spec in zip(cells, self.formats, strict=True)])

    def note(self, text: str) -> None:
        self.notes.append(text)

    def text(self) -> str:
        lines = [self.title, "=" * len(self.title)]
        if self.rows:
            lines += _aligned([list(self.columns), *self.rows])
        return "\n".join([*lines, *self.notes, ""])

    def markdown(self) -> str:
        lines = [f"### {self.title}", ""]
        if self.rows:
            align = ["---", *["---:"] * (len(self.columns) - 1)]
            lines += ["| " + " | ".join(row) + " |" for row in [list(self.columns), align, *self.rows]] + [""]
        return "\n".join([*lines, *(f"{note}\n" for note in self.notes)])


def _show(cell: Cell, spec: str) -> str:
    if cell is None or cell != cell:  # NaN
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "NO"
    return cell if isinstance(cell, str) else format(cell, spec)


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return lines
