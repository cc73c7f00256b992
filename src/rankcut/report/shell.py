"""The shell of a page with tabs: one file that needs nothing from the network, and shows everything without scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import NamedTuple

from rankcut.report.style import STYLE
from rankcut.report.tables import Table

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
"""
PAGE = (
    HEAD
    + """<main>
<h1>{title}</h1>
{lead}
<div role="tablist" hidden>{tabs}</div>
{panels}
</main>
<script>{script}</script>
</body>
</html>
"""
)


POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{hash}'"


class Tab(NamedTuple):
    name: str
    body: str  # HTML


def assemble(title: str, lead: str, tabs: Sequence[Tab]) -> str:
    """The page; `lead` and the tabs' bodies are HTML, titles and names are text."""
    script, more = (
        files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.js", "page.css")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    buttons = "".join(
        f'<button role="tab" id="tab{i}" aria-controls="part{i}" aria-selected="false">{escape(tab.name)}</button>'
        for i, tab in enumerate(tabs)
    )
    panels = "\n".join(
        f'<section role="tabpanel" id="part{i}" aria-labelledby="tab{i}"><h2>{escape(tab.name)}</h2>\n'
        f"{tab.body}\n</section>"
        for i, tab in enumerate(tabs)
    )
    return PAGE.format(
        policy=POLICY.format(hash=f"sha256-{digest}"),
        title=escape(title),
        style=STYLE + more,
        lead=lead,
        tabs=buttons,
        panels=panels,
        script=script,
    )


class Html(str):
    """Text that is HTML already: a link or picture in a cell of a table."""


def table(found: Table, *, sortable: bool = True) -> str:
    """All cells are escaped but those that are Html."""
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in found.heads)
    body = []
    for first, *others in found.rows:
        cells = "".join(f"<td>{cell(each)}</td>" for each in others)
        body.append(f'<tr><th scope="row">{cell(first)}</th>{cells}</tr>')
    kind = ' class="sortable"' if sortable and len(found.rows) > 1 else ""
    return (
        f'<div class="wide"><table{kind}><caption>{escape(found.caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def cell(content: str) -> str:
    return content if isinstance(content, Html) else escape(content)


def figure(picture: str, caption: str, behind: Table) -> str:
    """A picture, what it shows, and its numbers."""
    return (
        f"<figure>{picture}<figcaption>{escape(caption)}</figcaption>"
        f"<details><summary>The numbers</summary>{table(behind)}</details></figure>"
    )


def paragraph(text: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f"<p{style}>{escape(text)}</p>"


def listed(items: Sequence[str], kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f"<ul{style}>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
