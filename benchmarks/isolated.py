"""Run a function in a process of its own: with a time limit, and with a peak of memory that is its own."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


class TimeLimit(Exception):
    """The process was ended at its time limit; `partial` has what it had sent by then."""

    def __init__(self, partial: list[Any]) -> None:
        super().__init__("time limit")
        self.partial = partial


def stream(work: Callable[..., Any], *arguments: Any, limit: float) -> list[Any]:
    """All that the generator `work(*arguments)` yields within `limit` seconds, its start not counted.

    `work` has to be importable by name; the process is spawned, so that it inherits no thread and no memory.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(theirs, work, arguments), daemon=True)
    process.start()
    theirs.close()
    found: list[Any] = []
    deadline = float("inf")
    try:
        while ours.poll(max(0.0, min(deadline - time.monotonic(), 3600.0))):
            kind, value = ours.recv()
            if kind == "begun":
                deadline = time.monotonic() + limit
            elif kind == "end":
                return found
            elif kind == "error":
                raise RuntimeError(value)
            else:
                found.append(value)
        raise TimeLimit(found)
    except EOFError:
        process.join()
        raise RuntimeError(f"{work.__name__} ended with exit status {process.exitcode}") from None
    finally:
        process.terminate()
        process.join()


def _serve(connection: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    connection.send(("begun", None))
    try:
        for value in work(*arguments):
            connection.send(("value", value))
    except Exception as error:  # it is raised again on the other side
        connection.send(("error", f"{type(error).__name__}: {error}"))
    else:
        connection.send(("end", None))
