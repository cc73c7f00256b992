"""python -m benchmarks [sections …] [--full] [--write]: tables, side by side with the peers, in one run."""

from __future__ import annotations

import argparse
import importlib
import sys
import time

from benchmarks import document
from benchmarks.table import Table

SECTIONS = {
    "oracle": ("benchmarks.oracle", "The oracles"),
    "cuts": ("benchmarks.cuts", "Cuts"),
    "time": ("benchmarks.speed", "Accuracy and time"),
    "memory": ("benchmarks.memory", "Memory"),
    "threads": ("benchmarks.threads", "Threads"),
    "paths": ("benchmarks.paths", "Paths"),
    "approx": ("benchmarks.approx", "The approximation"),
    "preferences": ("benchmarks.preferences", "Preferences"),
    "newton": ("benchmarks.newton", "Squared hinge"),
    "letor": ("benchmarks.letor", "Graded relevance"),
    "files": ("benchmarks.files", "Files"),
    "bags": ("benchmarks.bags", "Bags"),
    "weak": ("benchmarks.weak", "Weak labels"),
    "products": ("benchmarks.products", "Products"),
    "graph": ("benchmarks.graph", "The graph core"),
    "related": ("benchmarks.related", "Related samples"),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "sections", nargs="*", metavar="section", help=f"any of {', '.join(SECTIONS)}; all if none"
    )
    parser.add_argument(
        "--full", action="store_true", help="larger sizes and more repetitions: about an hour"
    )
    parser.add_argument("--write", action="store_true", help="also write the tables to docs/benchmarks.md")
    options = parser.parse_args()
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {unknown[0]!r}; choose from {', '.join(SECTIONS)}")
    found: dict[str, list[Table]] = {}
    print(document.machine() + "\n", flush=True)
    for name in options.sections or SECTIONS:
        start = time.perf_counter()
        module, title = SECTIONS[name]
        found[title] = importlib.import_module(module).run(options.full)
        for table in found[title]:
            print(table.text(), flush=True)
        print(f"[{name}: {time.perf_counter() - start:.0f} s]\n", file=sys.stderr, flush=True)
    if options.write:
        print(
            f"written to {document.write(found, [title for _, title in SECTIONS.values()])}", file=sys.stderr
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
