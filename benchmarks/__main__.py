"""python -m benchmarks [sections…] [--full] [--write]"""

from __future__ import annotations

import argparse
import importlib

SECTIONS = {
    "oracle": "benchmarks.oracle",
    "cuts": "benchmarks.cuts",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS])
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    for name in options.sections or SECTIONS:
        for table in importlib.import_module(SECTIONS[name]).run(options.full):
            print(table.text(), flush=True)


if __name__ == "__main__":
    main()
