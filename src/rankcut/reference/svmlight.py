"""svmlight and LETOR rows, read the obvious way."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LARGEST = 2**31 - 1


class Row(NamedTuple):
    label: float
    qid: int | None
    entries: dict[int, float]  # columns from 0
    comment: str


def parse(text: str, *, zero_based: bool = False) -> list[Row]:
    """The rows of a text; ValueError with the number of the line if one of them is wrong."""
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), start=1):
        body, _, comment = line.partition("#")
        tokens = re.split(r"[ \t\r\v\f]+", body.strip(" \t\r\v\f"))
        if tokens == [""]:
            continue
        try:
            row = _row(tokens, comment.strip(" \t\r\v\f"), zero_based)
            if rows and (row.qid is None) != (rows[0].qid is None):
                raise ValueError("some rows have a qid, others have none")
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        rows.append(row)
    return rows


def _row(tokens: list[str], comment: str, zero_based: bool) -> Row:
    label, rest, qid = _number(tokens[0]), tokens[1:], None
    if rest and rest[0].startswith("qid:"):
        qid, rest = _whole(rest[0][4:], 2**63 - 1), rest[1:]
    entries: dict[int, float] = {}
    for token in rest:
        index, colon, value = token.partition(":")
        column = _whole(index, LARGEST) - (not zero_based)
        if not colon or not 0 <= column < LARGEST or column in entries:
            raise ValueError(token)
        entries[column] = _number(value)
    return Row(label, qid, entries, comment)


def _number(text: str) -> float:
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise ValueError(f"{text!r} is no finite number")
    return float(text)


def _whole(text: str, largest: int) -> int:
    if not re.fullmatch("[0-9]+", text) or int(text) > largest:
        raise ValueError(f"{text!r} is no whole number")
    return int(text)
