"""How pages look, by day and by night, and pictures that stand alone."""

COLOURS = """:root { --ground: #fdfdfc; --ink: #1d2127; --quiet: #5d6672; --rule: #dfe2e6; --band: #f3f4f6;
  --first: #6b7280; --second: #0b62c4; --warning: #8a4b00; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171b; --ink: #e4e7eb; --quiet: #9aa4b1; --rule: #2e343c; --band: #1c2127;
    --first: #a3adba; --second: #5aa7ff; --warning: #f0b060; } }
"""

PICTURE = """svg text { font-size: 13px; fill: var(--ink); }
svg text.quiet { fill: var(--quiet); font-size: 13px; }
svg path, svg polyline { fill: none; }
.grid { stroke: var(--rule); }
.chance { stroke: var(--quiet); stroke-dasharray: 2 4; }
.zero { stroke: var(--quiet); stroke-width: 1.5; }
.first { stroke: var(--first); stroke-width: 2.25; stroke-dasharray: 7 4; }
.second { stroke: var(--second); stroke-width: 2.25; }
.interval { stroke: var(--second); stroke-width: 3; stroke-linecap: round; }
.mean { fill: var(--second); stroke: var(--ground); stroke-width: 2; }
.fold { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.spread { stroke: var(--second); stroke-width: 1; opacity: .55; }
.other { stroke: var(--quiet); stroke-width: 1; opacity: .55; }
.chosen { stroke: var(--warning); stroke-width: 1.5; stroke-dasharray: 3 3; }
"""

STYLE = f"""
{COLOURS}* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
main {{ max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }}
h1 {{ font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }}
h2 {{ font-size: 1.3rem; margin: 3rem 0 .25rem; padding-top: 1.25rem; border-top: 1px solid var(--rule); }}
h3 {{ font-size: 1rem; margin: 1.5rem 0 .25rem; }}
p {{ margin: .5rem 0; max-width: 46rem; }}
a {{ color: var(--second); }}
.lead {{ font-size: 1.1rem; }}
.quiet, figcaption {{ color: var(--quiet); font-size: .875rem; }}
.warning {{ color: var(--warning); font-weight: 600; }}
ul {{ padding-left: 1.2rem; }}
figure {{ margin: 1.25rem 0 0; }}
figcaption {{ margin-top: .35rem; }}
svg {{ display: block; width: 100%; height: auto; max-width: 46rem; }}
{PICTURE}.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: .75rem 0; font-size: .9rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: var(--quiet); font-size: .875rem; padding-bottom: .35rem; }}
th, td {{ padding: .35rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }}
th {{ font-weight: 600; }}
tbody th {{ font-weight: 400; }}
th:first-child {{ text-align: left; padding-left: 0; }}
tbody tr:hover {{ background: var(--band); }}
summary {{ cursor: pointer; font-size: .875rem; color: var(--second); margin-top: .35rem; }}
@media print {{ details > *:not(summary) {{ display: block; }} }}
"""

ALONE = f"""
{COLOURS}svg {{ background: var(--ground);
  font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
{PICTURE}"""


def standalone(svg: str) -> str:
    """A picture that can be a file of its own: with the page's style inside."""
    head, _, rest = svg.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{ALONE}</style>{rest}'
