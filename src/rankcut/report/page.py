"""A page of comparisons: one file, no scripts, nothing from the network, a table behind every picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rankcut.report import words
from rankcut.report.comparison import Comparison
from rankcut.report.pictures import differences, precision_recall
from rankcut.report.plain import environment
from rankcut.report.shell import HEAD, Html, table
from rankcut.report.style import STYLE
from rankcut.report.tables import Table, curve_table, fold_table, precision_table, seconds_table

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
PAGE = (
    HEAD
    + """<main>
{body}
</main>
</body>
</html>
"""
)


def page(comparisons: Sequence[Comparison]) -> str:
    """The whole page."""
    shown = [each for each in comparisons if each.folds]
    first, second = (method.name for method in comparisons[0].methods)
    title = f"{second} beside {first}"
    parts = [f"<h1>{escape(title)}</h1>"]
    for each in comparisons:
        if missing := words.missing(each):
            parts.append(f'<p class="warning">{escape(f"{each.data.title}: {missing}.")}</p>')
    if shown:
        parts += _summary(shown)
    parts += [*map(_section, shown), _method(comparisons)]
    return PAGE.format(policy=POLICY, title=escape(title), style=STYLE, body="\n".join(parts))


def _summary(shown: Sequence[Comparison]) -> list[str]:
    verdicts = [f"{each.data.title}: {words.verdict(each)}." for each in shown]
    return [
        f'<p class="lead">Average precision on rows that were not trained on, by {shown[0].n_folds}-fold '
        "cross-validation on real data. Both methods choose C by the same protocol.</p>",
        _table(precision_table(shown), shown),
        "<ul>" + "".join(f"<li>{escape(each)}</li>" for each in verdicts) + "</ul>",
        _table(seconds_table(shown), shown),
        *(f"<p>{escape(each)}</p>" for each in words.notes(shown)),
    ]


def _section(comparison: Comparison) -> str:
    data = comparison.data
    n, d = data.X.shape
    about = (
        f"{n:,} {data.rows}, {d} features; relevant are the {int(data.y.sum()):,} {data.relevant} "
        f"({100 * data.y.mean():.1f}\u00a0%)."
    )
    return "\n".join(
        [
            f'<section id="{escape(data.name)}">',
            f"<h2>{escape(data.title)}</h2>",
            f"<p>{escape(about)}</p>",
            "<figure>",
            precision_recall(comparison),
            "<figcaption>Precision at each recall, mean over the folds. The area below a curve is its average "
            "precision.</figcaption>",
            _behind("The numbers of the curves", curve_table(comparison)),
            "</figure>",
            "<figure>",
            differences(comparison),
            "<figcaption>The difference on each fold (dots), and their mean with its 95 % interval.</figcaption>",
            _behind("The numbers of each fold", fold_table(comparison)),
            "</figure>",
            f'<p class="quiet">Data: {escape(data.source)}. Licence: {escape(data.licence)}.</p>',
            "</section>",
        ]
    )


def _method(comparisons: Sequence[Comparison]) -> str:
    ours = ", ".join(f"{escape(key)} {escape(str(value))}" for key, value in environment().items())
    return "\n".join(
        [
            "<section>",
            "<h2>How it was measured</h2>",
            f"<p>{escape(words.protocol(comparisons[0]))}</p>",
            f"<p>{escape(words.significance(comparisons[0]))}</p>",
            "<p>Seconds are those of <code>fit</code> alone. LinearSVC uses one core, RankSVM all of them.</p>",
            "<h3>RankSVM’s certificate</h3>",
            "<p>RankSVM ends with a lower bound of its objective: the gap says how far above the optimum it can be "
            "at most, relative to the objective. Cuts are its iterations; a pass reads the training rows once.</p>",
            f'<p class="quiet">{ours}</p>',
            "</section>",
        ]
    )


def _behind(summary: str, found: Table) -> str:
    return f"<details><summary>{escape(summary)}</summary>{_table(found)}</details>"


def _table(found: Table, about: Sequence[Comparison] = ()) -> str:
    """If the rows are about comparisons, the first cell leads to the section of each."""
    if about:
        links = [Html(f'<a href="#{escape(each.data.name)}">{escape(each.data.title)}</a>') for each in about]
        found = found._replace(rows=[(link, *row[1:]) for link, row in zip(links, found.rows, strict=True)])
    return table(found, sortable=False)
