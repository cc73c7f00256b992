"""The file of a study: an SQLite database with the plan and a row for each cell.

A cell's outcome is written in one transaction, so that a process may be killed at any moment: what was under way is
done again. Several processes may work on one file. A claim keeps them out of each other's way, and no more: should
two of them do the same cell, they find the same outcome, and the first is kept.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rankcut.errors import FileError, InputError
from rankcut.studies.plan import Cell, differences

SCHEMA = 1
BEAT = 1.0  # seconds between two signs of life of a claim
STALE = 10.0  # seconds without one after which a claim is void
BUSY = 60.0  # seconds to wait for another process's transaction

TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cells (
  place INTEGER PRIMARY KEY, method TEXT NOT NULL, label TEXT NOT NULL, repeat INTEGER NOT NULL,
  fold INTEGER NOT NULL, owner TEXT, beat REAL, outcome TEXT, seconds TEXT,
  UNIQUE (method, label, repeat, fold));
"""


class Store:
    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._me = f"{os.getpid()}/{uuid.uuid4().hex}"

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=BUSY, isolation_level=None)) as base:
                yield base
        except sqlite3.DatabaseError as error:
            raise FileError(self.path, f"is no study that can be used ({error})") from error

    def exists(self) -> bool:
        return self.path.exists() and self.path.stat().st_size > 0

    def begin(self, document: Mapping[str, Any], cells: Iterable[Cell], about: Mapping[str, Any]) -> None:
        """Set up a new study, or check that the one in the file is the same."""
        with self._open() as base:
            base.execute("BEGIN IMMEDIATE")
            for statement in filter(str.strip, TABLES.split(";")):
                base.execute(statement)
            kept = dict(base.execute("SELECT key, value FROM about"))
            if not kept:
                rows = {"schema": SCHEMA, "plan": document, "about": about}
                base.executemany(
                    "INSERT INTO about VALUES (?, ?)", [(k, json.dumps(v)) for k, v in rows.items()]
                )
                base.executemany(
                    "INSERT INTO cells (method, label, repeat, fold) VALUES (?, ?, ?, ?)", list(cells)
                )
                base.execute("COMMIT")
                return
            base.execute("ROLLBACK")
        if json.loads(kept["schema"]) != SCHEMA:
            raise FileError(
                self.path, f"is a study of schema {kept['schema']}; use the rankcut that wrote it"
            )
        other = differences(json.loads(kept["plan"]), document)
        if "content" in other:
            raise FileError(
                self.path, "was begun on other data: the data file has changed; begin a new study"
            )
        if other:
            raise FileError(self.path, f"was begun with other {', '.join(other)}; begin a new study for them")

    def claim(self) -> Cell | None:
        """The next cell that nobody works on; None if there is none."""
        with self._open() as base:
            base.execute("BEGIN IMMEDIATE")
            for place, owner, beat, *cell in base.execute(
                "SELECT place, owner, beat, method, label, repeat, fold FROM cells WHERE outcome IS NULL ORDER BY place"
            ).fetchall():
                if owner is None or not _alive(owner, beat):
                    base.execute(
                        "UPDATE cells SET owner = ?, beat = ? WHERE place = ?", (self._me, time.time(), place)
                    )
                    base.execute("COMMIT")
                    return Cell(*cell)
            base.execute("ROLLBACK")
        return None

    @contextmanager
    def held(self, cell: Cell) -> Iterator[None]:
        """Give signs of life for a claim while the block runs, and give the claim up after it."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(BEAT):
                self._mark(cell, "beat = ?", time.time())

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._mark(cell, "owner = ?", None)

    def _mark(self, cell: Cell, what: str, value: Any) -> None:
        with self._open() as base:
            base.execute(
                f"UPDATE cells SET {what} WHERE method = ? AND label = ? AND repeat = ? AND fold = ? AND owner = ?",
                (value, *cell, self._me),
            )

    def record(self, cell: Cell, outcome: Mapping[str, Any], seconds: Mapping[str, float]) -> None:
        """Keep an outcome, unless there is one. Seconds are kept apart: they differ from run to run."""
        with self._open() as base:
            base.execute(
                "UPDATE cells SET outcome = ?, seconds = ? WHERE method = ? AND label = ? AND repeat = ? AND fold = ?"
                " AND outcome IS NULL",
                (json.dumps(outcome), json.dumps(seconds), *cell),
            )

    def forget_failures(self) -> int:
        """Put the cells that failed back among those to do; how many they are."""
        with self._open() as base:
            found = base.execute(
                "UPDATE cells SET outcome = NULL, seconds = NULL WHERE json_extract(outcome, '$.error') IS NOT NULL"
            )
            return int(found.rowcount)

    def counts(self) -> tuple[int, int]:
        """Cells that are done, and all."""
        with self._open() as base:
            done, total = base.execute("SELECT COUNT(outcome), COUNT(*) FROM cells").fetchone()
            return int(done), int(total)

    def read(
        self,
    ) -> tuple[dict[str, Any], dict[str, Any], dict[Cell, tuple[dict[str, Any], dict[str, float]]]]:
        """The plan's document, what is told about the study, and outcome and seconds of each cell that is done."""
        if not self.exists():
            raise InputError(f"study: no such file: {self.path}")
        with self._open() as base:
            base.execute("BEGIN")
            kept = dict(base.execute("SELECT key, value FROM about"))
            rows = base.execute(
                "SELECT method, label, repeat, fold, outcome, seconds FROM cells WHERE outcome IS NOT NULL"
                " ORDER BY place"
            ).fetchall()
            base.execute("ROLLBACK")
        if "plan" not in kept:
            raise FileError(self.path, "holds no study")
        cells = {Cell(*row[:4]): (json.loads(row[4]), json.loads(row[5])) for row in rows}
        return json.loads(kept["plan"]), json.loads(kept["about"]), cells


def _alive(owner: str, beat: float) -> bool:
    """Whether a claim's process still works on it. On POSIX a dead process is known at once."""
    if time.time() - beat > STALE:
        return False
    if os.name != "posix":
        return True
    try:
        os.kill(int(owner.split("/")[0]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
