"""What can go wrong, each error saying what to do about it."""

from __future__ import annotations

import sklearn.exceptions


class RankcutError(Exception):
    """The base of every error that rankcut raises itself."""


class InputError(RankcutError, ValueError):
    """An argument that cannot be used: the message names it, what came, and what to pass instead."""


class ConvergenceWarning(sklearn.exceptions.ConvergenceWarning):  # type: ignore[misc]  # it is untyped
    """The solver stopped early: the message names the parameter to change."""
