"""The examples run and say what they promise."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAYS = {
    "bags_of_digits.py": ["converged", "start 4", "the best digit", "the chosen digit is the 8"],
    "few_positives.py": ["relevant rows", "converged", "test average precision"],
    "queries.py": ["had nothing to rank", "ranked by query", "ranked as one list"],
    "box_cascade.py": ["area under recall", "complete, margin", "structural SVM"],
    "digits_one_vs_rest.py": ["average precision", "first five for each digit"],
}


def test_every_example_is_run_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    shown = capsys.readouterr().out
    for words in SAYS[name]:
        assert words in shown
