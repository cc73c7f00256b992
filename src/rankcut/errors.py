"""What can go wrong, each error saying what to do about it."""

from __future__ import annotations

import sklearn.exceptions


class RankcutError(Exception):
    """The base of every error that rankcut raises itself."""


class InputError(RankcutError, ValueError):
    """An argument that cannot be used: the message names it, what came, and what to pass instead."""


class FileError(InputError):
    """A file that cannot be used: the message says where in it, what came, and what to do."""

    def __init__(
        self, path: object, what: str, line: int | None = None, column: int | str | None = None
    ) -> None:
        place = [str(path)]
        if line is not None:
            place.append(f"line {line}")
        if column is not None:
            place.append(f"column {column}")
        super().__init__(f"{', '.join(place)}: {what}")
        self.path, self.line, self.column = path, line, column


class ConvergenceWarning(sklearn.exceptions.ConvergenceWarning):  # type: ignore[misc]  # it is untyped
    """The solver stopped early: the message names the parameter to change."""
