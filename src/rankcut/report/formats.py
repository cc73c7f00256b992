"""Tables as plain text, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from rankcut.errors import InputError
from rankcut.report.tables import Table

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": r"$-$",
    "–": "--",
    "<": r"$<$",
    ">": r"$>$",
    "×": r"$\times$",
}


def write(tables: Sequence[Table], format: str) -> str:
    """All tables, one below the other, in one of `names()`."""
    check(format)
    return "\n\n".join(_FORMATS[format](table) for table in tables) + "\n"


def check(format: str) -> None:
    """Better before the work than after it."""
    if format not in _FORMATS:
        raise InputError(f"format: came as {format!r}; pass one of {', '.join(_FORMATS)}")


def names() -> tuple[str, ...]:
    return tuple(_FORMATS)


def text(table: Table) -> str:
    """The first column to the left, the others to the right; of "LinearSVC, one fit" the second part goes above."""
    heads = [head.split(", ") for head in table.heads]
    lines = [tuple(head[0] for head in heads), *table.rows]
    if any(len(head) > 1 for head in heads):
        lines.insert(0, tuple(head[1] if len(head) > 1 else "" for head in heads))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = []
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        drawn.append("   ".join([line[0].ljust(widths[0]), *cells[1:]]).rstrip())
    return "\n".join([table.caption, "", *drawn])


def _csv(table: Table) -> str:
    """For programs: a hyphen for the minus sign."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.heads)
    writer.writerows([[cell.replace("−", "-") for cell in row] for row in table.rows])
    return out.getvalue().rstrip("\n")


def _markdown(table: Table) -> str:
    align = ["---", *["---:"] * (len(table.heads) - 1)]
    lines = [table.heads, tuple(align), *table.rows]
    rows = [
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    ]
    return "\n".join([f"{table.caption}", "", *rows])


def _latex(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join(map(_escaped, cells)) + r" \\"

    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escaped(table.caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.heads) - 1)}}}",
            r"\hline",
            line(table.heads),
            r"\hline",
            *map(line, table.rows),
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _escaped(cell: str) -> str:
    return "".join(LATEX.get(letter, letter) for letter in cell)


_FORMATS: dict[str, Callable[[Table], str]] = {
    "text": text,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
